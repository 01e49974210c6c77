/** Stores held events, with totals of each person and organization. All calls run inside the caller's
 * transaction. */
import type { Database } from "bun:sqlite";
import type { HeldEvent, PersonKey } from "../../rules/held-events.ts";
import { personText } from "../../rules/person-text.ts";

/** A row that will be deleted. */
interface Row {
  readonly id: number;
  readonly person: string;
  readonly bytes: number;
  readonly body: string;
}

interface Totals {
  readonly items: number;
  readonly bytes: number;
}

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
    deletePerson: db.prepare("DELETE FROM held_events WHERE organization = ? AND person = ?"),
    delete: db.prepare("DELETE FROM held_events WHERE id = ?"),
    oldestOfPerson: db.prepare<Row, [number, string]>(
      `SELECT id, person, bytes, body FROM held_events WHERE organization = ? AND person = ?
       ORDER BY received_at_ms, id`,
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
      "UPDATE held_event_totals SET dropped_full = dropped_full + ? WHERE organization = ?",
    ),
    organizations: db.prepare<{ organization: number }, []>("SELECT organization FROM held_event_totals"),
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

  /** Drops a person's oldest items, until the limits are met. @returns the bodies of dropped items */
  dropOldestOf({ organization, ...key }: PersonKey, most: Totals): readonly string[] {
    const person = personText(key);
    const stored = this.#statements.person.get(organization, person);
    if (stored === null) return [];
    let { items, bytes } = stored;
    const dropped: Row[] = [];
    if (items <= most.items && bytes <= most.bytes) return [];
    for (const row of this.#statements.oldestOfPerson.iterate(organization, person)) {
      if (items <= most.items && bytes <= most.bytes) break;
      dropped.push(row);
      items -= 1;
      bytes -= row.bytes;
    }
    this.#drop(organization, dropped);
    return dropped.map(({ body }) => body);
  }

  #drop(organization: number, rows: readonly Row[]): void {
    if (rows.length === 0) return;
    for (const { id, person, bytes } of rows) {
      this.#statements.delete.run(id);
      this.#change(organization, person, { items: -1, bytes: -bytes });
    }
    this.#statements.addDropped.run(rows.length, organization);
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
