/** Reads RevenueCat's events. events.ts has the table of their types. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { fieldOf, msOf, textOf } from "../billing/fields.ts";
import { partiesOf, type ReadMessage } from "../billing/message.ts";
import { accountIdKeys, userIdKeys } from "../billing/person.ts";
import type { Party } from "../billing/transfer.ts";
import { isGenericId, parseId } from "../parse.ts";
import { revenuecatEvents } from "./events.ts";

/** @param body parsed JSON */
export function readRevenuecat(body: unknown): ReadMessage {
  const event = fieldOf(body, "event");
  const [id, type] = [textOf(event, "id"), textOf(event, "type")];
  if (id === undefined || type === undefined || !isJsonObject(event)) {
    return { invalid: "body is not an event of RevenueCat: it has no event with id and type." };
  }
  if (type === "TEST")
    return { ignored: "A test of RevenueCat: the address and the authorization are right." };
  const testMode =
    textOf(event, "environment") === "SANDBOX" ? "A purchase in a store's sandbox is no money." : undefined;
  const atMs = msOf(event, "event_timestamp_ms");
  if (type === "TRANSFER") {
    const [from, to] = [partiesIn(event.transferred_from), partiesIn(event.transferred_to)];
    return { id, atMs, testMode, from, to };
  }
  const reading = Object.hasOwn(revenuecatEvents, type) ? revenuecatEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  return {
    id,
    type,
    atMs,
    testMode,
    ...partiesOf(customerOf(event)),
    facts: (before) => reading(event, before),
  };
}

/** Customers by their app user ids, which are several names of one. */
function partiesIn(value: unknown): readonly Party[] {
  return idsIn(value).map((id) => ({
    anonymousId: `revenuecat:${id}`,
    userId: anonymous.test(id) ? undefined : id,
  }));
}

function idsIn(value: unknown): readonly string[] {
  const sent: readonly unknown[] = Array.isArray(value) ? value.slice(0, maxAliases) : [];
  return sent.flatMap((one) => {
    const id = parseId(one, "app_user_id");
    return id === undefined || isInvalid(id) || isGenericId(id) ? [] : [id];
  });
}

/** Ids that RevenueCat gives before an app names its user. */
const anonymous = /^\$RCAnonymousID:/;

/** How many aliases are looked at. */
const maxAliases = 100;

function customerOf(event: JsonObject) {
  const aliases = fieldOf(event, "aliases");
  const ids = [...idsIn([event.app_user_id, event.original_app_user_id]), ...idsIn(aliases)];
  const attribute = (key: string) => fieldOf(event, "subscriber_attributes", key, "value");
  const keys = [...userIdKeys, ...accountIdKeys];
  return {
    tool: "revenuecat",
    customerId: textOf(event, "original_app_user_id") ?? ids[0],
    email: textOf(event, "subscriber_attributes", "$email", "value"),
    userId: ids.find((id) => !anonymous.test(id)),
    customData: [Object.fromEntries(keys.map((key) => [key, attribute(key)]))],
  };
}
