/** Looks up the person of a Stripe event in the ledger. */
import { addressIn, isAddressId, type Ledger } from "../../ledger/ledger.ts";
import { type KnownPerson, stripeAnonymousId, stripePerson } from "./stripe.ts";

/** The ledger's knowledge of an event's person. @param body parsed JSON */
export async function findPerson(
  ledger: Pick<Ledger, "identities" | "findUser">,
  organization: number,
  body: unknown,
): Promise<KnownPerson> {
  const { userId, reference, customerId, email, isOwnEmail } = stripePerson(body) ?? {};
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
  const linked = customerId && (await identities.linkedTo(organization, stripeAnonymousId(customerId)));
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
