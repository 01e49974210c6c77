/** The account that a billing event's properties name as its payer. */
import { isBillingEvent } from "../../../contract/billing/events.ts";
import { isJsonObject } from "../../../contract/json.ts";

/** The properties of an event whose account is erased: a billing event's `accountId` becomes null, as in the
 * warehouse.
 * @param properties JSON text, as it is stored
 * @returns the text itself for any other event, and for what cannot be read */
export function propertiesWithoutPayer(event: unknown, properties: unknown): unknown {
  if (typeof event !== "string" || typeof properties !== "string") return properties;
  const sent = parsed(properties);
  if (!isJsonObject(sent) || !isBillingEvent(event, sent) || !Object.hasOwn(sent, "accountId"))
    return properties;
  return JSON.stringify({ ...sent, accountId: null });
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
