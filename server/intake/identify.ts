/**
 * POST /identify: registers a user or updates an existing one.
 *
 *   parse → validate → read the ids → admitted        (pure, here)
 *         → merged into the stored user, numbered     (merge.ts, decide.ts)
 *         → on disk → 201                             (group-commit.ts)
 */

import type { JsonObject } from "../../contract/json.ts";
import { IdentifyBody } from "../../contract/write-api.ts";
import type { Zone } from "../calendar/zone.ts";
import { type Arrival, compile, explain, identifier, messageIdOf } from "./admission/admit-event.ts";
import { type Invalid, isInvalid, type ParsedBody } from "./admission/json.ts";

/** An identify that may be stored. A field that is `undefined` was not sent and keeps the stored value. */
export interface AdmittedIdentify {
  readonly kind: "identify";
  readonly organization: number;
  readonly userId: string;
  /** A connected source may send none. */
  readonly email: string | undefined;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | undefined;
  /** Null: the user leaves the account. */
  readonly account: SentAccount | null | undefined;
  readonly messageId: string | null;
  /** As in `MessageKey`. Only imports set it. */
  readonly lastingDay?: number;
  readonly receivedAtMs: number;
  /** The time of its values. `receivedAtMs` means now: no timestamp was sent, or a future one (see
   * `hasNoPastTimestamp`). */
  readonly timestampMs: number;
  /** The organization's timezone, for the days of events that were held for this user. */
  readonly zone: Zone;
  /** As in `Arrival`. */
  readonly isBrowser?: boolean | undefined;
}

export interface SentAccount {
  readonly accountId: string;
  /** Undefined keeps the stored name. A new account gets its id as its name. */
  readonly name: string | undefined;
  readonly avatar: string | null | undefined;
  /** Attributes. Undefined keeps the stored ones. */
  readonly properties?: JsonObject | undefined;
}

const validator = compile(IdentifyBody);

/** Admits the body of an identify request, or returns its problem. */
export function admitIdentify(body: ParsedBody, arrival: Arrival): AdmittedIdentify | Invalid {
  const { value } = body;
  if (!validator.Check(value)) return explain(IdentifyBody, validator, value);
  const userId = identifier(value.userId, body, ["userId"]);
  if (isInvalid(userId)) return userId;
  const messageId = messageIdOf(value.messageId, arrival);
  if (isInvalid(messageId)) return messageId;
  const account = sentAccount(value.account, body);
  if (isInvalid(account)) return account;
  return {
    kind: "identify",
    organization: arrival.organization,
    userId,
    email: value.email,
    traits: { ...value.properties },
    isAccountOwner: value.isAccountOwner ?? undefined,
    account,
    messageId,
    receivedAtMs: arrival.receivedAtMs,
    timestampMs: arrival.receivedAtMs,
    zone: arrival.zone,
    isBrowser: arrival.isBrowser,
  };
}

type AccountField =
  | { id: string | number; name: string; avatar?: string | null; properties?: JsonObject | null }
  | null
  | undefined;

function sentAccount(account: AccountField, body: ParsedBody): SentAccount | Invalid | null | undefined {
  if (!account) return account;
  const accountId = identifier(account.id, body, ["account", "id"]);
  if (isInvalid(accountId)) return accountId;
  const { name, avatar, properties } = account;
  return { accountId, name, avatar, properties: properties ?? undefined };
}
