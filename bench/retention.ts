/**
 * The cost of retention from bitmaps, compared with the same query on raw events in the same run: 26 weeks of
 * 100,000 users with 60 event names, all together and split by plan as of entry. The answers are compared.
 *
 *   cli/with-bun bench/retention.ts [millions of events, 1 by default] [folder to keep the warehouse in]
 */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { retention } from "../server/analytics/retention/retention.ts";
import type { RetentionQuestion } from "../server/analytics/retention/retention-question.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { loadHistory, weeklyRetention } from "./history/history.ts";
import { rawRetention } from "./history/raw-retention.ts";
import { printTook, type Took, timed } from "./history/timed.ts";

const repeats = 15;
const organization = 1;
const today = Date.UTC(2026, 5, 1) / msPerDay;
const weeks = 26;
const fromDay = today - (weeks - 1) * 7;

const base = weeklyRetention(organization, { fromDay, toDay: today, periods: weeks });
const byPlan = { trait: "plan", of: "user", asOf: "entry" } as const;
const questions: Record<string, Partial<RetentionQuestion>> = {
  "all users": {},
  "all users, in or after": { measure: "inOrAfter" },
  "all users, two passive events": { passiveEvents: ["event_3", "event_9"] },
  "all users, two passive events, in or after": {
    passiveEvents: ["event_3", "event_9"],
    measure: "inOrAfter",
  },
  "returning by the commonest event": { returnEvent: "event_0" },
  "entering by the commonest event": { entry: { kind: "event", event: "event_0" } },
  "from sign-up": { entry: { kind: "signUp" } },
  "by plan as of entry": { split: byPlan },
  "by plan as of entry, in or after": { split: byPlan, measure: "inOrAfter" },
  "by plan as it is now": { split: { ...byPlan, asOf: "now" } },
  "by the account's plan as of entry": { split: { ...byPlan, of: "account" } },
};

const raw: Record<string, string> = {
  "all users, a join": rawRetention.join,
  "all users, one pass": rawRetention.onePass,
  "by plan as of entry, a join": rawRetention.byPlan,
};

const millions = Number(process.argv[2] ?? 1);
const kept = process.argv[3];
const folder = kept ?? mkdtempSync(join(tmpdir(), "rekindle-retention-"));
const isThere = kept !== undefined && existsSync(kept);
const warehouse = await openChdbWarehouse({ folder });
if (!isThere) {
  const history = { organization, events: millions * 1e6, users: 100_000, days: weeks * 7, toDay: today };
  const { events, users, seconds } = await loadHistory(warehouse, history);
  console.log(`${events} events of ${users} users loaded in ${seconds.toFixed(0)} s`);
}
const times = new Map<string, Took>();
for (const [name, more] of Object.entries(questions)) {
  const took = await timed(() => retention(warehouse, { ...base, ...more }), repeats);
  times.set(name, took);
  printTook(name, took);
}
for (const [name, sql] of Object.entries(raw)) {
  const took = await timed(() => warehouse.rows(sql, { organization }), 5);
  const ours = times.get(name.slice(0, name.lastIndexOf(",")));
  const ratio = (figure: keyof Took) => (took[figure] / (ours?.[figure] ?? 1)).toFixed(1);
  printTook(
    `raw events: ${name}`,
    took,
    `(${ratio("bestMs")} times as long, ${ratio("cpuMs")} times the CPU)`,
  );
}
const cells = await Promise.all([base, { ...base, split: byPlan }].map((one) => retention(warehouse, one)));
const counted = (
  await warehouse.rows<{ week: string; cohort: string; users: number }>(rawRetention.onePass, {
    organization,
  })
)
  .filter(({ cohort }) => Date.parse(cohort) / msPerDay > fromDay - 7)
  .reduce((sum, { users }) => sum + users, 0);
const sums = cells.map((table) => table.cells.reduce((sum, { users }) => sum + users, 0));
const isSame = sums.every((sum) => sum === counted);
console.log(`active users of all cells: ${sums.join(", ")}; from raw events ${counted}`);
await warehouse.close();
if (kept === undefined) rmSync(folder, { recursive: true, force: true });
process.exit(isSame ? 0 : 1);
