/**
 * Finds the user of Stripe's events. events.ts has the table of their types. Most events name only a customer, whose id counts
 * as a visitor's: events are held until the customer is linked to a user.
 */

import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
import { isEmailAddress, isInvalid, type SourcedItem } from "../../intake/intake.ts";
import { addressId } from "../../ledger/ledger.ts";
import { readTime } from "../parse.ts";
import type { Delivery, TranslatedItem } from "../source.ts";
import { type CustomerFacts, stripeEvents } from "./events.ts";
import { fieldOf, idOf, textOf } from "./plan.ts";

/** The person of an event, from the event alone. */
export interface StripePerson {
  /** From metadata. */
  readonly userId: string | undefined;
  /** `client_reference_id`: often a cart's id. A customer who pays by a link may set it. */
  readonly reference: string | undefined;
  readonly customerId: string | undefined;
  readonly email: string | undefined;
  /** Whether the e-mail address is the customer's own, and not where a bill goes. */
  readonly isOwnEmail: boolean;
}

/** The ledger's knowledge of that person. */
export interface KnownPerson {
  /** The user that the customer is linked to. */
  readonly linked: string | undefined;
  /** The user whose id is the checkout's reference. */
  readonly referenced: string | undefined;
  /** The only user with the e-mail address, apart from a user that was created from the customer's id. */
  readonly withEmail: string | undefined;
  /** The e-mail address of the look-up: the event's, or that of the known customer. */
  readonly address?: string | undefined;
  /** Whether several users have it. Then it identifies no user. */
  readonly isEmailShared: boolean;
  /** Whether the event's user has an e-mail address already, which then stays. */
  readonly hasEmail: boolean;
}

interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly createdMs: number | undefined;
  readonly object: JsonObject | undefined;
  readonly before: JsonObject;
}

/** The visitor id of a customer. */
export function stripeAnonymousId(customerId: string): string {
  return `stripe:${customerId}`;
}

/** The person of an event; undefined for types that are ignored. @param body parsed JSON */
export function stripePerson(body: unknown): StripePerson | undefined {
  const event = eventOf(body);
  if (event?.object === undefined || !Object.hasOwn(stripeEvents, event.type)) return undefined;
  const { object } = event;
  const customerId =
    textOf(object, "object") === "customer" ? textOf(object, "id") : idOf(object, "customer");
  return {
    userId: metadataOf(object, userIdKeys),
    isOwnEmail: textOf(object, "object") === "customer",
    reference: textOf(object, "client_reference_id"),
    customerId,
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
): readonly TranslatedItem[] | { readonly invalid: string } {
  const event = eventOf(body);
  if (event === undefined) return { invalid: "body is not a Stripe event: it has no id or type." };
  const ignored = (why: string) => [{ sent: body, translated: { ignored: why } }];
  const person = stripePerson(body);
  if (event.object === undefined) {
    return ignored("An event without its object: choose snapshot payloads for this endpoint.");
  }
  const reading = Object.hasOwn(stripeEvents, event.type) ? stripeEvents[event.type] : undefined;
  if (reading === undefined || person === undefined) return ignored(`${event.type} is not used.`);
  const facts = reading({ object: event.object, before: event.before });
  if (typeof facts === "string") return ignored(facts);
  const owner = ownerOf(person, known, unknownCustomers);
  if (owner === undefined) return ignored(`${event.type} names neither a customer nor a user.`);
  const atMs = event.createdMs ?? delivery.receivedAtMs;
  return [{ sent: body, translated: { items: itemsOf(event, facts, owner, atMs) } }];
}

/** The user or visitor of an event. */
interface Owner {
  readonly userId: string | undefined;
  readonly anonymousId: string | undefined;
  /** To be stored; undefined leaves what is stored. */
  readonly email: string | undefined;
  /** Links the customer to an e-mail address. */
  readonly known?: { readonly previousId: string; readonly userId: string } | undefined;
}

/** The first that exists: the user in metadata; the user that the customer is linked to; the user of the checkout's reference;
 * the only user with the e-mail address; the customer. */
function ownerOf(
  { userId, customerId, email }: StripePerson,
  { linked, referenced, withEmail, isEmailShared, hasEmail, address = email }: KnownPerson,
  unknownCustomers: "create" | "wait",
): Owner | undefined {
  const anonymousId = customerId === undefined ? undefined : stripeAnonymousId(customerId);
  // The bill's address may differ from the user's.
  if (userId !== undefined) return { userId, anonymousId, email: hasEmail ? undefined : email };
  const isLinked = linked !== undefined && linked !== customerId;
  if (isLinked) return { userId: linked, anonymousId, email: undefined };
  if (referenced !== undefined)
    return { userId: referenced, anonymousId, email: hasEmail ? undefined : email };
  const addressed = address === undefined || isEmailShared ? undefined : addressId(address);
  const known = anonymousId && addressed ? { previousId: anonymousId, userId: addressed } : undefined;
  // Anyone can enter an e-mail address, so the customer is not linked to the user. The next event is looked up again.
  if (withEmail !== undefined) {
    return { userId: withEmail, anonymousId: undefined, email: undefined, known: linked ? undefined : known };
  }
  if (customerId === undefined) return undefined;
  const isUser = linked !== undefined || (email !== undefined && unknownCustomers === "create");
  if (isUser) return { userId: customerId, anonymousId, email };
  return { userId: undefined, anonymousId, email: undefined, known };
}

function itemsOf(
  { id, object }: StripeEvent,
  facts: CustomerFacts,
  { userId, anonymousId, email, known }: Owner,
  atMs: number,
): readonly SourcedItem[] {
  const person = { userId, anonymousId };
  const accountId = metadataOf(object, accountIdKeys);
  const account = accountId === undefined ? undefined : { id: accountId };
  const traits = facts.traits ?? {};
  const hasFacts = Object.keys(traits).length > 0 || account !== undefined;
  const identify: SourcedItem = {
    ...{ type: "identify", ...person, atMs, messageId: `${id}:identify` },
    ...{ email, traits, account },
  };
  const tracks = facts.events.map(
    ({ event, properties, id: ownId }): SourcedItem => ({
      ...{ type: "track", ...person, atMs, messageId: ownId ?? `${id}:${event}` },
      // Cards are charged at night: billing events are no use of the product.
      ...{ event, properties, isActivity: false, account },
    }),
  );
  const waiting: SourcedItem[] =
    known === undefined ? [] : [{ type: "alias", ...known, atMs, messageId: `${id}:address` }];
  // Without a user and without traits an identify would be empty.
  return [...waiting, ...(userId !== undefined || hasFacts ? [identify] : []), ...tracks];
}

const userIdKeys = ["userId", "user_id", "rekindle_user_id"] as const;
const accountIdKeys = ["accountId", "account_id", "rekindle_account_id"] as const;

/** Where metadata may be: on the object, on the subscription of an invoice (two versions), on a customer in full. */
const metadataPaths = [
  ["metadata"],
  ["parent", "subscription_details", "metadata"],
  ["subscription_details", "metadata"],
  ["customer", "metadata"],
] as const;

function metadataOf(object: unknown, keys: readonly string[]): string | undefined {
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

function emailOf(object: JsonObject): string | undefined {
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
  const createdMs = readTime(fieldOf(body, "created"), "created");
  return {
    ...{ id, type },
    createdMs: isInvalid(createdMs) ? undefined : createdMs,
    object: isJsonObject(object) ? object : undefined,
    before: objectOf(fieldOf(body, "data", "previous_attributes")),
  };
}
