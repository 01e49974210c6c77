/** Churn risks of simulated users, compared with the days on which they leave. No log of a real company has
 * these days. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { metricsOf, type Prediction } from "../../server/scoring/statistics/metrics.ts";
import { Simulation } from "../../simulation/simulation.ts";
import { Server } from "../server.ts";
import { withinLimit } from "../until.ts";

export const runsOn = { disk: true };

const users = 2_500;
/** Long enough for a back-test of four cut-offs, and one week more. The back-test runs as of the day that lies
 * 28 days before the end. */
const weeks = 46;
const seed = 11;
const horizonDays = 28;
/** Each day's demonstration is another. A model that is right fails its back-test on some days, and then there is no churn risk. */
const demonstratedAtMs = Date.UTC(2026, 10, 26, 9);
let server: Server;

beforeAll(async () => {
  const aheadMs = demonstratedAtMs - Date.now();
  server = await Server.start({ time: { aheadMs, scheduleMs: null } });
  await server.ready();
}, 180_000);
afterAll(() => server.stop());

/** The churn risk of a user as of a day. Null when there is none. */
async function riskOf(userId: string, day: number, key: string): Promise<number | null> {
  const path = `/api/users/${encodeURIComponent(userId)}/score/history?from=${formatDay(day)}&to=${formatDay(day)}`;
  const response = await withinLimit(() =>
    fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } }),
  );
  if (response.status === 404) return null;
  expect(response.status).toBe(200);
  const { days } = (await response.json()) as {
    readonly days: readonly { readonly risk: number | null }[];
  };
  return days[0]?.risk ?? null;
}

test("users who are about to leave for good have a higher churn risk, four weeks before", async () => {
  const options = ["--users", String(users), "--weeks", String(weeks), "--seed", String(seed)];
  await server.command("demo", "--organization", "Truth", ...options);
  const simulation = new Simulation({ seed, users, weeks, zone: new Zone("UTC"), endMs: server.nowMs() });
  for (const _day of simulation.days());
  const asOf = simulation.lastDay - horizonDays;
  await server.command("score", "--organization", "Truth", "--as-of", formatDay(asOf));
  const key = (await server.command("key", "create", "--organization", "Truth")).trim();

  // Users who leave with a whole account may be healthy until that day. Up to 40 of them are one event.
  const people = simulation.truth.users.filter(
    ({ kind, departedDay, departure }) =>
      kind === "person" && departure !== "with_account" && (departedDay === null || departedDay >= asOf),
  );
  const predictions: Prediction[] = [];
  for (const { userId, departedDay } of people) {
    const predicted = await riskOf(userId, asOf, key);
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
