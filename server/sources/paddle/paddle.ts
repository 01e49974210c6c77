/** Reads Paddle's notifications. events.ts has the table of their types. */
import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
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
  return {
    id,
    type,
    atMs,
    ...partiesOf(customer),
    testMode: whyTestMode(body, data),
    facts: (before) => reading(data, before),
  };
}

/** Ids of simulated notifications begin so:
 * https://developer.paddle.com/api-reference/simulation-events/overview. */
const simulated = /^ntfsim/;

/** Paddle marks simulations by their ids. A sandbox is told by the addresses that a message has of it, if it
 * has any. */
function whyTestMode(body: unknown, data: JsonObject): string | undefined {
  const ids = [textOf(body, "event_id"), textOf(body, "notification_id")];
  if (ids.some((one) => one !== undefined && simulated.test(one)))
    return "A simulated notification is no money.";
  const urls = [fieldOf(data, "checkout", "url"), ...Object.values(objectOf(data.management_urls))];
  const isSandbox = urls.some((url) => typeof url === "string" && url.startsWith("https://sandbox-"));
  return isSandbox ? "A purchase in Paddle's sandbox is no money." : undefined;
}
