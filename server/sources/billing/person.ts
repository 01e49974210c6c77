/** Finds the user of a billing tool's event. Most events name only a customer, whose id counts as a
 * visitor's: events are held until the customer is linked to a user. */

import type { Ledger } from "../../ledger/ledger.ts";
import { addressId, addressIn, isAddressId } from "../../ledger/rules/held-events.ts";

/** The keys of the user's id in the data that a team attaches to customers and subscriptions. */
export const userIdKeys = ["userId", "user_id", "rekindle_user_id"] as const;
/** The keys of the account's id there. */
export const accountIdKeys = ["accountId", "account_id", "rekindle_account_id"] as const;

/** The person of an event, from the event alone. */
export interface BillingPerson {
  /** From metadata. */
  readonly userId: string | undefined;
  /** `client_reference_id`: often a cart's id. A customer who pays by a link may set it. */
  readonly reference: string | undefined;
  readonly customerId: string | undefined;
  /** The visitor id of the customer. */
  readonly anonymousId: string | undefined;
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

/** The ledger's knowledge of an event's person. */
export async function findPerson(
  ledger: Pick<Ledger, "identities" | "findUser">,
  organization: number,
  person: BillingPerson | undefined,
): Promise<KnownPerson> {
  const { userId, reference, customerId, anonymousId, email, isOwnEmail } = person ?? {};
  if (userId !== undefined) {
    const named = await ledger.findUser(organization, userId);
    return {
      linked: undefined,
      referenced: undefined,
      withEmail: undefined,
      isEmailShared: false,
      hasEmail: Boolean(named?.user.email),
    };
  }
  const { identities } = ledger;
  const referenced = reference === undefined ? undefined : await ledger.findUser(organization, reference);
  const linked = anonymousId && (await identities.linkedTo(organization, anonymousId));
  let kept = linked && isAddressId(linked) ? addressIn(linked) : undefined;
  if (linked && linked === customerId)
    kept = (await ledger.findUser(organization, linked))?.user.email ?? undefined;
  // A customer's own address is the newest. A bill may go to another address.
  const addresses = isOwnEmail ? [email, kept] : [kept, email];
  let others: readonly string[] = [];
  let address: string | undefined;
  for (const one of addresses) {
    if (one === undefined || others.length > 0) continue;
    // A user that was created from the customer's id yields to a user of the product.
    others = (await identities.withEmail(organization, one)).filter((user) => user !== customerId);
    if (address === undefined || others.length > 0) address = one;
  }
  return {
    address,
    linked: linked && !isAddressId(linked) ? linked : undefined,
    referenced: referenced && reference,
    withEmail: others.length === 1 ? others[0] : undefined,
    isEmailShared: others.length > 1,
    hasEmail: Boolean(referenced?.user.email),
  };
}

/** The user or visitor of an event. */
export interface Owner {
  readonly userId: string | undefined;
  readonly anonymousId: string | undefined;
  /** To be stored; undefined leaves what is stored. */
  readonly email: string | undefined;
  /** Links the customer to an e-mail address. */
  readonly known?: { readonly previousId: string; readonly userId: string } | undefined;
}

/** The first that exists: the user in metadata; the user that the customer is linked to; the user of the
 * checkout's reference; the only user with the e-mail address; the customer. */
export function ownerOf(
  { userId, customerId, anonymousId, email }: BillingPerson,
  { linked, referenced, withEmail, isEmailShared, hasEmail, address = email }: KnownPerson,
  unknownCustomers: "create" | "wait",
): Owner | undefined {
  // The bill's address may differ from the user's.
  if (userId !== undefined) return { userId, anonymousId, email: hasEmail ? undefined : email };
  const isLinked = linked !== undefined && linked !== customerId;
  if (isLinked) return { userId: linked, anonymousId, email: undefined };
  if (referenced !== undefined)
    return { userId: referenced, anonymousId, email: hasEmail ? undefined : email };
  const addressed = address === undefined || isEmailShared ? undefined : addressId(address);
  const known = anonymousId && addressed ? { previousId: anonymousId, userId: addressed } : undefined;
  // Anyone can enter an e-mail address, so the customer is not linked to the user. The next event is looked
  // up again.
  if (withEmail !== undefined) {
    return { userId: withEmail, anonymousId: undefined, email: undefined, known: linked ? undefined : known };
  }
  if (customerId === undefined) return undefined;
  const isUser = linked !== undefined || (email !== undefined && unknownCustomers === "create");
  if (isUser) return { userId: customerId, anonymousId, email };
  return { userId: undefined, anonymousId, email: undefined, known };
}
