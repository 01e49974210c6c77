/**
 * Events of Stripe's webhooks. The table of their types is events.ts; here is whose they are. Most name only a
 * customer, whose id we take for a visitor's: what is said before anybody knows who the customer is waits for it.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { isEmailAddress, isInvalid, type SourcedItem } from "../../intake/intake.ts";
import { addressId } from "../../ledger/ledger.ts";
import { readTime } from "../said.ts";
import type { Delivery, TranslatedItem } from "../source.ts";
import { type SaidOfCustomer, stripeEvents } from "./events.ts";
import { fieldOf, idOf, textOf } from "./plan.ts";

/** Whom an event is about, as far as it says itself. */
export interface StripePerson {
  /** In metadata. */
  readonly userId: string | undefined;
  /** What the checkout was given for the company's own use: often a cart's id, and who pays by a link may set it. */
  readonly reference: string | undefined;
  readonly customerId: string | undefined;
  readonly email: string | undefined;
  /** Whether the e-mail address is the customer's own, and not where a bill goes. */
  readonly isOwnEmail: boolean;
}

/** What the ledger knows of such a person. */
export interface KnownPerson {
  /** The user whom the customer is known to be. */
  readonly linked: string | undefined;
  /** The user whose id the checkout's reference is. */
  readonly referenced: string | undefined;
  /** The only user with the e-mail address, but for a user made of the customer's own id. */
  readonly withEmail: string | undefined;
  /** The e-mail address by which the user was looked for: the event's, or that by which the customer is known. */
  readonly address?: string | undefined;
  /** Whether several users have it: then it says nothing, and nobody waits for one of them. */
  readonly isEmailShared: boolean;
  /** Whether the user whom the event names has an e-mail address already, which is then left alone. */
  readonly hasEmail: boolean;
}

interface StripeEvent {
  readonly id: string;
  readonly type: string;
  readonly createdMs: number | undefined;
  readonly object: JsonObject | undefined;
  readonly before: JsonObject;
}

/** The visitor's id that a customer's is. */
export function stripeAnonymousId(customerId: string): string {
  return `stripe:${customerId}`;
}

/** Whom an event is about; undefined when it is of no type that is read. @param body parsed JSON */
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
 * What an event says.
 * @param body parsed JSON
 * @param known what the ledger knows of `stripePerson(body)`
 * @param unknownCustomers whether a customer whom nobody knows becomes a user as soon as the e-mail address is told
 * @returns invalid for what is no event of Stripe's
 */
export function translateStripe(
  body: unknown,
  delivery: Delivery,
  known: KnownPerson,
  unknownCustomers: "create" | "wait",
): readonly TranslatedItem[] | { readonly invalid: string } {
  const event = eventOf(body);
  if (event === undefined) return { invalid: "body is no event of Stripe's: it has no id or type." };
  const ignored = (why: string) => [{ sent: body, translated: { ignored: why } }];
  const person = stripePerson(body);
  if (event.object === undefined) {
    return ignored("An event without its object: choose snapshot payloads for this endpoint.");
  }
  const reading = Object.hasOwn(stripeEvents, event.type) ? stripeEvents[event.type] : undefined;
  if (reading === undefined || person === undefined) return ignored(`${event.type} says nothing to us.`);
  const said = reading({ object: event.object, before: event.before });
  if (typeof said === "string") return ignored(said);
  const whose = whoseIs(person, known, unknownCustomers);
  if (whose === undefined) return ignored(`${event.type} names no customer, and no user.`);
  const atMs = event.createdMs ?? delivery.receivedAtMs;
  return [{ sent: body, translated: { items: itemsOf(event, said, whose, atMs) } }];
}

/** Whose an event is, in our words. */
interface Whose {
  readonly userId: string | undefined;
  readonly anonymousId: string | undefined;
  /** To be stored; undefined leaves what is stored. */
  readonly email: string | undefined;
  /** That the customer is known by an e-mail address, whoever may have it. */
  readonly known?: { readonly previousId: string; readonly userId: string } | undefined;
}

/** The first that is there: who is named; who the customer is known to be; the user whom the checkout refers to; the only
 * user with the e-mail address; the customer. */
function whoseIs(
  { userId, customerId, email }: StripePerson,
  { linked, referenced, withEmail, isEmailShared, hasEmail, address = email }: KnownPerson,
  unknownCustomers: "create" | "wait",
): Whose | undefined {
  const anonymousId = customerId === undefined ? undefined : stripeAnonymousId(customerId);
  // Bills may go to another address than the one that the user is known by.
  if (userId !== undefined) return { userId, anonymousId, email: hasEmail ? undefined : email };
  const isLinked = linked !== undefined && linked !== customerId;
  if (isLinked) return { userId: linked, anonymousId, email: undefined };
  if (referenced !== undefined)
    return { userId: referenced, anonymousId, email: hasEmail ? undefined : email };
  const addressed = address === undefined || isEmailShared ? undefined : addressId(address);
  const known = anonymousId && addressed ? { previousId: anonymousId, userId: addressed } : undefined;
  // Anybody may say an e-mail address, so the customer is not linked to the user: the next event is looked up anew.
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
  said: SaidOfCustomer,
  { userId, anonymousId, email, known }: Whose,
  atMs: number,
): readonly SourcedItem[] {
  const person = { userId, anonymousId };
  const accountId = metadataOf(object, accountIdKeys);
  const account = accountId === undefined ? undefined : { id: accountId };
  const traits = said.traits ?? {};
  const isTold = Object.keys(traits).length > 0 || account !== undefined;
  const identify: SourcedItem = {
    ...{ type: "identify", ...person, atMs, messageId: `${id}:identify` },
    ...{ email, traits, account },
  };
  const tracks = said.events.map(
    ({ event, properties, id: ownId }): SourcedItem => ({
      ...{ type: "track", ...person, atMs, messageId: ownId ?? `${id}:${event}` },
      // Cards are charged at night: none of it says that somebody used the product.
      ...{ event, properties, isActivity: false, account },
    }),
  );
  const waiting: SourcedItem[] =
    known === undefined ? [] : [{ type: "alias", ...known, atMs, messageId: `${id}:address` }];
  // Without a user and without traits it would say nothing.
  return [...waiting, ...(userId !== undefined || isTold ? [identify] : []), ...tracks];
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
  const before = fieldOf(body, "data", "previous_attributes");
  const createdMs = readTime(fieldOf(body, "created"), "created");
  return {
    ...{ id, type },
    createdMs: isInvalid(createdMs) ? undefined : createdMs,
    object: isJsonObject(object) ? object : undefined,
    before: isJsonObject(before) ? before : {},
  };
}
