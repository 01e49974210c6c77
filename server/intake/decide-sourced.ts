/**
 * Decides what connected sources say: whose it is, and what happens when nobody knows that yet.
 *
 *   an id that was identified              the user's
 *   an id that is linked to another        as that one's
 *   any other id                           parked under it, until an identify or an alias names it
 *   an id that is linked to an address     the same, or until a single user has the address (`addressId`)
 *
 * An id that was identified is linked to nobody, and whom an id is linked to is linked to nobody: so there is no cycle,
 * and one look-up says whose an id is. Of two words on whose an id is the later said counts.
 */
import type { Zone } from "../calendar/zone.ts";
import { addressId, addressIn, isAddressId, type ParkedItem } from "../ledger/parking.ts";
import type { Stored } from "../ledger/transaction.ts";
import type { AdmittedAlias, AdmittedSaid, AdmittedSourced, SaidOfPerson } from "./admit-sourced.ts";
import type { DecidedParking } from "./decided-parking.ts";
import { type DecidedPeople, keyOf } from "./decided-people.ts";
import type { DecidedRows } from "./decided-rows.ts";
import { type Invalid, isInvalid } from "./json.ts";

/** Links and items of an organization that aliases of unknown ids move in one commit. A chain of n aliases moves n²/2. */
const maxMovedInCommit = 20_000;

/** A request by which somebody becomes known. */
interface Naming {
  readonly organization: number;
  readonly receivedAtMs: number;
  readonly zone: Zone;
}

/** What is parked, as JSON. */
type ParkedBody = SaidOfPerson & { readonly messageId: string | null };

interface Parts {
  readonly stored: Stored;
  readonly people: DecidedPeople;
  readonly rows: DecidedRows;
  readonly parking: DecidedParking;
}

export class DecidedSources {
  readonly #stored: Stored;
  readonly #people: DecidedPeople;
  readonly #rows: DecidedRows;
  readonly #parking: DecidedParking;
  /** Addresses whose links were looked at when a user of this group was named. */
  readonly #looked = new Set<string>();
  /** By organization: links and items that were moved to ids that nobody knows either. */
  readonly #moved = new Map<number, number>();

  /** Items that became their users' in this commit. */
  attached = 0;

  constructor({ stored, people, rows, parking }: Parts) {
    this.#stored = stored;
    this.#people = people;
    this.#rows = rows;
    this.#parking = parking;
  }

  decide(entry: AdmittedSourced): "stored" | "duplicate" | "parked" | Invalid {
    if (entry.kind !== "account") return entry.kind === "alias" ? this.#alias(entry) : this.#said(entry);
    this.#people.account(entry.organization, entry.account, entry.receivedAtMs);
    return "stored";
  }

