/** Churn risks of simulated users, compared with the days on which they leave. No log of a real company has
 * these days. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { formatDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { Simulation } from "../../simulation/simulation.ts";
import { Server } from "../server.ts";

const users = 2_500;
/** Long enough for a back-test of four cut-offs, and one week more. The back-test runs as of the day that
 * lies 28 days before the end. */
const weeks = 46;
const seed = 11;
const horizonDays = 28;
/** Each day's demonstration is another. A model that is right fails its back-test on some days, and then
 * there is no churn risk. */
const demonstratedAtMs = Date.UTC(2026, 10, 26, 9);
let server: Server;

beforeAll(async () => {
  const aheadMs = demonstratedAtMs - Date.now();
  server = await Server.start({ time: { aheadMs, scheduleMs: null } });
  await server.ready();
});
afterAll(() => rmSync(server.dataDir, { recursive: true, force: true }));

/** The churn risks of all users as of a day, from the tables: the API has those of the newest day. Null where
 * there is none. */
async function readRisks(day: number): Promise<ReadonlyMap<string, number | null>> {
  await server.kill("SIGTERM");
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(server.dataDir) });
  try {
    const rows = await warehouse.rows<{ id: string; risk: number | null }>(
      `SELECT user_id AS id, risk
       FROM (SELECT organization, user, risk FROM user_scores FINAL
         WHERE day = addDays(toDate32('1970-01-01'), {day:Int32})) AS scores
       INNER JOIN (SELECT organization, user, user_id FROM users FINAL) AS named USING (organization, user)`,
      { day },
    );
    return new Map(rows.map(({ id, risk }) => [id, risk]));
  } finally {
    await warehouse.close();
  }
}

test("users who are about to leave for good have a higher churn risk, four weeks before", async () => {
  const options = ["--users", String(users), "--weeks", String(weeks), "--seed", String(seed)];
  await server.command("demo", "--no-team", "--organization", "Truth", ...options);
  const simulation = new Simulation({ seed, users, weeks, zone: new Zone("UTC"), endMs: server.nowMs() });
  for (const _day of simulation.days());
  const asOf = simulation.lastDay - horizonDays;
  await server.command("score", "--organization", "Truth", "--as-of", formatDay(asOf));

  // Users who leave with a whole account may be healthy until that day. Up to 40 of them are one event.
  const people = simulation.truth.users.filter(
    ({ kind, departedDay, departure }) =>
      kind === "person" && departure !== "with_account" && (departedDay === null || departedDay >= asOf),
  );
  const risks = await readRisks(asOf);
  const predictions: Prediction[] = [];
  for (const { userId, departedDay } of people) {
    const predicted = risks.get(userId) ?? null;
    const label = departedDay !== null && departedDay < asOf + horizonDays;
    if (predicted !== null) predictions.push({ predicted, label });
  }
  const metrics = metricsOf(predictions);
  console.log(
    `${metrics?.count} people, ${metrics?.baseRate.toFixed(3)} left, AUC ${metrics?.auc?.toFixed(3)}`,
  );
  expect(metrics?.count).toBeGreaterThan(800);
  expect(metrics?.baseRate).toBeWithin(0.01, 0.3);
  // Many leave without a sign. Some 40 leavers give the AUC, .69 usually, a standard error of .04.
  expect(metrics?.auc).toBeGreaterThan(0.58);
});
