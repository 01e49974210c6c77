/** Reads Polar's webhooks. events.ts has the table of their types. */
import { isJsonObject } from "../../../contract/json.ts";
import { fieldOf, msOf, textOf } from "../billing/fields.ts";
import { partiesOf, type ReadMessage } from "../billing/message.ts";
import { polarEvents } from "./events.ts";

/** @param body parsed JSON */
export function readPolar(body: unknown): ReadMessage {
  const [type, id] = [textOf(body, "type"), textOf(body, "data", "id")];
  const data = fieldOf(body, "data");
  if (type === undefined || id === undefined || !isJsonObject(data)) {
    return { invalid: "body is not a webhook of Polar: it has no type or data." };
  }
  const reading = Object.hasOwn(polarEvents, type) ? polarEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const customer = type.startsWith("customer.") ? data : fieldOf(data, "customer");
  const atMs = msOf(body, "timestamp");
  const version = textOf(body, "timestamp") ?? textOf(data, "modified_at") ?? "";
  return {
    id: `${type}:${id}:${version}`,
    type,
    atMs,
    ...partiesOf({
      tool: "polar",
      customerId: textOf(customer, "id") ?? textOf(data, "customer_id"),
      email: textOf(customer, "email"),
      userId: textOf(customer, "external_id"),
      customData: [fieldOf(data, "metadata"), fieldOf(customer, "metadata")],
    }),
    // A discount's end is compared with the time of the event. Without a time no discount has ended.
    facts: (before) => reading({ data, atMs: atMs ?? 0 }, before),
  };
}