  /** Gives a user who is identified now what waited under the user's own id, and under the e-mail address. */
  named(naming: Naming, userId: string, email: string | undefined): void {
    const { organization } = naming;
    if (!this.#parking.concerns(organization)) return;
    // From now on the id is a user of its own.
    const link = this.#parking.link(organization, userId);
    if (link !== undefined) this.#parking.setLink(organization, userId, null);
    this.#attach(naming, userId, this.#parking.take(organization, userId));
    // An alias said that two ids are one person, and it is this one that turns out to be the user's.
    if (link !== undefined && this.#people.known(organization, link.userId) === undefined) {
      this.#link(naming, link.userId, userId, link.atMs);
    }
    const address = email === undefined ? undefined : addressId(email);
    if (address === undefined) return;
    // The links stay, 1,000 at most: of 10,000 identifies in a group only the first looks at them.
    const key = keyOf(organization, address);
    if (this.#looked.has(key)) return;
    const ids = this.#parking.linksTo(organization, address);
    if (ids.length > 0) this.#looked.add(key);
    for (const id of ids) this.#attachByAddress(naming, id, address);
  }

  #said(entry: AdmittedSaid): "stored" | "duplicate" | "parked" | Invalid {
    const { organization, userId, anonymousId, said, atMs } = entry;
    if (said.kind === "track" && said.label !== null) {
      this.#parking.label(organization, said.event, said.label);
    }
    const isIdentify = said.kind === "identify" && userId !== undefined;
    const whose = isIdentify ? userId : this.#whose(organization, userId ?? anonymousId ?? "");
    if (!isIdentify && this.#people.known(organization, whose) === undefined) {
      if (this.#wasErased(organization, whose, atMs)) return "duplicate";
      this.#parking.park(organization, whose, parkedItem(entry));
      return "parked";
    }
    const outcome = this.#become(entry, whose, entry, isIdentify);
    if (!isIdentify || outcome !== "stored") return outcome;
    this.named(entry, userId, said.kind === "identify" ? said.email : undefined);
    if (anonymousId === undefined || this.#people.known(organization, anonymousId) !== undefined)
      return outcome;
    this.#link(entry, anonymousId, userId, atMs);
    return outcome;
  }

  #alias(entry: AdmittedAlias): "stored" | "duplicate" | Invalid {
    const { organization, previousId, userId, atMs } = entry;
    if (previousId === userId) return "stored";
    // Tools' clients disagree on which of the two is the user's: one that was identified is.
    const isTurned = this.#people.known(organization, previousId) !== undefined;
    if (isTurned && this.#people.known(organization, userId) !== undefined) {
      return { invalid: "previousId is a user who was identified: two users are not made one." };
    }
    const [id, other] = isTurned ? [userId, previousId] : [previousId, userId];
    if (this.#wasErased(organization, other, atMs)) return "duplicate";
    if (this.#movesTooMuch(organization, other)) {
      return {
        invalid: "previousId is one of too many that are linked on at once: send fewer in a request.",
      };
    }
    this.#link(entry, id, other, atMs);
    return "stored";
  }

  /** Says that an id that was not identified is another's. */
  #link(naming: Naming, id: string, other: string, atMs: number): void {
    const { organization } = naming;
    const userId = this.#whose(organization, other);
    if (userId === id) return;
    const known = this.#parking.link(organization, id);
    if (known !== undefined) {
      // Who somebody is says more than which address they have, whenever it was said.
      const isOfAddress = isAddressId(userId);
      if (isOfAddress && !isAddressId(known.userId)) return;
      if (isOfAddress === isAddressId(known.userId) && known.atMs > atMs) return;
    }
    this.#parking.setLink(organization, id, { userId, atMs });
    if (isAddressId(userId)) {
      this.#attachByAddress(naming, id, userId);
      return;
    }
    const links = this.#parking.moveLinks(organization, id, userId);
    const items = this.#parking.take(organization, id);
    if (this.#people.known(organization, userId) !== undefined) {
      this.#attach(naming, userId, items);
      return;
    }
    for (const item of items) this.#parking.park(organization, userId, item);
    this.#moved.set(organization, (this.#moved.get(organization) ?? 0) + links + items.length);
  }

  /** Whether enough was moved in this commit already. What is moved to a user stays there, so that it is moved once. */
  #movesTooMuch(organization: number, other: string): boolean {
    if ((this.#moved.get(organization) ?? 0) < maxMovedInCommit) return false;
    return this.#people.known(organization, this.#whose(organization, other)) === undefined;
  }

  /** Gives what waits under an id to the user who has its address, if only one has. The link stays one to the address:
   * whoever says an address need not be whose it is, and what comes next is looked up anew. */
  #attachByAddress(naming: Naming, id: string, address: string): void {
    const { organization } = naming;
    const [userId, ...others] = this.#people.withEmail(organization, addressIn(address));
    if (userId === undefined || others.length > 0) return;
    this.#attach(naming, userId, this.#parking.take(organization, id));
  }

  /** The id itself when it was identified or is not linked, or only to an address, else the one to which it is linked. */
  #whose(organization: number, id: string): string {
    if (this.#people.known(organization, id) !== undefined) return id;
    const linked = this.#parking.link(organization, id)?.userId ?? id;
    return isAddressId(linked) ? id : linked;
  }

  /** What was said before the user was erased, and only delivered late, stays out. */
  #wasErased(organization: number, userId: string, atMs: number): boolean {
    return atMs < (this.#stored.erasedAtMs(organization, userId) ?? Number.NEGATIVE_INFINITY);
  }

  #attach(naming: Naming, userId: string, items: readonly ParkedItem[]): void {
    const { organization } = naming;
    this.attached += items.length;
    for (const { body, receivedAtMs, atMs } of items) {
      if (this.#wasErased(organization, userId, atMs)) continue;
      const { messageId, ...said } = JSON.parse(body) as ParkedBody;
      const outcome = this.#become(naming, userId, { said, messageId, receivedAtMs, atMs }, false);
      if (isInvalid(outcome)) this.#parking.refuse(organization, outcome.invalid);
    }
  }

  /** Makes what was said an identified user's, or the user's who is identified by it. */
  #become(
    { organization, zone, receivedAtMs: nowMs }: Naming,
    userId: string,
    item: Pick<AdmittedSaid, "said" | "messageId" | "receivedAtMs" | "atMs">,
    isIdentified: boolean,
  ): "stored" | "duplicate" | Invalid {
    const { said, messageId, receivedAtMs, atMs } = item;
    const whose = { organization, userId, receivedAtMs: nowMs, saidAtMs: Math.min(atMs, nowMs) };
    if (said.kind === "identify") {
      const { kind: _kind, ...what } = said;
      return this.#people.identify({ ...whose, ...what }, isIdentified);
    }
    const user = this.#people.known(organization, userId);
    if (user === undefined) throw new Error("an event became the event of nobody");
    const { event, properties, isActivity, account: sent } = said;
    const account = sent === undefined ? user.account : this.#people.account(organization, sent, nowMs);
    if (sent !== undefined && user.account === 0) {
      const silent = { email: undefined, traits: {}, isAccountOwner: undefined };
      this.#people.identify({ ...whose, ...silent, account: sent }, false);
    }
    const day = zone.dayOf(atMs);
    this.#rows.event(
      { organization, event, timeMs: atMs, day, receivedAtMs, messageId, properties, isActivity },
      { number: user.number, account },
    );
    return "stored";
  }
}

function parkedItem({ said, messageId, receivedAtMs, atMs }: AdmittedSaid): ParkedItem {
  const body: ParkedBody = { ...said, messageId };
  return { receivedAtMs, atMs, accountId: said.account?.accountId ?? null, body: JSON.stringify(body) };
}
