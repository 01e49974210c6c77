/** A message of a billing tool, read without the ledger, and its translation with what the ledger knows of
 * its customer. */
import type { JsonObject } from "../../../contract/json.ts";
import { isEmailAddress } from "../../intake/admission/admit-event.ts";
import type { Delivery, TranslatedItem } from "../source.ts";
import { billingItems, type CustomerFacts } from "./facts.ts";
import { namedIn } from "./fields.ts";
import { accountIdKeys, type BillingPerson, type Owner, userIdKeys } from "./person.ts";
import { type Before, beforeOf } from "./subscription.ts";
import type { Transfer } from "./transfer.ts";

/** Why a message is ignored. */
export type Ignored = string;

/** A message that says something of a customer. */
export interface BillingMessage {
  readonly id: string;
  readonly type: string;
  /** Undefined: the time of arrival. */
  readonly atMs: number | undefined;
  readonly person: BillingPerson;
  readonly accountId: string | undefined;
  /** Why the message is of the tool's test mode, and no money. Undefined: it is not, or the tool does not
   * tell. */
  readonly testMode?: Ignored | undefined;
  readonly facts: (before: Before) => CustomerFacts | Ignored;
}

export type ReadMessage =
  | BillingMessage
  | Transfer
  | { readonly invalid: string }
  | { readonly ignored: string };

/** The customer of a message as its tool names them. */
interface Customer {
  readonly tool: string;
  readonly customerId: string | undefined;
  readonly email?: string | undefined;
  /** The id of a user, if there is one with this id. */
  readonly reference?: string | undefined;
  /** The user, when no custom data names one. */
  readonly userId?: string | undefined;
  /** Objects that a team attaches to customers and subscriptions, the most particular one first. */
  readonly customData: readonly unknown[];
}

/** The person and the account of a message. */
export function partiesOf({
  tool,
  customerId,
  email,
  reference,
  userId,
  customData,
}: Customer): Pick<BillingMessage, "person" | "accountId"> {
  return {
    person: {
      userId: namedIn(customData, userIdKeys) ?? userId,
      reference,
      customerId,
      anonymousId: customerId === undefined ? undefined : `${tool}:${customerId}`,
      email: email !== undefined && isEmailAddress(email) ? email : undefined,
      isOwnEmail: true,
    },
    accountId: namedIn(customData, accountIdKeys),
  };
}

/**
 * Translates a message.
 * @param owner its user or visitor; undefined if it names none
 * @param traits the owner's, as they are stored
 */
export function translateMessage(
  body: unknown,
  { id, type, atMs, accountId, facts }: BillingMessage,
  { receivedAtMs }: Delivery,
  owner: Owner | undefined,
  traits: JsonObject,
): readonly TranslatedItem[] {
  const ignored = (why: string) => [{ sent: body, translated: { ignored: why } }];
  const found = facts(beforeOf(traits));
  if (typeof found === "string") return ignored(found);
  if (owner === undefined) return ignored(`${type} names neither a customer nor a user.`);
  const message = { id, accountId, atMs: atMs ?? receivedAtMs };
  const items = billingItems(message, found, owner);
  return items.length === 0
    ? ignored(`${type} says nothing that is kept.`)
    : [{ sent: body, translated: { items } }];
}
