/** Reads Paddle's notifications. events.ts has the table of their types. */
import { isJsonObject } from "../../../contract/json.ts";
import { fieldOf, msOf, textOf } from "../billing/fields.ts";
import { partiesOf, type ReadMessage } from "../billing/message.ts";
import { paddleEvents } from "./events.ts";

/** @param body parsed JSON */
export function readPaddle(body: unknown): ReadMessage {
  const [id, type] = [textOf(body, "event_id"), textOf(body, "event_type")];
  const data = fieldOf(body, "data");
  if (id === undefined || type === undefined || !isJsonObject(data)) {
    return {
      invalid:
        "body is not a notification of Paddle Billing: it has no event_id, event_type or data. Webhooks of Paddle Classic are not read.",
    };
  }
  const reading = Object.hasOwn(paddleEvents, type) ? paddleEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const isCustomer = type.startsWith("customer.");
  const customer = {
    tool: "paddle",
    customerId: textOf(data, isCustomer ? "id" : "customer_id"),
    email: isCustomer ? textOf(data, "email") : undefined,
    customData: [fieldOf(data, "custom_data")],
  };
  const atMs = msOf(body, "occurred_at");
  return { ...{ id, type, atMs }, ...partiesOf(customer), facts: (before) => reading(data, before) };
}
