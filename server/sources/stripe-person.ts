/** Looks up in the ledger whom an event of Stripe's is about. */
import type { Ledger } from "../ledger/ledger.ts";
import { isAddressId } from "../ledger/parking.ts";
import { type KnownPerson, stripeAnonymousId, stripePerson } from "./stripe.ts";

/** What the ledger knows of whom an event is about. @param body parsed JSON */
export async function findPerson(
  ledger: Pick<Ledger, "identities" | "findUser">,
  organization: number,
  body: unknown,
): Promise<KnownPerson> {
  const { userId, reference, customerId, email } = stripePerson(body) ?? {};
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
  const found = email === undefined ? [] : await identities.withEmail(organization, email);
  // A user made of the customer's own id gives way to one whom the product has named.
  const others = found.filter((user) => user !== customerId);
  return {
    linked: linked && !isAddressId(linked) ? linked : undefined,
    referenced: referenced && reference,
    withEmail: others.length === 1 ? others[0] : undefined,
    isEmailShared: others.length > 1,
    hasEmail: Boolean(referenced?.user.email),
  };
}
