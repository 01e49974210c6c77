/** Parses the fields that all sources have: times and ids. server/sources/README.md has the rule for
 * times. */
import { limits } from "../../contract/limits.ts";
import { isPlausibleNumber, parseEventTime } from "../calendar/event-time.ts";
import { msPerDay, Zone } from "../calendar/zone.ts";
import { type Invalid, isInvalid } from "../intake/admission/json.ts";
import { isPlaceholderId } from "../intake/admission/placeholder-ids.ts";
import type { Delivery } from "./source.ts";

/**
 * A sender's clock counts as right up to this difference. The measured value, arrival minus `sentAt`,
 * includes the time in the network and in the client's retries. A synchronized clock differs by less, others
 * by hours. An error of 5 minutes puts 1 event in 288 on the wrong day.
 */
export const maxTrustedSkewMs = 5 * 60_000;

/** The three times of a message, as they were sent. */
export interface SentTimes {
  readonly timestamp?: unknown;
  readonly originalTimestamp?: unknown;
  readonly sentAt?: unknown;
}

/**
 * The time of a message in Unix milliseconds: `timestamp`, else `originalTimestamp`, else its arrival. Both
 * are times of the sender's clock, and `sentAt` is that clock at sending. It corrects a clock that differs by
 * more than 5 minutes. Without `sentAt` times are not corrected.
 */
export function parseTimestamp(
  { timestamp, originalTimestamp, sentAt }: SentTimes,
  { receivedAtMs }: Delivery,
): number | Invalid {
  let sentMs = readTime(timestamp, "timestamp");
  sentMs ??= readTime(originalTimestamp, "originalTimestamp");
  if (sentMs === undefined) return receivedAtMs;
  if (isInvalid(sentMs)) return sentMs;
  const sentAtMs = readTime(sentAt, "sentAt");
  const skewMs = typeof sentAtMs === "number" ? receivedAtMs - sentAtMs : 0;
  const atMs = Math.abs(skewMs) > maxTrustedSkewMs ? sentMs + skewMs : sentMs;
  if (atMs < firstMs || atMs >= endMs) return unreadable("timestamp");
  // A clock that is a little fast must not create events of the future.
  return atMs > receivedAtMs && atMs - receivedAtMs <= maxTrustedSkewMs ? receivedAtMs : atMs;
}

/** One day is left out at both ends, so that the event's day is valid in every timezone. */
const firstMs = Date.UTC(limits.firstYear, 0, 1) + msPerDay;
const endMs = Date.UTC(limits.lastYear + 1, 0, 1) - msPerDay;

/** Smaller numbers are seconds since 1970, larger ones milliseconds. In seconds this is the year 5138. */
const leastMs = 1e11;

const utc = new Zone("UTC");

/** ISO 8601 with the variants of clients: with a space, without seconds, with +0200, or without an offset
 * (UTC). */
const isoTime =
  /^(\d{4}-\d{2}-\d{2})(?:[Tt ](\d{2}:\d{2})(:\d{2})?(?:[.,](\d+))? ?(?:([Zz]|UTC)|([+-]\d{2}):?(\d{2})?)?)?$/;

/** Unix milliseconds of a time as sources write it; undefined when there is none. Clients also send null, ""
 * and the zero times of Go and Unix for none. A number is a time from 1980 on: a year or a day count is
 * none. */
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
  return isPlausibleNumber(ms) && ms < endMs ? ms : undefined;
}

function unreadable(field: string): Invalid {
  return {
    invalid: `${field} is not a time that can be read: send an ISO 8601 date-time of the years 1970 to 2299, e.g. 2026-05-17T09:30:00Z, or Unix seconds or milliseconds from 1980 on.`,
  };
}

/** An id as text; undefined when there is none. Clients also send null or "" for none. */
export function parseId(value: unknown, field: string): string | undefined | Invalid {
  if (value === undefined || value === null || value === "") return undefined;
  // 42 and "42" are one user. A larger number may have lost digits before it arrived.
  const text = typeof value === "number" && Number.isSafeInteger(value) ? String(value) : value;
  if (typeof text !== "string" || text.length > limits.identifierCharacters) {
    return {
      invalid: `${field} is not valid: send a string of 1 to ${limits.identifierCharacters} characters, or a whole number below 2^53.`,
    };
  }
  return text;
}

/** Further ids that tools send for nobody, in any case (PostHog's list). An application may have a user with
 * one of them, such as 0. */
const genericIds: ReadonlySet<string> = new Set(
  "anonymous guest distinctid distinct_id id not_authenticated email undefined true false null none nan 0"
    .split(" ")
    .concat("[object object]"),
);

/** Whether a tool sends this id for nobody: a placeholder, or one that visitors of many sites share. */
export function isGenericId(id: string): boolean {
  return isPlaceholderId(id) || genericIds.has(id.trim().toLowerCase());
}

/** A visitor's id as text; undefined when there is none, or a placeholder. */
export function parseVisitorId(value: unknown, field: string): string | undefined | Invalid {
  const id = parseId(value, field);
  return typeof id === "string" && isGenericId(id) ? undefined : id;
}

/**
 * The id of a message, which is the same in each attempt; null when there is none. A number that is not an
 * integer below 2^53 may have been rounded to that of other messages. It is used only if its digits are
 * known.
 * @param digitsOf the digits of such a number as they were sent
 */
export function parseMessageId(
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

/** The error of a value that should be an object; undefined when it is one, or is not sent. */
export function whyNoObject(value: unknown, field: string): Invalid | undefined {
  const isOne = value === undefined || value === null || (typeof value === "object" && !Array.isArray(value));
  return isOne ? undefined : { invalid: `${field} is not a JSON object: send a JSON object.` };
}
