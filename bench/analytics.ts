/**
 * What the questions of a morning cost in ONE organization of 100,000 users with 60 event names, loaded through the
 * loader and never optimized by hand, each beside the same question asked of the raw events; and a scoring run.
 *
 *   cli/with-bun bench/analytics.ts [millions of events …, 1 5 20 by default]
 *
 * 20 million take five minutes, most of them to be loaded.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { defaultSettings } from "../contract/settings.ts";
import { activeUsers } from "../server/analytics/active-users.ts";
import { retention } from "../server/analytics/retention.ts";
import type { RetentionQuestion } from "../server/analytics/retention-question.ts";
import { timeline } from "../server/analytics/timeline.ts";
import { msPerDay, Zone } from "../server/calendar/zone.ts";
import { fitBgbb } from "../server/scoring/bgbb-fit.ts";
import { cellsQuery } from "../server/scoring/queries/cell-query.ts";
import { read } from "../server/scoring/queries/query.ts";
import { scoreDay } from "../server/scoring/run/score-day.ts";
import { openChdbWarehouse } from "../server/warehouse/chdb.ts";
import type { Warehouse } from "../server/warehouse/warehouse.ts";
import { loadHistory } from "./history.ts";
import { printTook, timed } from "./timed.ts";

const organization = 1;
const users = 100_000;
const weeks = 26;
const zone = new Zone("UTC");
/** A Monday: the first run of a week trains and back-tests. */
const today = Date.UTC(2026, 5, 1) / msPerDay;

const cohorts: RetentionQuestion = {
  organization,
  entry: { kind: "firstEvent" },
  returnEvent: null,
  period: { name: "week", weekStart: 1 },
  measure: "in",
  split: null,
  fromDay: today - (weeks - 1) * 7,
  toDay: today,
  periods: weeks,
  today,
  transitions: zone.transitions,
};

/** The same questions to the raw events, as one writes them first. */
const raw = {
  retention: `
    SELECT cohort, week, count() AS users
    FROM (SELECT DISTINCT user, toMonday(day) AS week FROM events WHERE organization = {organization:UInt32}) AS active
    INNER JOIN (
      SELECT user, toMonday(min(day)) AS cohort FROM events WHERE organization = {organization:UInt32} GROUP BY user
    ) AS first ON first.user = active.user
    GROUP BY cohort, week`,
  activeUsers: `
    SELECT day, uniqExact(user) AS users FROM events
    WHERE organization = {organization:UInt32} AND day > toDate32('2026-03-03') GROUP BY day`,
};

/** Asks a question, and its raw form beside it. */
async function compare(warehouse: Warehouse, name: string, ask: () => Promise<unknown>, sql: string) {
  const ours = await timed(ask, 9);
  const theirs = await timed(() => warehouse.rows(sql, { organization }), 3);
  printTook(name, ours, `(raw events: ${(theirs.medianMs / ours.medianMs).toFixed(1)} times as long)`);
}

async function scoring(warehouse: Warehouse): Promise<void> {
  const population = { organization, kind: "user", settings: {}, zone } as const;
  const cells = await read<Parameters<typeof fitBgbb>[0][number]>(
    warehouse,
    cellsQuery(population, today, defaultSettings.churnHorizonDays),
  );
  printTook(`fit of BG/BB to ${cells.length} cells`, await timed(async () => fitBgbb(cells), 3));
  for (const [name, day] of [
    ["scoring run, the first of a week", today],
    ["scoring run, another night", today + 1],
  ] as const) {
    const run = {
      organization: { id: organization, zone, settings: defaultSettings },
      day,
      report: () => undefined,
      nowMs: Date.now,
    };
    printTook(name, await timed(() => scoreDay(warehouse, run), 1));
  }
}

async function measure(millions: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-analytics-"));
  const warehouse = await openChdbWarehouse({ folder });
  try {
    const size = { events: millions * 1e6, users, days: weeks * 7, toDay: today };
    const loaded = await loadHistory(warehouse, { organization, ...size });
    console.log(
      `\n${loaded.events} events of ${loaded.users} users, loaded in ${loaded.seconds.toFixed(0)} s`,
    );
    await compare(warehouse, "retention over 26 weeks", () => retention(warehouse, cohorts), raw.retention);
    const split = { trait: "plan", of: "user", asOf: "entry" } as const;
    const byPlan = () => retention(warehouse, { ...cohorts, split });
    await compare(warehouse, "the same by plan as of entry", byPlan, raw.retention);
    const active = { organization, toDay: today, days: 90 };
    await compare(
      warehouse,
      "DAU, WAU, MAU of 90 days",
      () => activeUsers(warehouse, active),
      raw.activeUsers,
    );
    const last = { organization, user: 4_711, limit: 50 };
    printTook("a user's timeline", await timed(() => timeline(warehouse, last), 9));
    await scoring(warehouse);
  } finally {
    await warehouse.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

const sizes = process.argv.slice(2).map(Number);
for (const millions of sizes.length === 0 ? [1, 5, 20] : sizes) await measure(millions);
process.exit(0);
