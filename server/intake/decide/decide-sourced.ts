/**
 * Decides items of connected sources: finds their user, or holds them until the user is known.
 *
 *   a user's id that was identified        the user's
 *   an id that is linked to a user         as that one's
 *   any other id                           held under it, until an identify or an alias names it
 *   an id that is linked to an address     the same, or until a single user has the address (`addressId`)
 *   any of these, sent before its user     left out
 *   was erased
 *
 * A text can be a user's id and a visitor's id: then it is two ids. Items held under a user's id go to the
 * user who is identified with it. Or they go to the user to whom an alias links it. Items held under a
 * visitor's id go to the user whose identify names this visitor.
 *
 * An identified user is never linked. The target of a link is a user, known or not, and is never linked
 * itself. So there is no cycle, and one look-up finds the user of an id. Of two links of an id the later one
 * wins.
 */

import type { Zone } from "../../calendar/zone.ts";
import {
  addressId,
  addressIn,
  type HeldEvent,
  isAddressId,
  type PersonKey,
  userKey,
  visitorKey,
} from "../../ledger/rules/held-events.ts";
import type { Stored } from "../../ledger/transact.ts";

import { isOfPast } from "../admission/admit-event.ts";
import type {
  AdmittedAlias,
  AdmittedPersonItem,
  AdmittedSourced,
  PersonItemContent,
} from "../admission/admit-sourced.ts";
import { type Invalid, isInvalid } from "../admission/json.ts";
import type { DecidedHeldEvents } from "./decided-held-events.ts";
import { type DecidedPeople, keyOf } from "./decided-people.ts";
import type { DecidedRows } from "./decided-rows.ts";

/** A request that identifies a user. */
interface Naming {
  readonly organization: number;
  readonly receivedAtMs: number;
  readonly zone: Zone;
  /** As in `PageRequest`. */
  readonly visitor?: string | undefined;
  readonly mayJoin?: boolean | undefined;
}

/** The body of a held item, as JSON. */
type HeldBody = PersonItemContent &
  Pick<AdmittedPersonItem, "messageId" | "isBrowser"> & {
    /** As in `MessageKey`: the ledger forgets the id when it drops the item. */
    readonly lastingDay?: number | undefined;
  };

interface Parts {
  readonly stored: Stored;
  readonly people: DecidedPeople;
  readonly rows: DecidedRows;
  readonly heldEvents: DecidedHeldEvents;
}

export class DecidedSources {
  readonly #stored: Stored;
  readonly #people: DecidedPeople;
  readonly #rows: DecidedRows;
  readonly #heldEvents: DecidedHeldEvents;
  /** Addresses whose links were looked up for an identify of this group. */
  readonly #looked = new Set<string>();
  readonly #mayMove: number;

  /** Links and held items that were moved to ids that are not identified either. */
  moved = 0;

  /** Held items that were attached to their users in this commit. */
  attached = 0;

  /** @param mayMove after this many moves, aliases that would move more are rejected */
  constructor({ stored, people, rows, heldEvents }: Parts, mayMove: number) {
    this.#mayMove = mayMove;
    this.#stored = stored;
    this.#people = people;
    this.#rows = rows;
    this.#heldEvents = heldEvents;
  }

  decide(entry: AdmittedSourced): "stored" | "duplicate" | "held" | Invalid {
    if (entry.kind !== "account")
      return entry.kind === "alias" ? this.#alias(entry) : this.#personItem(entry);
    const { organization, account, atMs, receivedAtMs, isBrowser } = entry;
    const request = { timestampMs: Math.min(atMs, receivedAtMs), receivedAtMs, isBrowser };
    const number = this.#people.account(organization, account, request);
    return isInvalid(number) ? number : "stored";
  }

