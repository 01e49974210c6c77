/** Reads Chargebee's events. events.ts has the table of their types. */
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { fieldOf, msOf, textOf } from "./billing/fields.ts";
import { partiesOf, type ReadMessage } from "./billing/message.ts";
import { accountIdKeys, userIdKeys } from "./billing/person.ts";
import { readingOf } from "./chargebee-events.ts";

/** @param body parsed JSON */
export function readChargebee(body: unknown): ReadMessage {
  const [id, type] = [textOf(body, "id"), textOf(body, "event_type")];
  const content = fieldOf(body, "content");
  if (id === undefined || type === undefined || !isJsonObject(content)) {
    return { invalid: "body is not an event of Chargebee: it has no id, event_type or content." };
  }
  const reading = readingOf(type);
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const atMs = msOf(body, "occurred_at");
  // A discount's end is compared with the time of the event. Without a time no discount has ended.
  const happened = { content, atMs: atMs ?? 0 };
  return {
    id,
    type,
    atMs,
    ...partiesOf(customerOf(content)),
    facts: (before) => reading(happened, before),
  };
}

/** Many teams give their own users' ids to customers. */
function customerOf(content: JsonObject) {
  const customerId =
    textOf(content, "customer", "id") ??
    ["subscription", "invoice", "transaction", "credit_note"]
      .map((resource) => textOf(content, resource, "customer_id"))
      .find((found) => found !== undefined);
  const holders = [fieldOf(content, "subscription"), fieldOf(content, "customer")];
  return {
    tool: "chargebee",
    customerId,
    reference: customerId,
    email: textOf(content, "customer", "email"),
    customData: [...holders.map((holder) => fieldOf(holder, "meta_data")), ...holders.map(customFieldsOf)],
  };
}

/** Custom fields of Chargebee have the prefix `cf_`. */
function customFieldsOf(resource: unknown): JsonObject {
  const keys = [...userIdKeys, ...accountIdKeys];
  return Object.fromEntries(keys.map((key) => [key, fieldOf(resource, `cf_${key}`)]));
}
