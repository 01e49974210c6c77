/** Reads RevenueCat's events. events.ts has the table of their types. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/intake.ts";
import { fieldOf, msOf, textOf } from "../billing/fields.ts";
import { partiesOf, type ReadMessage } from "../billing/message.ts";
import { accountIdKeys, userIdKeys } from "../billing/person.ts";
import { isPlaceholderId, parseId } from "../parse.ts";
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
  const reading = Object.hasOwn(revenuecatEvents, type) ? revenuecatEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  if (textOf(event, "environment") === "SANDBOX")
    return { ignored: "A purchase in a store's sandbox is no money." };
  const atMs = msOf(event, "event_timestamp_ms");
  return {
    ...{ id, type, atMs },
    ...partiesOf(customerOf(event)),
    facts: (before) => reading(event, before),
  };
}

/** Ids that RevenueCat gives before an app names its user. */
const anonymous = /^\$RCAnonymousID:/;

/** How many aliases are looked at. */
const maxAliases = 100;

function customerOf(event: JsonObject) {
  const aliases = fieldOf(event, "aliases");
  const others: readonly unknown[] = Array.isArray(aliases) ? aliases.slice(0, maxAliases) : [];
  const ids = [event.app_user_id, event.original_app_user_id, ...others].flatMap((value) => {
    const id = parseId(value, "app_user_id");
    return id === undefined || isInvalid(id) || isPlaceholderId(id) ? [] : [id];
  });
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
