/** Stores held events, with totals of each person and organization. All calls run inside the caller's transaction. */
import type { Database } from "bun:sqlite";
import {
  bodyWithoutAccount,
  type HeldEvent,
  type HeldEventCounts,
  type PersonKey,
  type PersonWithHeldEvents,
} from "../../ports/held-events.ts";
import { personOf, personText } from "../../rules/person-text.ts";

/** A row that will be deleted. */
interface Row {
  readonly id: number;
  readonly person: string;
  readonly bytes: number;
}

interface Totals {
  readonly items: number;
  readonly bytes: number;
}

/** The reason why an item was dropped. */
export type Dropped = "full" | "expired";

function prepare(db: Database) {
  return {
    items: db.prepare<HeldEvent, [number, string]>(
      `SELECT received_at_ms AS receivedAtMs, at_ms AS atMs, account_id AS accountId, body FROM held_events
       WHERE organization = ? AND person = ? ORDER BY received_at_ms, id`,
    ),
    insert: db.prepare(
      `INSERT INTO held_events (organization, person, received_at_ms, at_ms, account_id, bytes, body)
       VALUES (?, ?, ?, ?, ?, ?, ?)`,
    ),
    naming: db.prepare<{ id: number; body: string }, [number, string]>(
      "SELECT id, body FROM held_events WHERE organization = ? AND account_id = ?",
    ),
    unname: db.prepare("UPDATE held_events SET account_id = NULL, body = ? WHERE id = ?"),
    deletePerson: db.prepare("DELETE FROM held_events WHERE organization = ? AND person = ?"),
    delete: db.prepare("DELETE FROM held_events WHERE id = ?"),
    oldestOfPerson: db.prepare<Row, [number, string]>(
      `SELECT id, person, bytes FROM held_events WHERE organization = ? AND person = ?
       ORDER BY received_at_ms, id`,
    ),
    oldest: db.prepare<Row, [number, number, number]>(
      `SELECT id, person, bytes FROM held_events WHERE organization = ? AND received_at_ms < ?
       ORDER BY received_at_ms, id LIMIT ?`,
    ),
    person: db.prepare<Totals, [number, string]>(
      "SELECT items, bytes FROM held_event_people WHERE organization = ? AND person = ?",
    ),
    setPerson: db.prepare(
      `INSERT INTO held_event_people (organization, person, items, bytes) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET items = excluded.items, bytes = excluded.bytes`,
    ),
    forgetPerson: db.prepare("DELETE FROM held_event_people WHERE organization = ? AND person = ?"),
    begin: db.prepare("INSERT INTO held_event_totals (organization) VALUES (?) ON CONFLICT DO NOTHING"),
    add: db.prepare(
      "UPDATE held_event_totals SET people = people + ?, items = items + ?, bytes = bytes + ? WHERE organization = ?",
    ),
    addDropped: db.prepare(
      `UPDATE held_event_totals SET dropped_full = dropped_full + ?, dropped_expired = dropped_expired + ?
       WHERE organization = ?`,
    ),
    organizations: db.prepare<{ organization: number }, []>("SELECT organization FROM held_event_totals"),
    counts: db.prepare<HeldEventCounts, [number]>(
      `SELECT people, items, bytes, links, dropped_full AS droppedFull, dropped_expired AS droppedExpired,
         (SELECT min(received_at_ms) FROM held_events AS oldest
          WHERE oldest.organization = held_event_totals.organization) AS oldestAtMs
       FROM held_event_totals WHERE organization = ?`,
    ),
    people: db.prepare<Omit<PersonWithHeldEvents, "kind" | "id"> & { person: string }, [number, number]>(
      `SELECT person, items,
         (SELECT min(received_at_ms) FROM held_events AS own
          WHERE own.organization = most.organization AND own.person = most.person) AS oldestAtMs,
         (SELECT max(received_at_ms) FROM held_events AS own
          WHERE own.organization = most.organization AND own.person = most.person) AS newestAtMs
       FROM held_event_people AS most WHERE organization = ? ORDER BY items DESC, person LIMIT ?`,
    ),
  };
}

export class HeldEventRows {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  /** The organizations that ever had held items or links. */
  organizations(): readonly number[] {
    return this.#statements.organizations.all().map(({ organization }) => organization);
  }

