/** Admits accounts of imported files: `{"type":"account", "id", "name", "avatar", "properties",
 * "timestamp"}`. Pure. */
import { BatchIdentify, ImportedAccount } from "../../../contract/write-api.ts";
import { parseEventTime } from "../../calendar/event-time.ts";
import { type Arrival, compile, explain, identifier, messageIdOf, wrong } from "./admit-event.ts";
import type { AdmittedAccount } from "./admit-sourced.ts";
import { type Invalid, isInvalid, type ParsedBody } from "./json.ts";

const validator = compile(ImportedAccount);

/** Admits an account, or returns the problem. Without a timestamp, or with a future one, its values are of
 * now. */
export function admitAccountItem(body: ParsedBody, arrival: Arrival): AdmittedAccount | Invalid {
  const { value } = body;
  const { timestamp } = value;
  if (!validator.Check(value)) return explain(ImportedAccount, validator, value);
  const accountId = identifier(value.id, body, ["id"]);
  if (isInvalid(accountId)) return accountId;
  const messageId = messageIdOf(value.messageId, arrival);
  if (isInvalid(messageId)) return messageId;
  const atMs = timeOf(timestamp, arrival);
  if (isInvalid(atMs)) return atMs;
  const { name, avatar, properties } = value;
  const { organization, zone, receivedAtMs } = arrival;
  return {
    kind: "account",
    organization,
    zone,
    receivedAtMs,
    messageId,
    atMs,
    bytes: 0,
    account: { accountId, name: name || undefined, avatar, properties: properties ?? undefined },
  };
}

function timeOf(timestamp: unknown, { zone, receivedAtMs }: Arrival): number | Invalid {
  if (timestamp === undefined || timestamp === null) return receivedAtMs;
  if (typeof timestamp !== "string") return wrong(BatchIdentify, ["timestamp"], "is not valid");
  return (
    parseEventTime(timestamp, zone) ?? wrong(BatchIdentify, ["timestamp"], "is not a time that can be read")
  );
}
