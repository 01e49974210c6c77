/**
 * How an identify changes a user: what was said later wins, field by field. A request to /identify speaks of
 * now; an item of a batch or an import may speak of the past, and then changes only what nothing later was
 * said of. Pure.
 */
import { limits } from "../../contract/limits.ts";
import type { JsonObject, User } from "../ledger/ledger.ts";
import type { AdmittedIdentify } from "./identify.ts";
import type { Invalid } from "./json.ts";

/** What an identify makes of a user. */
export interface Merged {
  /** Null until one is said. */
  readonly email: string | null;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | null;
  readonly account: number;
  readonly saidAtMs: number;
  readonly fieldsSaidAtMs: Readonly<Record<string, number>>;
  /** Whether anything of the user is other than before, but for when it was said. */
  readonly changed: boolean;
  /** Whether anything was said later, or earlier, than it was known to be said. */
  readonly retimed: boolean;
  /** What `user_versions` has to learn, by the time at which it was said; nothing when all was known. */
  readonly news: readonly News[];
}

/** What was said of traits and account at a time; an account of null means that nothing was. */
export interface News {
  readonly atMs: number;
  readonly traits: JsonObject;
  readonly account: number | null;
}

/**
 * Merges an identify into what is stored.
 * @param account the number of the account that was sent, 0 for none, undefined when the request is silent.
 * @returns Invalid when the user would grow past the limits.
 */
export function merge(
  before: User | undefined,
  entry: Pick<AdmittedIdentify, "saidAtMs" | "email" | "traits" | "isAccountOwner">,
  account: number | undefined,
): Merged | Invalid {
  const fields = new Fields(before, entry.saidAtMs);
  const traits: Record<string, unknown> = { ...before?.traits };
  const history = new History();
  if (before === undefined) history.at(entry.saidAtMs);
  for (const [key, value] of Object.entries(entry.traits)) {
    const known = before !== undefined && Object.hasOwn(before.traits, key);
    const field = `properties.${key}`;
    const wins = fields.said(field, known);
    if (wins) define(traits, key, value);
    const isOther = !known || JSON.stringify(before.traits[key]) !== JSON.stringify(value);
    // What was said for an earlier time is news of that time, whatever is known of now.
    if (isOther || !wins) define(history.at(entry.saidAtMs).traits, key, value);
    // And what holds now is said again at its own time: it may have been no news then.
    if (known && !wins) define(history.at(fields.timeOf(field)).traits, key, before.traits[key]);
  }
  const tooLarge = whyTooLarge(traits);
  if (tooLarge !== undefined) return { invalid: tooLarge };
  const told = <Value>(field: string, sent: Value | undefined, stored: Value | undefined, none: Value) => {
    if (sent === undefined) return stored ?? none;
    const known = stored !== undefined && (stored !== none || fields.isListed(field));
    return fields.said(field, known, sent === none) ? sent : (stored ?? none);
  };
  const merged = {
    email: told<string | null>("email", entry.email, before?.email, null),
    traits,
    isAccountOwner: told<boolean | null>(
      "isAccountOwner",
      entry.isAccountOwner,
      before?.isAccountOwner,
      null,
    ),
    account: told("account", account, before?.account, 0),
  };
  if (account !== undefined) {
    const lost = fields.timeOf("account") > entry.saidAtMs;
    if (lost || account !== (before?.account ?? 0)) history.at(entry.saidAtMs).account = account;
    if (lost) history.at(fields.timeOf("account")).account = merged.account;
  }
  const news = history.news();
  const changed =
    before === undefined ||
    news.length > 0 ||
    merged.email !== before.email ||
    merged.isAccountOwner !== before.isAccountOwner;
  return {
    ...merged,
    ...fields.times(merged),
    changed,
    retimed: fields.retimed,
    news,
  };
}

/** Collects news by time. */
class History {
  readonly #news = new Map<number, { traits: Record<string, unknown>; account: number | null }>();

  at(ms: number): { traits: Record<string, unknown>; account: number | null } {
    const news = this.#news.get(ms) ?? { traits: {}, account: null };
    this.#news.set(ms, news);
    return news;
  }

  news(): News[] {
    return [...this.#news].map(([atMs, said]) => ({ atMs, ...said }));
  }
}

/** When each field was said. What is not listed was said at `saidAtMs`, or never. */
class Fields {
  readonly #saidAtMs: number;
  readonly #atMs: number;
  readonly #listed: Record<string, number>;
  retimed = false;

  constructor(before: User | undefined, atMs: number) {
    this.#saidAtMs = before?.saidAtMs ?? atMs;
    this.#atMs = atMs;
    this.#listed = { ...before?.fieldsSaidAtMs };
  }

  /** Whether something was said of a field, though it may have been that there is nothing. */
  isListed(field: string): boolean {
    return Object.hasOwn(this.#listed, field);
  }

  /** Notes that a field was said; whether that is the last word.
   * @param known whether something is stored for it. @param empty whether it is said to hold nothing. */
  said(field: string, known: boolean, empty = false): boolean {
    const saidAtMs = this.timeOf(field);
    if (known && saidAtMs > this.#atMs) return false;
    // That there is nothing is only known from the list.
    if (saidAtMs === this.#atMs && (!empty || this.isListed(field))) return true;
    this.#listed[field] = this.#atMs;
    this.retimed = true;
    return true;
  }

  /** The times to be stored. Who says everything anew each time needs no list. */
  times(
    after: Pick<Merged, "email" | "traits" | "isAccountOwner" | "account">,
  ): Pick<Merged, "saidAtMs" | "fieldsSaidAtMs"> {
    const fields = Object.keys(after.traits).map((key) => `properties.${key}`);
    if (after.email !== null) fields.push("email");
    if (after.isAccountOwner !== null) fields.push("isAccountOwner");
    if (after.account !== 0 || this.isListed("account")) fields.push("account");
    if (fields.some((field) => this.timeOf(field) !== this.#atMs)) {
      return { saidAtMs: this.#saidAtMs, fieldsSaidAtMs: this.#listed };
    }
    return {
      saidAtMs: this.#atMs,
      fieldsSaidAtMs: after.account === 0 && this.isListed("account") ? { account: this.#atMs } : {},
    };
  }

  /** When a field was said last. */
  timeOf(field: string): number {
    return this.#listed[field] ?? this.#saidAtMs;
  }
}

/** Sets a key as JSON.parse does: `__proto__` is a trait like any other. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function whyTooLarge(traits: object): string | undefined {
  const keys = Object.keys(traits).length;
  if (keys > limits.keys) {
    return `properties would give the user ${keys} traits: send fewer, at most ${limits.keys} are kept.`;
  }
  const bytes = Buffer.byteLength(JSON.stringify(traits));
  if (bytes <= limits.storedTraitsBytes) return undefined;
  return `properties would give the user ${bytes} bytes of traits: send less, at most ${limits.storedTraitsBytes} are kept.`;
}
