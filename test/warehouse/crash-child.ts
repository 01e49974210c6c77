/**
 * The process that `crash.test.ts` kills: a ledger, a loader and a warehouse in one.
 *
 *   bun crash-child.ts load|verify FOLDER
 *
 * `load` acknowledges events as fast as they are loaded, until it is killed. `verify` loads the remaining
 * rows and prints the warehouse's contents. Both first print whether the kill before left events without
 * rollups.
 */

import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { systemTime } from "../../server/process/time.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { Loader } from "../../server/warehouse/load/loader.ts";
import { checkOrganization } from "../../server/warehouse/upkeep/check.ts";
import { Random } from "../../simulation/random.ts";
import { needs, writes } from "../ledger/writes.ts";
import { until } from "../until.ts";

const utcDays = [20_454, 20_455, 20_456];
const msPerDay = 86_400_000;
/** More than this waits for the loader: kills then hit inserts, not idle moments. */
const maxWaitingRows = 3_000;

async function organizationOf({ organizations }: Ledger): Promise<number> {
  const [organization] = await organizations.list();
  return (
    organization ?? (await organizations.create({ name: "acme", timezone: "UTC", nowMs: 1_000 }, settingUp))
  ).id;
}

async function differences(ledger: Ledger, warehouse: Warehouse) {
  return checkOrganization(warehouse, organization, {
    dayCounts: await ledger.dayCounts(organization),
    populations: await ledger.populations(organization),
  });
}

async function acknowledgedEvents(ledger: Ledger): Promise<number> {
  const days = await ledger.dayCounts(organization);
  return days.reduce((sum, { events }) => sum + events, 0);
}

/** Acknowledges events with the ids from + 1 to from + count. */
async function acknowledge(ledger: Ledger, from: number, count: number): Promise<void> {
  const byDay = utcDays.map((utcDay) => ({ utcDay, lines: [] as string[], checksum: 0 }));
  for (let number = from + 1; number <= from + count; number += 1) {
    const day = byDay[number % byDay.length];
    if (day === undefined) throw new Error("there is no such day");
    const timeMs = day.utcDay * msPerDay + number;
    const id = number.toString(16).padStart(32, "0");
    day.checksum = (day.checksum + number) >>> 0;
    day.lines.push(
      eventRow({
        organization,
        user: number % 97,
        account: 0,
        event: `event_${number % 5}`,
        timeMs,
        day: day.utcDay,
        receivedAtMs: timeMs,
        id,
        messageId: null,
        properties: "{}",
      }),
    );
  }
  const body = byDay.flatMap(({ lines }) => lines.map((line) => `${line}\n`)).join("");
  const dayCounts = byDay.map(({ utcDay, lines, checksum }) => ({
    organization,
    utcDay,
    events: lines.length,
    checksum,
  }));
  await ledger.transact(needs({}), () =>
    writes(1_000, {
      inbox: [{ table: "events", year: 2026, schema: currentSchema.events, rows: count, body }],
      dayCounts,
    }),
  );
}

async function load(ledger: Ledger, loader: Loader, random: Random): Promise<never> {
  let acknowledged = await acknowledgedEvents(ledger);
  loader.start();
  while (true) {
    const count = random.between(1, 300);
    await acknowledge(ledger, acknowledged, count);
    acknowledged += count;
    console.log(`acknowledged ${acknowledged}`);
    await until(
      "fewer rows wait",
      () => ledger.inbox.backlog(),
      ({ rows }) => rows <= maxWaitingRows,
    );
  }
}

const [mode, folder = "", seed] = process.argv.slice(2);
const ledger = await openSqliteLedger({ features, file: join(folder, "ledger.sqlite") });
const organization = await organizationOf(ledger);
const warehouse = await openChdbWarehouse({ folder: join(folder, "warehouse") });
const before = await differences(ledger, warehouse);
console.log(`half-written ${before.some(({ kind }) => kind !== "events")}`);
// Small batches: more edges to be killed at.
const loader = new Loader({ time: systemTime, inbox: ledger.inbox, warehouse, maxBatchRows: 1_000 });
await loader.replay();
if (mode === "load") await load(ledger, loader, new Random(Number(seed)));
loader.start();
await loader.drain((await ledger.inbox.backlog()).newestInboxId);
const [stored] = await warehouse.rows(
  "SELECT count() AS events, uniqExact(id) AS ids, max(toUInt128(id)) = ids AS isGapless FROM events",
);
const result = {
  acknowledged: await acknowledgedEvents(ledger),
  stored,
  differences: await differences(ledger, warehouse),
};
console.log(`result ${JSON.stringify(result)}`);
await loader.stop();
await warehouse.close();
await ledger.close();
