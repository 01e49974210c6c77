/** Sentences made of words and values, so that each page can format numbers and days in the reader's
 * language. */
import { formatDay } from "../calendar/days.ts";

export interface Part {
  readonly form: "words" | "count" | "change" | "share" | "day" | "user" | "account";
  /** In English. */
  readonly text: string;
  /** The number, the share of 1, the day, or the id; null for words. */
  readonly value: number | string | null;
  /** For a count: the list of the counted entities. It has exactly this many rows. */
  readonly list?: ListBehind;
}

/** A list, filtered by parameters of `/api/users` or `/api/accounts`. */
export interface ListBehind {
  readonly page: "users" | "accounts";
  readonly query: Readonly<Record<string, string>>;
}

/** A part of a sentence. */
export type Piece = string | Part | readonly Piece[];

const whole = new Intl.NumberFormat("en-US", { maximumFractionDigits: 0 });
const signed = new Intl.NumberFormat("en-US", {
  style: "percent",
  maximumFractionDigits: 1,
  signDisplay: "exceptZero",
});
const percent = new Intl.NumberFormat("en-US", { style: "percent", maximumFractionDigits: 1 });

/** 1,234. @param list of the counted entities */
export function count(value: number, list?: ListBehind): Part {
  return { form: "count", text: whole.format(value), value, ...(list !== undefined && { list }) };
}

/** 1 user, 12 users. @param list of the counted entities */
export function counted(value: number, singular: string, list?: ListBehind): Piece {
  return [count(value, list), ` ${singular}${value === 1 ? "" : "s"}`];
}

/** The list of users who match all of this. */
export function usersBehind(query: ListBehind["query"]): ListBehind {
  return { page: "users", query };
}

/** A share of 1 as 12.3% */
export function share(value: number): Part {
  return { form: "share", text: percent.format(value), value };
}

/** A share of 1 by which something changed, as +12.3% */
export function change(value: number): Part {
  return { form: "change", text: signed.format(value), value };
}

/** A day, in days since 1970-01-01, as 2026-03-01 */
export function dayPart(day: number): Part {
  return { form: "day", text: formatDay(day), value: formatDay(day) };
}

/** The name of a user or account, to be linked. */
export function named(form: "user" | "account", { id, label }: { id: string; label: string }): Part {
  return { form, text: label || id, value: id };
}

/** The parts of a sentence; adjacent words become one part. */
export function partsOf(...pieces: readonly Piece[]): Part[] {
  const parts: Part[] = [];
  for (const piece of flat(pieces)) {
    const last = parts.at(-1);
    if (piece.form === "words" && last?.form === "words") {
      parts[parts.length - 1] = { ...last, text: last.text + piece.text };
    } else if (piece.text !== "") parts.push(piece);
  }
  return parts;
}

/** A list in prose: a, b and c. */
export function joined(pieces: readonly Piece[]): Piece {
  return pieces.map((piece, index) => {
    if (index === 0) return piece;
    return [index === pieces.length - 1 ? " and " : ", ", piece];
  });
}

function flat(pieces: readonly Piece[]): Part[] {
  return pieces.flatMap((piece): Part[] => {
    if (typeof piece === "string") return [{ form: "words", text: piece, value: null }];
    return isPart(piece) ? [piece] : flat(piece);
  });
}

function isPart(piece: Exclude<Piece, string>): piece is Part {
  return !Array.isArray(piece);
}
