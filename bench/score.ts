/**
 * Measures scoring runs: the first of a week, which trains and back-tests, and those of other nights.
 *
 *   cli/with-bun bench/score.ts [events] [users]
 *
 * Users come in on days of a habit of their own and leave one after the other, within 400 days.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSettings } from "../contract/settings.ts";
import { Zone } from "../server/calendar/zone.ts";
import { scoreDay } from "../server/scoring/run/score-day.ts";
import { openChdbWarehouse } from "../server/warehouse/chdb.ts";

const [events = 1_000_000, users = 100_000] = process.argv.slice(2).map(Number);
const firstDay = 20_000;
const days = 400;
const folder = mkdtempSync(join(tmpdir(), "rekindle-bench-"));
const warehouse = await openChdbWarehouse({ folder });
try {
  await timed(`${events} events of ${users} users`, () => fill());
  const organization = { id: 1, zone: new Zone("UTC"), settings: defaultSettings };
  // A Monday and the day after it: the second night has a model already.
  const monday = firstDay + days - ((firstDay + days - 4) % 7);
  for (const [what, day] of [
    ["the first run of a week", monday],
    ["another night", monday + 1],
  ] as const) {
    let lastMs = performance.now();
    let lastStep = "";
    const report = (step: string) => {
      if (lastStep !== "")
        console.log(`    ${lastStep}: ${((performance.now() - lastMs) / 1_000).toFixed(2)} s`);
      [lastMs, lastStep] = [performance.now(), step];
    };
    await timed(what, async () => {
      const kinds = await scoreDay(warehouse, { organization, day, report });
      report("");
      for (const { kind, entities, rung } of kinds) console.log(`    ${entities} ${kind}s, rung ${rung}`);
    });
  }
} finally {
  await warehouse.close();
  rmSync(folder, { recursive: true, force: true });
}

async function timed(what: string, work: () => Promise<void>): Promise<void> {
  const startedMs = performance.now();
  await work();
  console.log(`${what}: ${((performance.now() - startedMs) / 1_000).toFixed(2)} s`);
}

/** Every user has a first day, a last day and a number of events in between; 5,000 accounts. */
async function fill(): Promise<void> {
  const batch = 500_000;
  for (let from = 0; from < events; from += batch) {
    await warehouse.command(
      `INSERT INTO events SETTINGS insert_deduplicate = 0
       SELECT 1, user, 1 + user % 5000, ['opened', 'saved', 'shared', 'exported'][1 + cityHash64(number, 3) % 4],
         toDateTime64(day * 86400 + cityHash64(number, 4) % 86400, 3, 'UTC'), addDays(toDate32('1970-01-01'), day),
         toDateTime64(day * 86400, 3, 'UTC'), generateUUIDv4(), false, '', '{}'
       FROM (
         SELECT number, toUInt32(1 + cityHash64(number) % {users:UInt32}) AS user,
           cityHash64(user, 1) % 300 AS begins, 1 + cityHash64(user, 2) % (${days} - begins) AS span,
           toInt32(${firstDay} + begins + cityHash64(number, 5) % span) AS day
         FROM numbers({from:UInt64}, {count:UInt64}))`,
      { users, from, count: Math.min(batch, events - from) },
      { maxSeconds: 600 },
    );
  }
}