  /** Adds the counts of an organization, with zeros. */
  begin(organization: number): void {
    this.#statements.begin.run(organization);
  }

  of(person: PersonKey): readonly HeldEvent[] {
    return this.#statements.items.all(person.organization, personText(person));
  }

  hold({ organization, receivedAtMs, atMs, accountId, body, ...person }: PersonKey & HeldEvent): void {
    const bytes = Buffer.byteLength(body);
    const text = personText(person);
    this.#statements.insert.run(organization, text, receivedAtMs, atMs, accountId, bytes, body);
    this.#change(organization, text, { items: 1, bytes });
  }

  /** Deletes all items of a person. @returns their number */
  take({ organization, ...key }: PersonKey): number {
    const person = personText(key);
    const stored = this.#statements.person.get(organization, person);
    if (stored === null) return 0;
    this.#statements.deletePerson.run(organization, person);
    this.#change(organization, person, { items: -stored.items, bytes: -stored.bytes });
    return stored.items;
  }

  /** Removes an account from the items that name it. Their counted bytes do not change. @returns the number of items */
  leaveAccount(organization: number, accountId: string): number {
    const items = this.#statements.naming.all(organization, accountId);
    for (const { id, body } of items) this.#statements.unname.run(bodyWithoutAccount(body), id);
    return items.length;
  }

  /** Drops a person's oldest items, until the limits are met. @returns the number of dropped items */
  dropOldestOf({ organization, ...key }: PersonKey, most: Totals): number {
    const person = personText(key);
    const stored = this.#statements.person.get(organization, person);
    if (stored === null) return 0;
    let { items, bytes } = stored;
    const dropped: Row[] = [];
    if (items <= most.items && bytes <= most.bytes) return 0;
    for (const row of this.#statements.oldestOfPerson.iterate(organization, person)) {
      if (items <= most.items && bytes <= most.bytes) break;
      dropped.push(row);
      items -= 1;
      bytes -= row.bytes;
    }
    this.#drop(organization, dropped, "full");
    return dropped.length;
  }

  /** Drops at most `limit` of an organization's items that were received before. @returns their number */
  dropBefore(organization: number, beforeMs: number, limit: number): number {
    const dropped = this.#statements.oldest.all(organization, beforeMs, limit);
    this.#drop(organization, dropped, "expired");
    return dropped.length;
  }

  /** Drops at most `limit` of an organization's oldest items, until at most `maxBytes` are left. @returns their number */
  dropOldest(organization: number, maxBytes: number, limit: number): number {
    let bytes = this.counts(organization)?.bytes ?? 0;
    const dropped: Row[] = [];
    for (const row of this.#statements.oldest.iterate(organization, Number.MAX_SAFE_INTEGER, limit)) {
      if (bytes <= maxBytes) break;
      dropped.push(row);
      bytes -= row.bytes;
    }
    this.#drop(organization, dropped, "full");
    return dropped.length;
  }

  counts(organization: number): HeldEventCounts | undefined {
    return this.#statements.counts.get(organization) ?? undefined;
  }

  people(organization: number, limit: number): readonly PersonWithHeldEvents[] {
    const people = this.#statements.people.all(organization, limit);
    return people.map(({ person, ...held }) => ({ ...personOf(person), ...held }));
  }

  #drop(organization: number, rows: readonly Row[], why: Dropped): void {
    if (rows.length === 0) return;
    for (const { id, person, bytes } of rows) {
      this.#statements.delete.run(id);
      this.#change(organization, person, { items: -1, bytes: -bytes });
    }
    const [full, expired] = why === "full" ? [rows.length, 0] : [0, rows.length];
    this.#statements.addDropped.run(full, expired, organization);
  }

  #change(organization: number, person: string, { items, bytes }: Totals): void {
    const before = this.#statements.person.get(organization, person) ?? { items: 0, bytes: 0 };
    const after = { items: before.items + items, bytes: before.bytes + bytes };
    if (after.items === 0) this.#statements.forgetPerson.run(organization, person);
    else this.#statements.setPerson.run(organization, person, after.items, after.bytes);
    const people = Number(after.items > 0) - Number(before.items > 0);
    this.#statements.add.run(people, items, bytes, organization);
  }
}
