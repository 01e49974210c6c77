/**
 * POST /track: records an event of a user who was identified before.
 *
 *   parse → validate → read the id and the time → admitted      (pure, here)
 *         → numbered, with its user's account, or not_found     (decide.ts)
 *         → on disk → 201                                       (group-commit.ts)
 */

import { type JsonObject, objectOf } from "../../contract/json.ts";
import { timestampAliases } from "../../contract/timestamp-aliases.ts";
import { TrackBody } from "../../contract/write-api.ts";
import { parseEventTime } from "../calendar/event-time.ts";
import type { Zone } from "../calendar/zone.ts";
import { admitBilling } from "./admission/admit-billing.ts";
import {
  type Arrival,
  compile,
  explain,
  identifier,
  isOfPast,
  messageIdOf,
  wrong,
} from "./admission/admit-event.ts";
import { type Invalid, isInvalid, type ParsedBody } from "./admission/json.ts";
import type { SentAccount } from "./identify.ts";

/** An event that may be stored if its user is known. */
export interface AdmittedTrack {
  readonly kind: "track";
  readonly organization: number;
  readonly userId: string;
  readonly event: string;
  /** The name as it was sent, if it has white space. Only imports set it. */
  readonly label?: string;
  readonly timeMs: number;
  /** Days since 1970-01-01 of the event's day in the organization's timezone. */
  readonly day: number;
  /** JSON text. */
  readonly properties: string;
  readonly messageId: string | null;
  /** As in `MessageKey`. Only imports set it. */
  readonly lastingDay?: number;
  readonly receivedAtMs: number;
  /** Whether it is dated before the day of its arrival, and does not come by a browser token. */
  readonly isOfPast: boolean;
  /** False: no figure of activity counts the event. Billing events have it, and imported events that were
   * exported with it. Default: true. */
  readonly isActivity?: boolean;
  /** The account that a billing event names as the payer. Default: the user's. */
  readonly account?: SentAccount | undefined;
}

const validator = compile(TrackBody);

/** Admits the body of a track request, or returns its problem. */
export function admitTrack(body: ParsedBody, arrival: Arrival): AdmittedTrack | Invalid {
  const { value } = body;
  if (!validator.Check(value)) return explain(TrackBody, validator, value);
  const userId = identifier(value.userId, body, ["userId"]);
  if (isInvalid(userId)) return userId;
  const messageId = messageIdOf(value.messageId, arrival);
  if (isInvalid(messageId)) return messageId;
  const sentMs = eventTime(value, arrival.zone);
  if (isInvalid(sentMs)) return sentMs;
  const timeMs = sentMs ?? arrival.receivedAtMs;
  const day = arrival.zone.dayOf(timeMs);
  const properties = objectOf(value.properties);
  const billing = admitBilling(value.event, properties, arrival);
  if (isInvalid(billing)) return billing;
  return {
    kind: "track",
    organization: arrival.organization,
    userId,
    event: value.event,
    timeMs,
    day,
    properties: JSON.stringify(properties),
    messageId,
    receivedAtMs: arrival.receivedAtMs,
    isOfPast: sentMs !== undefined && isOfPast(day, arrival),
    ...(billing && { isActivity: billing.isActivity, account: billing.payer }),
  };
}

const timeFields = ["timestamp", ...timestampAliases];

/** The event's time from `timestamp` or one of its aliases. Undefined if none was sent. */
function eventTime(body: JsonObject, zone: Zone): number | undefined | Invalid {
  let found: { field: string; ms: number } | undefined;
  for (const field of timeFields) {
    const text = body[field];
    if (typeof text !== "string") continue;
    const ms = parseEventTime(text, zone);
    if (ms === undefined) return wrong(TrackBody, [field], "is not a time that can be read");
    if (found !== undefined && found.ms !== ms) {
      return { invalid: `${found.field} and ${field} are two different times: send one of them.` };
    }
    found ??= { field, ms };
  }
  return found?.ms;
}
