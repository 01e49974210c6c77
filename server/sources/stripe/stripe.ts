/** Translates Stripe's events. events.ts has the table of their types. */

import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
import type { TestMode } from "../../../contract/source-settings.ts";
import { isEmailAddress } from "../../intake/admission/admit-event.ts";
import { billingItems } from "../billing/facts.ts";
import { fieldOf, msOf, textOf } from "../billing/fields.ts";
import {
  accountIdKeys,
  type BillingPerson,
  type KnownPerson,
  ownerOf,
  userIdKeys,
} from "../billing/person.ts";
import type { Delivery, TranslatedItem } from "../source.ts";
import { stripeEvents } from "./events.ts";
import { idOf } from "./plan.ts";

interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly createdMs: number | undefined;
  readonly object: JsonObject | undefined;
  readonly before: JsonObject;
}

/** Why an event or an exported object of Stripe's test mode is ignored. */
export const testModeOfStripe = "An object of Stripe's test mode is no money.";

/** Whether an event or an object is of Stripe's test mode. */
export function isTestMode(body: unknown): boolean {
  return fieldOf(body, "livemode") === false;
}

/** The visitor id of a customer. */
export function stripeAnonymousId(customerId: string | undefined): string | undefined {
  return customerId === undefined ? undefined : `stripe:${customerId}`;
}

/** The person of an event; undefined for types that are ignored. @param body parsed JSON */
export function stripePerson(body: unknown): BillingPerson | undefined {
  const event = eventOf(body);
  if (event?.object === undefined || !Object.hasOwn(stripeEvents, event.type)) return undefined;
  const { object } = event;
  // A card that was detached has no customer any more.
  const customerId =
    textOf(object, "object") === "customer"
      ? textOf(object, "id")
      : (idOf(object, "customer") ?? idOf(event.before, "customer"));
  return {
    userId: metadataOf(object, userIdKeys),
    isOwnEmail: textOf(object, "object") === "customer",
    reference: textOf(object, "client_reference_id"),
    customerId,
    anonymousId: stripeAnonymousId(customerId),
    email: [emailOf(object)].find((email) => email !== undefined && isEmailAddress(email)),
  };
}

/**
 * Translates an event.
 * @param body parsed JSON
 * @param known the ledger's knowledge of `stripePerson(body)`
 * @param unknownCustomers whether an unmatched customer with an e-mail address becomes a user
 * @returns invalid for a body that is no Stripe event
 */
export function translateStripe(
  body: unknown,
  delivery: Delivery,
  known: KnownPerson,
  unknownCustomers: "create" | "wait",
  testMode: TestMode = "ignore",
): readonly TranslatedItem[] | { readonly invalid: string } {
  const event = eventOf(body);
  if (event === undefined) return { invalid: "body is not a Stripe event: it has no id or type." };
  if (isTestMode(body) && testMode === "ignore")
    return [{ sent: body, translated: { ignored: testModeOfStripe, isTestMode: true } }];
  const ignored = (why: string) => [{ sent: body, translated: { ignored: why } }];
  const person = stripePerson(body);
  if (event.object === undefined) {
    return ignored("An event without its object: choose snapshot payloads for this endpoint.");
  }
  const reading = Object.hasOwn(stripeEvents, event.type) ? stripeEvents[event.type] : undefined;
  if (reading === undefined || person === undefined) return ignored(`${event.type} is not used.`);
  const atMs = event.createdMs ?? delivery.receivedAtMs;
  const facts = reading({ object: event.object, before: event.before, atSeconds: atMs / 1_000 });
  if (typeof facts === "string") return ignored(facts);
  const owner = ownerOf(person, known, unknownCustomers);
  if (owner === undefined) return ignored(`${event.type} names neither a customer nor a user.`);
  const message = { id: event.id, atMs, accountId: metadataOf(event.object, accountIdKeys) };
  return [{ sent: body, translated: { items: billingItems(message, facts, owner) } }];
}

/** Where metadata may be: on the object, on the subscription of an invoice (two versions), on a customer in
 * full. */
const metadataPaths = [
  ["metadata"],
  ["parent", "subscription_details", "metadata"],
  ["subscription_details", "metadata"],
  ["customer", "metadata"],
] as const;

/** The first of several keys of the metadata that is there. */
export function metadataOf(object: unknown, keys: readonly string[]): string | undefined {
  for (const path of metadataPaths) {
    for (const key of keys) {
      const value = textOf(object, ...path, key);
      if (value !== undefined) return value;
    }
  }
  return undefined;
}

const emailPaths = [
  ["customer_details", "email"],
  ["customer_email"],
  ["customer", "email"],
  ["evidence", "customer_email_address"],
  ["billing_details", "email"],
  ["receipt_email"],
] as const;

/** The first e-mail address of an object. */
export function emailOf(object: JsonObject): string | undefined {
  if (textOf(object, "object") === "customer") return textOf(object, "email");
  for (const path of emailPaths) {
    const email = textOf(object, ...path);
    if (email !== undefined) return email;
  }
  return undefined;
}

/** An event; undefined for anything else. */
function eventOf(body: unknown): StripeEvent | undefined {
  const [id, type] = [textOf(body, "id"), textOf(body, "type")];
  if (id === undefined || type === undefined) return undefined;
  const object = fieldOf(body, "data", "object");
  return {
    id,
    type,
    createdMs: msOf(body, "created"),
    object: isJsonObject(object) ? object : undefined,
    before: objectOf(fieldOf(body, "data", "previous_attributes")),
  };
}
