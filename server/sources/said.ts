/**
 * What sources say in the same way: when something was, by which id a message is known, whom it is about. Pure; the rule
 * for times, with its reasons, is in docs/decisions/0023-sources.md.
 */
import { limits } from "../../contract/limits.ts";
import { msPerDay, Zone } from "../calendar/calendar.ts";
import { type Invalid, isInvalid, parseEventTime } from "../intake/intake.ts";
import type { Delivery } from "./source.ts";

/**
 * By less than this a sender's clock is taken for right. What is measured, arrival minus `sentAt`, also has the way of the
 * request and the waits of a client that sends the same body again; a clock that is kept is wrong by less than that, one
 * that is not is wrong by hours. An error of 5 minutes puts 1 event in 288 on the day beside its own.
 */
export const maxTrustedSkewMs = 5 * 60_000;

/** The three times that a message may bring, as they were sent. */
export interface SaidTimes {
  readonly timestamp?: unknown;
  readonly originalTimestamp?: unknown;
  readonly sentAt?: unknown;
}

/**
 * When a message happened, in Unix milliseconds: `timestamp`, else `originalTimestamp`, else its arrival. Both are the
 * sender's clock; `sentAt` is that clock at the time of sending, so a clock that is wrong by more than 5 minutes is
 * corrected by it. Without `sentAt` nothing is known of the clock and nothing is corrected.
 */
export function saidTime(
  { timestamp, originalTimestamp, sentAt }: SaidTimes,
  { receivedAtMs }: Delivery,
): number | Invalid {
  let saidMs = readTime(timestamp, "timestamp");
  saidMs ??= readTime(originalTimestamp, "originalTimestamp");
  if (saidMs === undefined) return receivedAtMs;
  if (isInvalid(saidMs)) return saidMs;
  const sentAtMs = readTime(sentAt, "sentAt");
  const skewMs = typeof sentAtMs === "number" ? receivedAtMs - sentAtMs : 0;
  const atMs = Math.abs(skewMs) > maxTrustedSkewMs ? saidMs + skewMs : saidMs;
  if (atMs < firstMs || atMs >= endMs) return unreadable("timestamp");
  // A clock that goes a little fast must not make events of the future.
  return atMs > receivedAtMs && atMs - receivedAtMs <= maxTrustedSkewMs ? receivedAtMs : atMs;
}

/** A day is kept free at both ends, so that the day is one that is kept in every timezone. */
const firstMs = Date.UTC(limits.firstYear, 0, 1) + msPerDay;
const endMs = Date.UTC(limits.lastYear + 1, 0, 1) - msPerDay;

/** Smaller numbers are seconds since 1970, larger ones milliseconds: in seconds it is the year 5138, in milliseconds 1973. */
const leastMs = 1e11;

const utc = new Zone("UTC");

/** ISO 8601 as clients and people write it: also with a space, without seconds, with +0200, or without an offset, which
 * is then UTC. */
const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2})?(?:[.,](\d+))? ?(?:([Zz]|UTC)|([+-]\d{2}):?(\d{2})?)?)?$/;

/** Unix milliseconds of a time as sources write it. Undefined: none is said; null, "" and the zero times of Go and of
 * Unix are what clients send for none. */
export function readTime(value: unknown, field: string): number | undefined | Invalid {
  if (value === undefined || value === null || value === "" || value === 0) return undefined;
  if (typeof value === "number") return readNumber(value) ?? unreadable(field);
  if (typeof value !== "string") return unreadable(field);
  const text = value.trim();
  if (text.startsWith("0001-01-01T00:00:00")) return undefined;
  if (/^\d{9,14}(\.\d+)?$/.test(text)) return readNumber(Number(text)) ?? unreadable(field);
  const match = isoTime.exec(text);
  if (match === null) return unreadable(field);
  const [, date, minute = "00:00", second = ":00", fraction = "0", , hours, minutes = "00"] = match;
  const offset = hours === undefined ? "Z" : `${hours}:${minutes}`;
  return parseEventTime(`${date}T${minute}${second}.${fraction}${offset}`, utc) ?? unreadable(field);
}

function readNumber(value: number): number | undefined {
  const ms = Math.round(value < leastMs ? value * 1_000 : value);
  return ms >= firstMs && ms < endMs ? ms : undefined;
}

function unreadable(field: string): Invalid {
  return {
    invalid: `${field} is not a time that can be read: send an ISO 8601 date-time, 2026-05-17T09:30:00Z say, of the years 1970 to 2299.`,
  };
}

/** An id as text; undefined when none is said, which clients also write as null or "". */
export function saidId(value: unknown, field: string): string | undefined | Invalid {
  if (value === undefined || value === null || value === "") return undefined;
  // 42 and "42" are one user. A larger number has lost digits before it arrived.
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || text.length > limits.identifierCharacters) {
    return {
      invalid: `${field} is not valid: send a string of 1 to ${limits.identifierCharacters} characters, or a whole number below 2^53.`,
    };
  }
  return text;
}

/** What programs send when they have no id: PostHog's own list. Taken for a visitor's, all of them would be one large person. */
const nobody: ReadonlySet<string> = new Set(
  "anonymous guest distinctid distinct_id id not_authenticated email undefined true false null none nan 0"
    .split(" ")
    .concat("[object object]"),
);

/** Whether an id is what a program sends when it has none. */
export function isNobody(id: string): boolean {
  return nobody.has(id.trim().toLowerCase());
}

/** A visitor's id as text; undefined when none is said, or what programs send for nobody. */
export function saidVisitorId(value: unknown, field: string): string | undefined | Invalid {
  const id = saidId(value, field);
  return typeof id === "string" && isNobody(id) ? undefined : id;
}

/**
 * The id that a client gave a message once, however often it sends it; null when it has none. A number that is no whole
 * one below 2^53 may have been rounded, and then other messages have the same: it is none, unless its digits are known.
 * @param digitsOf the digits in which such a number was sent
 */
export function saidMessageId(
  value: unknown,
  field = "messageId",
  digitsOf: () => string | undefined = () => undefined,
): string | null | Invalid {
  if (value === undefined || value === null || value === "") return null;
  const text = typeof value !== "number" ? value : Number.isSafeInteger(value) ? String(value) : digitsOf();
  if (text === undefined) return null;
  if (typeof text === "string" && text.length <= limits.messageIdCharacters) return text;
  return {
    invalid: `${field} is not valid: send a string of 1 to ${limits.messageIdCharacters} characters.`,
  };
}

/** Why a value is not what an object was expected for: undefined when it is one, or is not said. */
export function whyNoObject(value: unknown, field: string): Invalid | undefined {
  const isOne = value === undefined || value === null || (typeof value === "object" && !Array.isArray(value));
  return isOne ? undefined : { invalid: `${field} is not a JSON object: send a JSON object.` };
}
