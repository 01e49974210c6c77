/** Links from ids to users, and the number of links that wait for their user to be identified. All calls run
 * inside the caller's transaction. */

import type { Database } from "bun:sqlite";
import { limits } from "../../../../contract/limits.ts";
import { msPerDay } from "../../../calendar/zone.ts";
import {
  addressIn,
  isAddressId,
  type PersonId,
  type PersonKey,
  type PersonLink,
} from "../../rules/held-events.ts";
import { personOf, personText } from "../../rules/person-text.ts";
import { ByOrganization } from "../by-organization.ts";

/** A link that will be written. */
interface Written extends PersonKey {
  readonly link: PersonLink;
}

interface Row {
  readonly id: string;
}

/** Without the index SQLite reads all links of the organization: 10,000 aliases in one request took 50 s
 * instead of 2. */
const ofUser = "identity_links INDEXED BY identity_links_of_user";

/** A link that was not written for this time may be deleted. */
const staleAfterMs = limits.heldEventDays * msPerDay;

function prepare(db: Database) {
  return {
    find: db.prepare<PersonLink & { waits: number }, [number, string]>(
      "SELECT user_id AS userId, at_ms AS atMs, waits FROM identity_links WHERE organization = ? AND id = ?",
    ),
    to: db.prepare<Row, [number, string]>(`SELECT id FROM ${ofUser} WHERE organization = ? AND user_id = ?`),
    countTo: db.prepare<{ links: number }, [number, string]>(
      `SELECT count(*) AS links FROM ${ofUser} WHERE organization = ? AND user_id = ?`,
    ),
    oldestTo: db.prepare<Row, [number, string, number, number]>(
      `SELECT id FROM ${ofUser} WHERE organization = ? AND user_id = ? AND written_at_ms < ?
       ORDER BY written_at_ms, id LIMIT ?`,
    ),
    insert: db.prepare(
      `INSERT INTO identity_links (organization, id, user_id, at_ms, written_at_ms, waits) VALUES (?, ?, ?, ?, ?, ?)`,
    ),
    again: db.prepare(
      "UPDATE identity_links SET at_ms = ?, written_at_ms = ? WHERE organization = ? AND id = ?",
    ),
    delete: db.prepare("DELETE FROM identity_links WHERE organization = ? AND id = ?"),
    identified: db.prepare(`UPDATE ${ofUser} SET waits = 0 WHERE organization = ? AND user_id = ? AND waits`),
    isUser: db.prepare<{ found: number }, [number, string]>(
      "SELECT 1 AS found FROM users WHERE organization = ? AND user_id = ?",
    ),
    isAddress: db.prepare<{ found: number }, [number, string]>(
      "SELECT 1 AS found FROM users WHERE organization = ? AND email_key = ? AND email_key <> '' LIMIT 1",
    ),
    waiting: db.prepare<{ links: number }, [number]>(
      "SELECT links FROM held_event_totals WHERE organization = ?",
    ),
    addWaiting: db.prepare("UPDATE held_event_totals SET links = links + ? WHERE organization = ?"),
  };
}

export class PersonLinks {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #maxWaiting: number;

  /** @param maxWaiting the most links of an organization to users who are not identified */
  constructor(db: Database, maxWaiting: number) {
    this.#statements = prepare(db);
    this.#maxWaiting = maxWaiting;
  }

  find(person: PersonKey): PersonLink | undefined {
    const row = this.#statements.find.get(person.organization, personText(person));
    return row === null ? undefined : { userId: row.userId, atMs: row.atMs };
  }

  /** The ids that are linked to this user. */
  to(organization: number, userId: string): readonly PersonId[] {
    return this.#statements.to.all(organization, userId).map(({ id }) => personOf(id));
  }

  /** Deletes the link of an id. */
  delete({ organization, ...person }: PersonKey): void {
    this.#delete(organization, personText(person));
  }

  /** Adds and updates links as far as there is room. @returns the number of rejected links by organization */
  write(links: readonly Written[], nowMs: number): ReadonlyMap<number, number> {
    const added = new ByOrganization<Written[]>();
    for (const each of links) {
      const { organization, link } = each;
      const id = personText(each);
      const before = this.#statements.find.get(organization, id);
      if (before?.userId === link.userId) {
        this.#statements.again.run(link.atMs, nowMs, organization, id);
        continue;
      }
      this.#delete(organization, id);
      const toUser = added.get(organization, link.userId) ?? [];
      toUser.push(each);
      added.set(organization, link.userId, toUser);
    }
    const refused = new Map<number, number>();
    for (const all of added.values()) {
      const [first] = all;
      if (first === undefined) continue;
      const { organization, link } = first;
      const kept = this.#add(organization, link.userId, all, nowMs);
      if (kept < all.length) refused.set(organization, (refused.get(organization) ?? 0) + all.length - kept);
    }
    return refused;
  }

  /** Links to a user that exists now, or to an address that a user has now, do not wait any more. */
  identified(organization: number, userId: string): void {
    const { changes } = this.#statements.identified.run(organization, userId);
    if (changes > 0) this.#statements.addWaiting.run(-changes, organization);
  }

  /** Adds as many new links to a user as there is room for. @returns their number */
  #add(organization: number, userId: string, all: readonly Written[], nowMs: number): number {
    const linked = this.#statements.countTo.get(organization, userId)?.links ?? 0;
    const over = linked + all.length - limits.linksOfUser;
    const gone =
      over <= 0 ? [] : this.#statements.oldestTo.all(organization, userId, nowMs - staleAfterMs, over);
    for (const { id } of gone) this.#delete(organization, id);
    const waits = !this.#isIdentified(organization, userId);
    const ofUser = limits.linksOfUser - linked + gone.length;
    const waiting = this.#statements.waiting.get(organization)?.links ?? 0;
    const room = waits ? Math.min(ofUser, this.#maxWaiting - waiting) : ofUser;
    const kept = all.slice(0, Math.max(0, room));
    for (const { link, ...person } of kept) {
      this.#statements.insert.run(organization, personText(person), userId, link.atMs, nowMs, Number(waits));
    }
    if (waits) this.#statements.addWaiting.run(kept.length, organization);
    return kept.length;
  }

  #isIdentified(organization: number, userId: string): boolean {
    const { isUser, isAddress } = this.#statements;
    if (isUser.get(organization, userId) !== null) return true;
    return isAddressId(userId) && isAddress.get(organization, addressIn(userId)) !== null;
  }

  #delete(organization: number, id: string): void {
    const found = this.#statements.find.get(organization, id);
    if (found === null) return;
    this.#statements.delete.run(organization, id);
    if (found.waits) this.#statements.addWaiting.run(-1, organization);
  }
}
