/** Reads LemonSqueezy's webhooks. events.ts has the table of their types. */
import { isJsonObject } from "../../../contract/json.ts";
import { fieldOf, idOf, textOf } from "../billing/fields.ts";
import { partiesOf, type ReadMessage } from "../billing/message.ts";
import { lemonsqueezyEvents, timeOf } from "./events.ts";

/** @param body parsed JSON */
export function readLemonsqueezy(body: unknown): ReadMessage {
  const [type, kind, id] = [
    textOf(body, "meta", "event_name"),
    textOf(body, "data", "type"),
    idOf(body, "data", "id"),
  ];
  const attributes = fieldOf(body, "data", "attributes");
  if (type === undefined || kind === undefined || id === undefined || !isJsonObject(attributes)) {
    return {
      invalid: "body is not a webhook of LemonSqueezy: it has no meta.event_name, data or attributes.",
    };
  }
  const reading = Object.hasOwn(lemonsqueezyEvents, type) ? lemonsqueezyEvents[type] : undefined;
  if (reading === undefined) return { ignored: `${type} is not used.` };
  const isTest = fieldOf(body, "meta", "test_mode") === true || fieldOf(attributes, "test_mode") === true;
  const custom = fieldOf(body, "meta", "custom_data");
  const happened = { id, attributes, custom };
  const atMs = timeOf(happened);
  return {
    // No id is sent of the message. An attempt that is repeated has the object as it was.
    id: `${type}:${kind}:${id}:${textOf(attributes, "updated_at") ?? ""}`,
    type,
    atMs,
    ...partiesOf({
      tool: "lemonsqueezy",
      customerId: idOf(attributes, "customer_id"),
      email: textOf(attributes, "user_email"),
      customData: [custom],
    }),
    testMode: isTest ? "A purchase in LemonSqueezy's test mode is no money." : undefined,
    facts: (before) => reading(happened, before),
  };
}
