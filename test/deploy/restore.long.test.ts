/**
 * Putting a cluster's stores back, as docs/back-up-a-cluster.md says: the warehouse from an older copy,
 * PostgreSQL as it is, and the page's own statements between them. The engines' own tools for backups are not
 * run here.
 */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import { openPool, type Sql } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger, type PostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { currentSchema, type EventRow, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { systemTime } from "../../server/process/time.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { migrate } from "../../server/warehouse/schema/migrations.ts";
import { needs, writes } from "../ledger/writes.ts";
import { PostgresServer } from "../postgres.ts";
import { root } from "../tidy/source-files.ts";
import {
  randomEvents,
  randomOfThisRun,
  recount,
  rollupsOf,
  WarehouseUnderTest,
} from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
let server: PostgresServer;
let ledger: PostgresLedger;
let sql: Sql;

beforeAll(async () => {
  server = await PostgresServer.start();
  const url = await server.database();
  ledger = await openPostgresLedger({ features, url, connections: 4 });
  sql = openPool(url, { connections: 1 });
});
afterAll(async () => {
  await ledger.close();
  await sql.end();
  await server.stop();
});

/** The page's statements, in their order. */
const [unfinished = "", again = ""] = [
  ...readFileSync(join(root, "docs/back-up-a-cluster.md"), "utf8").matchAll(/^ *```sql\n(.*?)^ *```/gms),
].map(([, text = ""]) => text);

async function acknowledge(events: readonly EventRow[]): Promise<void> {
  for (const [year, ofYear] of Map.groupBy(events, ({ timeMs }) => new Date(timeMs).getUTCFullYear())) {
    const body = ofYear.map((event) => `${eventRow(event)}\n`).join("");
    const rows = { table: "events", year, schema: currentSchema.events, rows: ofYear.length, body } as const;
    await ledger.transact(needs({}), () => writes(Date.now(), { inbox: [rows] }));
  }
}

/** Loads all that waits, as an analysis node does from its start to its stop. */
async function load(): Promise<void> {
  const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse: subject.warehouse });
  // The unfinished batch comes first, and then the waiting rows.
  do await loader.replay();
  while ((await ledger.inbox.backlog()).rows > 0);
  await loader.stop();
}

/** The warehouse as it comes out of RESTORE: the tables of then, and no token that was ever sent. */
async function restoreWarehouse(events: readonly EventRow[]): Promise<void> {
  const tables = await subject.warehouse.rows<{ name: string }>(
    "SELECT name FROM system.tables WHERE database = currentDatabase() ORDER BY engine = 'MaterializedView' DESC",
  );
  for (const { name } of tables) await subject.warehouse.command(`DROP TABLE ${name} SYNC`);
  await migrate(subject.warehouse);
  for (const ofYear of Map.groupBy(events, ({ timeMs }) => new Date(timeMs).getUTCFullYear()).values()) {
    await subject.insert("events", ofYear.map(eventRow));
  }
}

async function idsIn(organization: number): Promise<string[]> {
  const rows = await subject.warehouse.rows<{ id: string }>(
    "SELECT replaceAll(toString(id), '-', '') AS id FROM events WHERE organization = {organization:UInt32} ORDER BY id",
    { organization },
  );
  return rows.map(({ id }) => id);
}

const sorted = (events: readonly EventRow[]) => events.map(({ id }) => id.replaceAll("-", "")).sort();

test("rows that the older copy lacks are loaded again from the inbox, once, with their figures", async () => {
  const { id: organization } = await ledger.organizations.create(
    { name: "acme", timezone: "UTC", nowMs: 1 },
    settingUp,
  );
  const random = randomOfThisRun("restore");
  const [copied, later, waiting] = [
    randomEvents(random, organization, 400),
    randomEvents(random, organization, 300),
    randomEvents(random, organization, 50),
  ];
  await acknowledge(copied);
  await load();
  // Fails where the page's first statement gives another number than 0.
  await sql.unsafe(`DO $$ BEGIN ASSERT (${unfinished.trim().replace(/;$/, "")}) = 0; END $$`);
  // What is loaded later has a later millisecond than the backup.
  await Bun.sleep(5);
  const backupMs = Date.now();
  await acknowledge(later);
  await load();
  await acknowledge(waiting);

  await restoreWarehouse(copied);
  expect(await idsIn(organization)).toEqual(sorted(copied));
  await sql.unsafe(again.replaceAll(":backup_ms", String(backupMs)));
  await load();

  const all = [...copied, ...later, ...waiting];
  expect(await idsIn(organization)).toEqual(sorted(all));
  expect(await rollupsOf(subject, organization)).toEqual(recount(all, ({ day }) => day));
  await load();
  expect(await idsIn(organization)).toEqual(sorted(all));
});

test("without the statements the later rows would be missing: the ledger holds them for loaded", async () => {
  const { id: organization } = await ledger.organizations.create(
    { name: "mira", timezone: "UTC", nowMs: 1 },
    settingUp,
  );
  const events = randomEvents(randomOfThisRun("lost"), organization, 20);
  await acknowledge(events);
  await load();
  await restoreWarehouse([]);
  await load();
  expect(await idsIn(organization)).toEqual([]);
});

test("a PostgreSQL that lost its last commits gives no batch a token that ClickHouse remembers", async () => {
  const { id: organization } = await ledger.organizations.create(
    { name: "vega", timezone: "UTC", nowMs: 1 },
    settingUp,
  );
  const random = randomOfThisRun("put back");
  const [kept, lost, later] = [
    randomEvents(random, organization, 20),
    randomEvents(random, organization, 20),
    randomEvents(random, organization, 20),
  ];
  await acknowledge(kept);
  await load();
  await server.copyDisk();
  await acknowledge(lost);
  await load();
  await server.putCopyBack();
  // The copied disk counts on where it was: the same numbers again, for other rows.
  await acknowledge(later);
  await load();
  expect(await idsIn(organization)).toEqual(sorted([...kept, ...lost, ...later]));
});