  /** Attaches the items held under a newly identified user's id and e-mail address. */
  named(naming: Naming, userId: string, email: string | undefined): void {
    const { organization } = naming;
    if (!this.#heldEvents.concerns(organization)) return;
    // From now on the id is a user's own id.
    const person = userKey(organization, userId);
    const link = this.#heldEvents.link(person);
    if (link !== undefined) this.#heldEvents.setLink(person, null);
    this.#attach(naming, userId, this.#heldEvents.take(person));
    // An alias linked this id to another id of the same person. Now this one is identified as the user.
    if (link !== undefined && !isAddressId(link.userId) && !this.#isUser(organization, link.userId)) {
      this.#linkBoth(naming, link.userId, userId, link.atMs);
    }
    const address = email === undefined ? undefined : addressId(email);
    if (address === undefined) return;
    // The links stay, 1,000 at most. Of 10,000 identifies in a group only the first reads them.
    const key = keyOf(organization, address);
    if (this.#looked.has(key)) return;
    const people = this.#heldEvents.linksTo(organization, address);
    if (people.length > 0) this.#looked.add(key);
    for (const each of people) this.#attachByAddress(naming, { organization, ...each }, address);
  }

  /** Records the name that an event was sent under, if it is another. */
  label(organization: number, event: string, label: string | null): void {
    if (label !== null) this.#heldEvents.label(organization, event, label);
  }

  #personItem(entry: AdmittedPersonItem): "stored" | "duplicate" | "held" | Invalid {
    const { organization, userId, anonymousId, content, atMs } = entry;
    const isIdentify = content.kind === "identify" && userId !== undefined;
    const person =
      userId === undefined ? visitorKey(organization, anonymousId ?? "") : userKey(organization, userId);
    const whose = isIdentify ? person : this.#whose(person);
    const isOut = this.#wasErased(person, atMs) || (whose !== person && this.#wasErased(whose, atMs));
    // A tool that sends the same id in both fields means one person.
    const isBoth = userId !== undefined && userId === anonymousId;
    if (isOut || (isBoth && this.#wasErased(visitorKey(organization, userId), atMs))) return "duplicate";
    if (content.kind === "track") this.label(organization, content.event, content.label);
    if (!isIdentify && !this.#isKnown(whose)) {
      this.#heldEvents.hold(whose, heldEventOf(entry));
      return "held";
    }
    const now = { ...entry, timestampMs: Math.min(atMs, entry.receivedAtMs) };
    const outcome = this.#become(entry, whose.id, now, isIdentify);
    if (isIdentify && outcome === "stored") this.#identified(entry, userId);
    return outcome;
  }

  /** Attaches the items held under all ids that a source's identify names. */
  #identified(entry: AdmittedPersonItem, userId: string): void {
    const { organization, anonymousId, previousId, content, atMs } = entry;
    this.named(entry, userId, content.kind === "identify" ? content.email : undefined);
    if (anonymousId !== undefined) this.#link(entry, visitorKey(organization, anonymousId), userId, atMs);
    if (previousId === undefined || this.#isUser(organization, previousId)) return;
    this.#link(entry, userKey(organization, previousId), userId, atMs);
  }

  #alias(entry: AdmittedAlias): "stored" | "duplicate" | Invalid {
    const { organization, previousId, userId, atMs } = entry;
    if (previousId === userId) return "stored";
    // Tools' clients disagree on which of the two is the user's id. The identified one is the user's.
    const isTurned = this.#isUser(organization, previousId);
    if (isTurned && this.#isUser(organization, userId)) {
      return { invalid: "previousId is a user who was identified: two users are not made one." };
    }
    const [id, other] = isTurned ? [userId, previousId] : [previousId, userId];
    const people = [userKey(organization, other), userKey(organization, id), visitorKey(organization, id)];
    if (people.some((each) => this.#wasErased(each, atMs))) return "duplicate";
    if (this.#movesTooMuch(organization, other)) {
      return {
        invalid: "previousId is one of too many that are linked on at once: send fewer in a request.",
      };
    }
    this.#linkBoth(entry, id, other, atMs);
    return "stored";
  }

  /** Links an id, both as a user's and as a visitor's, to another user. */
  #linkBoth(naming: Naming, id: string, other: string, atMs: number): void {
    this.#link(naming, userKey(naming.organization, id), other, atMs);
    this.#link(naming, visitorKey(naming.organization, id), other, atMs);
  }

  /** Links an id that was not identified to a user. */
  #link(naming: Naming, person: PersonKey, other: string, atMs: number): void {
    const { organization } = naming;
    const { id: userId } = this.#whose(userKey(organization, other));
    if ((person.kind === "user" && userId === person.id) || this.#wasErased(person, atMs)) return;
    const known = this.#heldEvents.link(person);
    if (known !== undefined) {
      // A link to a user overrides a link to an e-mail address, independent of their timestamps.
      const isOfAddress = isAddressId(userId);
      if (isOfAddress && !isAddressId(known.userId)) return;
      if (isOfAddress === isAddressId(known.userId) && known.atMs > atMs) return;
    }
    this.#heldEvents.setLink(person, { userId, atMs });
    if (isAddressId(userId)) {
      this.#attachByAddress(naming, person, userId);
      return;
    }
    const links = person.kind === "user" ? this.#heldEvents.moveLinks(organization, person.id, userId) : 0;
    const items = this.#heldEvents.take(person);
    if (this.#isUser(organization, userId)) {
      this.#attach(naming, userId, items);
      return;
    }
    for (const item of items) this.#heldEvents.hold(userKey(organization, userId), item);
    this.moved += links + items.length;
  }

  /** Whether the limit of moves is reached. Items that are moved to a user stay there, so each is moved
   * once. */
  #movesTooMuch(organization: number, other: string): boolean {
    if (this.moved < this.#mayMove) return false;
    return !this.#isKnown(this.#whose(userKey(organization, other)));
  }

  /** Attaches the items held under an id to the only user with its address. The link to the address stays, so
   * that later items are looked up again: the sender of an address may not be its owner. */
  #attachByAddress(naming: Naming, person: PersonKey, address: string): void {
    const { organization } = naming;
    const [userId, ...others] = this.#people.withEmail(organization, addressIn(address));
    if (userId === undefined || others.length > 0) return;
    this.#attach(naming, userId, this.#heldEvents.take(person));
  }

  /** The user to whom an id is linked. The id itself if it is identified, not linked, or linked to an
   * address. */
  #whose(person: PersonKey): PersonKey {
    if (this.#isKnown(person)) return person;
    const linked = this.#heldEvents.link(person)?.userId;
    return linked === undefined || isAddressId(linked) ? person : userKey(person.organization, linked);
  }

  #isKnown({ organization, kind, id }: PersonKey): boolean {
    return kind === "user" && this.#isUser(organization, id);
  }

  #isUser(organization: number, userId: string): boolean {
    return this.#people.known(organization, userId) !== undefined;
  }

