/** The parts that tests of the warehouse share: an engine of their own, and events that a seed repeats. */
import { afterAll, beforeAll } from "bun:test";
import { existsSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { WarehouseTable } from "../../server/ledger/inbox.ts";
import { currentSchema, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { countsOfEvents } from "../../server/warehouse/schema/tables.ts";
import { Random } from "../../simulation/random.ts";
import { fillWithTables } from "../program.ts";

export const msPerDay = 86_400_000;

/** Opens the warehouse that belongs to a folder: the embedded one, where a file of tests says nothing
 * else. */
type Opener = (folder: string) => Promise<Warehouse>;
let opener: Opener = (folder) => {
  const warehouse = join(folder, "warehouse");
  if (!existsSync(warehouse)) fillWithTables(warehouse);
  return openChdbWarehouse({ folder: warehouse });
};

/** The tests of the files that are imported after the call are of warehouses that are opened like this. */
export function openWarehousesBy(other: Opener): void {
  opener = other;
}

/** One warehouse for a test file: a process has one data folder. Every test has its own organization. */
export class WarehouseUnderTest {
  readonly #open = opener;
  #warehouse: Warehouse | undefined;
  #folder = "";
  #organization = 0;

  constructor() {
    beforeAll(async () => {
      this.#folder = await mkdtemp(join(tmpdir(), "rekindle-warehouse-"));
      await this.open();
    });
    afterAll(async () => {
      await this.#warehouse?.close();
      await rm(this.#folder, { recursive: true });
    });
  }

  get warehouse(): Warehouse {
    if (this.#warehouse === undefined) throw new Error("the warehouse is not open");
    return this.#warehouse;
  }

  get folder(): string {
    return this.#folder;
  }

  async open(): Promise<void> {
    this.#warehouse = await this.#open(this.#folder);
  }

  newOrganization(): number {
    this.#organization += 1;
    return this.#organization;
  }

  /** Inserts rows as the loader does. */
  async insert(table: WarehouseTable, lines: readonly string[], token: string = crypto.randomUUID()) {
    const body = Buffer.from(lines.map((line) => `${line}\n`).join(""));
    await this.warehouse.insertFrozen({
      table,
      schema: currentSchema[table],
      rows: lines.length,
      body,
      token,
    });
  }

  async count(table: string, organization: number): Promise<number> {
    const sql = `SELECT count() AS count FROM ${table} WHERE organization = {organization:UInt32}`;
    const [row] = await this.warehouse.rows<{ count: number }>(sql, { organization });
    return row?.count ?? 0;
  }
}

/** A seed of its own for every run, which is printed. SEED repeats one. */
export function randomOfThisRun(what: string): Random {
  const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 2 ** 32));
  console.log(`${what}: SEED=${seed}`);
  return new Random(seed);
}

export function event(organization: number, some: Partial<EventRow> = {}): EventRow {
  const timeMs = some.timeMs ?? Date.UTC(2026, 2, 1, 9, 30);
  return {
    organization,
    user: 1,
    account: 0,
    event: "page_viewed",
    timeMs,
    day: Math.floor(timeMs / msPerDay),
    receivedAtMs: timeMs + 5,
    id: eventId(),
    messageId: null,
    properties: "{}",
    ...some,
  };
}

function eventId(): string {
  return crypto.randomUUID().replaceAll("-", "");
}

const eventNames = ["signed_in", "report_created", "invoice_sent"];

/** Events of up to 60 users over 120 days. Some are at the same instant, and some differ only in their id. */
export function randomEvents(random: Random, organization: number, count: number): EventRow[] {
  const beginMs = Date.UTC(2025, 10, 1);
  return Array.from({ length: count }, () =>
    event(organization, {
      user: random.between(1, 60),
      event: random.pick(eventNames),
      account: random.pick([0, 1, 1, 2]),
      timeMs: beginMs + random.between(0, 120 * 24) * 3_600_000 + random.pick([0, 1, 3_599_999]),
    }),
  );
}

/** The same, some of which are no activity. */
export function mixedEvents(random: Random, organization: number, count: number): EventRow[] {
  return randomEvents(random, organization, count).map((one) => ({ ...one, isActivity: random.chance(0.9) }));
}

/** Deletes the record of the migration with this name and of all later ones, as a warehouse of before has
 * them. In two statements: the engine asks a subquery of a deletion anew for each part, when the migration's
 * row may be gone. */
export async function forgetMigrationsFrom({ warehouse }: WarehouseUnderTest, name: string): Promise<void> {
  const [migration] = await warehouse.rows<{ number: number }>(
    "SELECT number FROM migrations WHERE name = {name:String}",
    { name },
  );
  if (migration === undefined) throw new Error(`no migration is named ${name}`);
  await warehouse.command("ALTER TABLE migrations DELETE WHERE number >= {number:UInt32}", migration);
}

/** Inserts events in several batches, a year in each, as the ledger freezes them. */
export async function insertEvents(
  subject: Pick<WarehouseUnderTest, "insert">,
  events: readonly EventRow[],
  batches = 1,
) {
  const perBatch = Math.ceil(events.length / batches);
  for (let start = 0; start < events.length; start += perBatch) {
    const batch = events.slice(start, start + perBatch);
    const years = Map.groupBy(batch, ({ timeMs }) => new Date(timeMs).getUTCFullYear());
    for (const ofYear of years.values()) await subject.insert("events", ofYear.map(eventRow));
  }
}

/** Every rollup of an organization as text, a sorted line for each of its facts. */
export async function rollupsOf({ warehouse }: WarehouseUnderTest, organization: number): Promise<string[]> {
  const where = "WHERE organization = {organization:UInt32}";
  const counts = await warehouse.rows<{ line: string }>(
    `SELECT concat_ws(' ', 'counts_of_events', event, toString(toInt32(day)), toString(times)) AS line
     FROM (SELECT event, day, sum(count) AS times FROM user_event_days ${where} GROUP BY event, day)`,
    { organization },
  );
  const rows = await warehouse.rows<{ line: string }>(
    `SELECT line FROM (
      SELECT concat('event_days ', event, ' ', toString(toInt32(day)), ' ', toString(user)) AS line FROM (
        SELECT event, day, arrayJoin(bitmapToArray(groupBitmapMergeState(users))) AS user
        FROM event_days ${where} GROUP BY event, day)
      UNION ALL
      SELECT concat('active_days ', toString(toInt32(day)), ' ', toString(user)) FROM (
        SELECT day, arrayJoin(bitmapToArray(groupBitmapMergeState(users))) AS user
        FROM active_days ${where} GROUP BY day)
      UNION ALL
      SELECT concat_ws(' ', 'user_event_days', toString(user), toString(toInt32(day)), event,
        toString(account), toString(sum(count)))
      FROM user_event_days ${where} GROUP BY user, day, event, account
      UNION ALL
      SELECT concat_ws(' ', 'user_spans', toString(user), toString(toInt32(min(first_day))),
        toString(toInt32(max(last_day))))
      FROM user_spans ${where} GROUP BY user)`,
    { organization },
  );
  return [...rows, ...counts].map(({ line }) => line).sort();
}

/** The parts of `user_event_days` whose rows the engine would have to sum, because it has no counts beside
 * them. One row of system.parts has all facts about a part, because merges go on meanwhile. */
export async function partsWithoutCounts({ warehouse }: WarehouseUnderTest): Promise<string[]> {
  const rows = await warehouse.rows<{ name: string }>(
    `SELECT name FROM system.parts
     WHERE database = currentDatabase() AND table = '${countsOfEvents.of}' AND active AND rows > 0
       AND NOT has(projections, '${countsOfEvents.name}')
     ORDER BY name`,
  );
  return rows.map(({ name }) => name);
}

/** The same lines as `rollupsOf`, counted here, one event after the other. */
export function recount(events: readonly EventRow[], dayOf: (event: EventRow) => number): string[] {
  const lines = new Set<string>();
  const counts = new Map<string, number>();
  const spans = new Map<number, { first: number; last: number }>();
  for (const one of events.filter(({ isActivity }) => isActivity !== false)) {
    const [{ user, event, account }, day] = [one, dayOf(one)];
    lines.add(`event_days ${event} ${day} ${user}`);
    lines.add(`active_days ${day} ${user}`);
    for (const key of [
      `user_event_days ${user} ${day} ${event} ${account}`,
      `counts_of_events ${event} ${day}`,
    ]) {
      counts.set(key, (counts.get(key) ?? 0) + 1);
    }
    const span = spans.get(user) ?? { first: day, last: day };
    spans.set(user, { first: Math.min(span.first, day), last: Math.max(span.last, day) });
  }
  for (const [key, count] of counts) lines.add(`${key} ${count}`);
  for (const [user, { first, last }] of spans) lines.add(`user_spans ${user} ${first} ${last}`);
  return [...lines].sort();
}
