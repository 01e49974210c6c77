/**
 * The cost of the dashboard's main figures in ONE organization of 100,000 users with 60 event names, loaded
 * through the loader and never optimized by hand. Each is compared with the same figure from raw events, and
 * with its aim. Also the fit of BG/BB. Scoring runs are measured by nights.ts.
 *
 *   cli/with-bun bench/analytics.ts [millions of events …, 1 5 20 by default]
 *
 * 20 million take five minutes, most of them for loading.
 */
import { withTemporaryWarehouse } from "../cli/backtest/warehouse.ts";
import { defaultSettings } from "../contract/settings.ts";
import { activeUsers } from "../server/analytics/active-users.ts";
import { timeline } from "../server/analytics/entities/timeline.ts";
import { eventsByValue } from "../server/analytics/events-by-value.ts";
import { retention } from "../server/analytics/retention/retention.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import { fitBgbb } from "../server/scoring/churn/bgbb-fit.ts";
import { cellsQuery } from "../server/scoring/queries/cell-query.ts";
import { read } from "../server/scoring/queries/query.ts";
import { snapshotFor } from "../server/scoring/queries/stored-snapshots.ts";
import type { Warehouse } from "../server/warehouse/engine/warehouse.ts";
import { loadHistory, weeklyRetention } from "./history/history.ts";
import { rawRetention } from "./history/raw-retention.ts";
import { printTook, type Took, timed } from "./history/timed.ts";

const organization = 1;
const users = 100_000;
const weeks = 26;
const zone = new Zone("UTC");
const today = Date.UTC(2026, 5, 1) / msPerDay;

const cohorts = weeklyRetention(organization, {
  fromDay: today - (weeks - 1) * 7,
  toDay: today,
  periods: weeks,
});

/** The users of each day, of the raw events. */
const rawActiveUsers = `
  SELECT day, uniqExact(user) AS users FROM events
  WHERE organization = {organization:UInt32} AND day > toDate32('2026-03-03') GROUP BY day`;

/** Events and users of the last 7 days by value of a property, in the order in which events are stored. */
const rawByProperty = `
  SELECT JSONExtractRaw(properties, 'n') AS value, count(), uniqExact(user) FROM events
  WHERE organization = {organization:UInt32} AND day > toDate32('2026-05-25') GROUP BY day, value
  SETTINGS optimize_use_projections = 0`;

/** The aim for 20 million events; the ratio is to the raw query in its simplest form. */
interface Aim {
  readonly ms: number;
  readonly times?: number;
}

const verdict = (isMet: boolean) => (isMet ? "met" : "MISSED");
const withinMs = ({ bestMs }: Took, { ms }: Aim) => `aim ${ms} ms: ${verdict(bestMs < ms)}`;

/** Times a figure and its raw forms. */
async function compare(
  warehouse: Warehouse,
  name: string,
  { ask, forms, aim }: { ask: () => Promise<unknown>; forms: Record<string, string>; aim: Aim },
): Promise<void> {
  const ours = await timed(ask, 9);
  printTook(name, ours, withinMs(ours, aim));
  for (const [index, [form, sql]] of Object.entries(forms).entries()) {
    const theirs = await timed(() => warehouse.rows(sql, { organization }), 3);
    const ratio = theirs.medianMs / ours.medianMs;
    const { times } = aim;
    const wanted = times === undefined || index > 0 ? "" : `, aim ${times}: ${verdict(ratio >= times)}`;
    printTook(`  raw events, ${form}`, theirs, `${ratio.toFixed(1)} times as long${wanted}`);
  }
}

async function fitting(warehouse: Warehouse): Promise<void> {
  const population = { organization, kind: "user", settings: {}, zone } as const;
  const readCells = async () =>
    read<Parameters<typeof fitBgbb>[0][number]>(
      warehouse,
      cellsQuery(
        population,
        await snapshotFor(warehouse, population, today),
        defaultSettings.churnHorizonDays,
      ),
    );
  const cells = await readCells();
  const fit = await timed(async () => fitBgbb(await readCells()), 3);
  printTook(`cells of BG/BB and the fit to ${cells.length}`, fit, withinMs(fit, { ms: 1_000 }));
}

async function measure(warehouse: Warehouse, millions: number): Promise<void> {
  const size = { events: millions * 1e6, users, days: weeks * 7, toDay: today };
  const loaded = await loadHistory(warehouse, { organization, ...size });
  console.log(
    `\n${loaded.events} events of ${loaded.users} users, loaded in ${loaded.seconds.toFixed(0)} s (aims are those for 20 million)`,
  );
  await compare(warehouse, "retention over 26 weeks", {
    ask: () => retention(warehouse, cohorts),
    forms: { "a join": rawRetention.join, "one pass": rawRetention.onePass },
    aim: { ms: 25, times: 40 },
  });
  const split = { trait: "plan", of: "user", asOf: "entry" } as const;
  await compare(warehouse, "the same by plan as of entry", {
    ask: () => retention(warehouse, { ...cohorts, split }),
    forms: { "a join": rawRetention.byPlan },
    aim: { ms: 150 },
  });
  const active = { organization, toDay: today, days: 90, passiveEvents: [] };
  await compare(warehouse, "DAU, WAU, MAU of 90 days", {
    ask: () => activeUsers(warehouse, active),
    forms: { "of each day only": rawActiveUsers },
    aim: { ms: 30 },
  });
  const byProperty = { organization, event: "", toDay: today, top: 8, by: "property", key: "n" } as const;
  await compare(warehouse, "last 7 days by a property", {
    ask: () => eventsByValue(warehouse, { ...byProperty, period: "day" as const, periods: 7, weekStart: 1 }),
    forms: { "properties parsed once": rawByProperty },
    aim: { ms: 500, times: 3 },
  });
  const passive = { ...active, passiveEvents: ["event_3", "event_9"] };
  const filtered = await timed(() => activeUsers(warehouse, passive), 9);
  printTook("the same with two passive events", filtered);
  const last = { organization, user: 4_711, limit: 50 };
  const line = await timed(() => timeline(warehouse, last), 9);
  printTook("a user's timeline", line, withinMs(line, { ms: 20 }));
  await fitting(warehouse);
}

const sizes = process.argv.slice(2).map(Number);
for (const millions of sizes.length === 0 ? [1, 5, 20] : sizes) {
  await withTemporaryWarehouse((warehouse) => measure(warehouse, millions));
}
process.exit(0);
