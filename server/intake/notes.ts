/** Makes ingestion warnings about requests. A well-formed request costs one look-up for each key and one
 * comparison of times: 0.05 µs. */
import { errorMessages } from "../../contract/errors.ts";
import type { JsonObject } from "../../contract/json.ts";
import type { SourceName } from "../../contract/sources.ts";
import { BatchIdentify, BatchTrack, IdentifyBody, TrackBody } from "../../contract/write-api.ts";
import type { Arrival } from "./admission/admit-event.ts";
import type { LeftOut } from "./admission/admit-sourced.ts";
import { isInvalid } from "./admission/json.ts";
import { personIn, type SourcedItem } from "./admission/sourced.ts";
import {
  type Admitted,
  isStored,
  type Outcome,
  type SourcedOutcome,
  type StoredWithout,
} from "./decide/requests.ts";
import type { Noted } from "./warnings.ts";

/** The destination of a request: a path of the write API, or a connected source. */
export type Endpoint = "identify" | "track" | "batch" | SourceName;

/** Takes ingestion warnings. */
export interface NoteTaker {
  note(noted: Noted): void;
}

/** Clocks differ by seconds, wrong timezones by hours. The limit is between the two. */
const maxClockDifferenceMs = 10 * 60_000;

/** A body may have 1,000 unknown keys. Above this number they are counted together. */
const maxKeysOfRequest = 10;

const knownKeys = {
  identify: new Set(Object.keys(IdentifyBody.properties)),
  track: new Set(Object.keys(TrackBody.properties)),
};
const knownKeysOfItem = {
  identify: new Set(Object.keys(BatchIdentify.properties)),
  track: new Set(Object.keys(BatchTrack.properties)),
};

/** Records warnings about a request that was admitted. */
export function noteAdmitted(
  warnings: NoteTaker,
  endpoint: Endpoint,
  admitted: Admitted,
  body: JsonObject,
): void {
  const known = (endpoint === "batch" ? knownKeysOfItem : knownKeys)[admitted.kind];
  let unknown: string[] | undefined;
  for (const key in body) {
    if (known.has(key)) continue;
    unknown ??= [];
    unknown.push(key);
  }
  if (unknown !== undefined) noteUnknownKeys(warnings, about(endpoint, admitted), unknown);
  noteFuture(warnings, endpoint, admitted);
}

/** Records that an event is of the future: until then it is in no figure. */
export function noteFuture(
  warnings: NoteTaker,
  endpoint: Parameters<typeof about>[0],
  admitted: Admitted,
): void {
  if (admitted.kind !== "track" || admitted.timeMs <= admitted.receivedAtMs + maxClockDifferenceMs) return;
  warnings.note({ ...about(endpoint, admitted), kind: "event_in_future", detail: admitted.event });
}

function noteUnknownKeys(warnings: NoteTaker, who: ReturnType<typeof about>, keys: readonly string[]): void {
  for (const key of keys.slice(0, maxKeysOfRequest)) {
    warnings.note({ ...who, kind: "unknown_key", detail: key });
  }
  if (keys.length > maxKeysOfRequest) warnings.note({ ...who, kind: "unknown_key", detail: null });
}

/** Records the outcome of an admitted request, except if it was stored as it was sent. */
export function noteOutcome(
  warnings: NoteTaker,
  endpoint: Endpoint,
  admitted: Admitted,
  outcome: Outcome,
): void {
  if (isStored(outcome)) {
    noteIgnored(warnings, about(endpoint, admitted), outcome);
  } else if (outcome === "duplicate") {
    warnings.note({ ...about(endpoint, admitted), kind: "duplicate", detail: null });
  } else if (outcome === "not_found") {
    const detail = admitted.kind === "track" ? admitted.event : null;
    warnings.note({
      ...about(endpoint, admitted),
      kind: "refused_unknown_user",
      detail,
      message: errorMessages.userNotFound,
    });
  } else {
    const { invalid } = outcome;
    warnings.note({
      ...about(endpoint, admitted),
      kind: "refused_validation",
      detail: invalid,
      message: invalid,
    });
  }
}

/** Records the fields that a browser token may not change. The token is that of the request or of a held
 * item. */
export function noteIgnored(
  warnings: NoteTaker,
  who: ReturnType<typeof about>,
  stored: "stored" | StoredWithout,
): void {
  if (stored === "stored") return;
  for (const field of stored.ignored) warnings.note({ ...who, kind: "browser_field_ignored", detail: field });
}

/** Records warnings about an item of a connected source, and its outcome. */
export function noteSourced(
  warnings: NoteTaker,
  source: string,
  { organization, receivedAtMs: atMs }: Pick<Arrival, "organization" | "receivedAtMs">,
  { item, outcome, leftOut }: { item: SourcedItem; outcome: SourcedOutcome; leftOut: readonly LeftOut[] },
): void {
  const who = { organization, atMs, endpoint: source, userId: personIn(item)?.toWellFormed() };
  for (const left of leftOut) warnings.note({ ...who, ...left });
  if (isInvalid(outcome)) {
    const { invalid } = outcome;
    warnings.note({ ...who, kind: "refused_validation", detail: invalid, message: invalid });
  } else if (outcome === "duplicate") {
    warnings.note({ ...who, kind: "duplicate", detail: null });
  } else if (item.type === "track" && item.atMs > atMs + maxClockDifferenceMs) {
    warnings.note({ ...who, kind: "event_in_future", detail: item.event });
  }
  if (isStored(outcome)) noteIgnored(warnings, who, outcome);
}

/** Records a request that was not admitted, with the answer to its sender. */
export function noteInvalid(
  warnings: NoteTaker,
  endpoint: Endpoint,
  { organization, receivedAtMs: atMs }: Pick<Arrival, "organization" | "receivedAtMs">,
  message: string,
  body?: JsonObject,
): void {
  const userId = userIdOf(body);
  warnings.note({
    organization,
    atMs,
    endpoint,
    kind: "refused_validation",
    detail: message,
    message,
    userId,
  });
}

/** The organization and user of a warning. @param endpoint the path or source, or `import` */
export function about(
  endpoint: Endpoint | "import",
  { organization, receivedAtMs: atMs, userId }: Admitted,
): Pick<Noted, "organization" | "atMs" | "endpoint" | "userId"> {
  return { organization, atMs, endpoint, userId };
}

function userIdOf(body: JsonObject | undefined): string | undefined {
  const userId = body?.userId;
  return typeof userId === "string" || typeof userId === "number" ? String(userId).toWellFormed() : undefined;
}