  /** Whether an item is older than the erasure of its user. Such an item was delivered late and is left
   * out. */
  #wasErased(person: PersonKey, atMs: number): boolean {
    return atMs < (this.#stored.erasedAtMs(person) ?? Number.NEGATIVE_INFINITY);
  }

  #attach(naming: Naming, userId: string, items: readonly HeldEvent[]): void {
    const { organization } = naming;
    this.attached += items.length;
    for (const { body, receivedAtMs, atMs } of items) {
      if (this.#wasErased(userKey(organization, userId), atMs)) continue;
      const { messageId, isBrowser, lastingDay: _, ...content } = JSON.parse(body) as HeldBody;
      const item = { content, messageId, receivedAtMs, atMs, isBrowser };
      // It never gets the present time. A node with a fast clock may have held it, and it would overwrite
      // later values.
      const timestampMs = Math.min(atMs, naming.receivedAtMs - 1);
      const outcome = this.#become(naming, userId, { ...item, timestampMs }, false);
      if (isInvalid(outcome)) this.#heldEvents.refuse(organization, outcome.invalid);
    }
  }

  /** Stores an identify or an event for an identified user, or for the user that it identifies.
   * @param item `timestampMs`: the time of its fields. `atMs`: the time of its event */
  #become(
    { organization, zone, receivedAtMs: nowMs, visitor, mayJoin }: Naming,
    userId: string,
    item: Pick<AdmittedPersonItem, "content" | "messageId" | "receivedAtMs" | "atMs" | "isBrowser"> & {
      readonly timestampMs: number;
    },
    isIdentified: boolean,
  ): "stored" | "duplicate" | Invalid {
    const { content, messageId, receivedAtMs, atMs, timestampMs, isBrowser } = item;
    const whose = { organization, userId, receivedAtMs: nowMs, timestampMs, isBrowser, visitor, mayJoin };
    if (content.kind === "identify") {
      const { kind: _kind, ...what } = content;
      return this.#people.identify({ ...whose, ...what }, isIdentified);
    }
    const user = this.#people.known(organization, userId);
    if (user === undefined) throw new Error("an event became the event of nobody");
    const { event, properties, isActivity, account: sent, isPayer } = content;
    // A payer that was erased while the event was held is no account any more.
    const ownAccount = isPayer ? 0 : user.account;
    const account = sent === undefined ? ownAccount : this.#people.account(organization, sent, whose);
    if (isInvalid(account)) return account;
    if (sent !== undefined && !isPayer && user.account === 0) {
      const silent = { email: undefined, traits: {}, isAccountOwner: undefined };
      this.#people.identify({ ...whose, ...silent, account: sent }, false);
    }
    const day = zone.dayOf(atMs);
    this.#rows.event(
      {
        organization,
        event,
        timeMs: atMs,
        day,
        receivedAtMs,
        messageId,
        properties,
        isActivity,
        isOfPast: isOfPast(day, { zone, receivedAtMs, isBrowser }),
      },
      { number: user.number, account },
    );
    return "stored";
  }
}

/** The message id of a held item. Null if it was sent without one. */
export function messageIdOfHeld({ body }: Pick<HeldEvent, "body">): string | null {
  return (JSON.parse(body) as HeldBody).messageId;
}

function heldEventOf({ content, messageId, lastingDay, isBrowser, ...item }: AdmittedPersonItem): HeldEvent {
  const { receivedAtMs, atMs } = item;
  const body: HeldBody = { ...content, messageId, lastingDay, ...(isBrowser && { isBrowser }) };
  return { receivedAtMs, atMs, accountId: content.account?.accountId ?? null, body: JSON.stringify(body) };
}
