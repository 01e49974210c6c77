/**
 * Admits billing events: events that say what a customer pays (contract/billing/events.ts). A wrong amount
 * would be a wrong figure for ever, so each of their properties is checked. Events with other names cost one
 * look-up. Pure.
 */
import { contactEvent } from "../../../contract/api/contacts.ts";
import { billingId, isBillingEvent, whyNotBilling } from "../../../contract/billing/events.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { parseEventTime } from "../../calendar/event-time.ts";
import type { SentAccount } from "../identify.ts";
import type { Arrival } from "./admit-event.ts";
import type { Invalid } from "./json.ts";

/** A billing event is stored, and no figure of activity counts it. */
export interface AdmittedBilling {
  readonly isActivity: false;
  /** The account that pays, if the event names one. The event carries it, and its user does not join it. */
  readonly payer: SentAccount | undefined;
}

/** Admits the properties of a billing event, or returns their problem. Undefined for any other event. A
 * browser token, which everybody can read, says neither what a customer pays nor that a team has called. */
export function admitBilling(
  event: string,
  properties: JsonObject,
  { zone, isBrowser }: Pick<Arrival, "zone" | "isBrowser">,
): AdmittedBilling | Invalid | undefined {
  const isBilling = isBillingEvent(event, properties);
  if (isBrowser && (isBilling || event === contactEvent)) {
    const what = isBilling ? "a billing event" : "a contact by your team";
    return {
      invalid: `event is ${what}, which a browser token cannot send: send it from your server, with another project token.`,
    };
  }
  if (!isBilling) return undefined;
  const problem = whyNotBilling(event, properties, (text) => parseEventTime(text, zone) !== undefined);
  if (problem !== undefined) return { invalid: problem };
  const accountId = billingId(properties.accountId);
  const payer = accountId === undefined ? undefined : { accountId, name: undefined, avatar: undefined };
  return { isActivity: false, payer };
}
