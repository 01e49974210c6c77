/**
 * POST /identify: registers a user or updates the one who exists.
 *
 *   parse → validate → read the ids → admitted        (pure, here)
 *         → merged into what is stored, numbered      (merge.ts, decide.ts)
 *         → on disk → 201                             (group-commit.ts)
 */

import type { JsonObject } from "../../contract/json.ts";
import { IdentifyBody } from "../../contract/write-api.ts";
import type { Zone } from "../calendar/calendar.ts";
import { type Arrival, compile, explain, identifier, messageIdOf } from "./admission/admit-event.ts";
import { type Invalid, isInvalid, type ParsedBody } from "./admission/json.ts";

/** An identify that may be stored. `undefined` is not sent and keeps what is stored. */
export interface AdmittedIdentify {
  readonly kind: "identify";
  readonly organization: number;
  readonly userId: string;
  /** A connected source may say none. */
  readonly email: string | undefined;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | undefined;
  /** Null: the user leaves the account. */
  readonly account: SentAccount | null | undefined;
  readonly messageId: string | null;
  readonly receivedAtMs: number;
  /** When it was true. `receivedAtMs` means now: no timestamp was sent, or one of the future (see `isSaidNow`). */
  readonly saidAtMs: number;
  /** The organization's, for the days of events that waited for this user. */
  readonly zone: Zone;
  /** As in `Arrival`. */
  readonly isBrowser?: boolean | undefined;
}

export interface SentAccount {
  readonly accountId: string;
  /** Undefined keeps what is stored; an account that is new is named by its id. */
  readonly name: string | undefined;
  readonly avatar: string | null | undefined;
}

const validator = compile(IdentifyBody);

/** Admits the body of an identify request, or says what is wrong with it. */
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
    saidAtMs: arrival.receivedAtMs,
    zone: arrival.zone,
    isBrowser: arrival.isBrowser,
  };
}

type AccountField = { id: string | number; name: string; avatar?: string | null } | null | undefined;

function sentAccount(account: AccountField, body: ParsedBody): SentAccount | Invalid | null | undefined {
  if (!account) return account;
  const accountId = identifier(account.id, body, ["account", "id"]);
  if (isInvalid(accountId)) return accountId;
  return { accountId, name: account.name, avatar: account.avatar };
}
