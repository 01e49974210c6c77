/** What changed rules of scores changed is set apart from what customers did, in whatever order days are
 * scored. */
import { expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { highRiskMoves } from "../../server/scoring/queries/lists/high-risk-moves.ts";
import { movementBetween, type OfRun, scoresWithChange } from "../../server/scoring/queries/lists/reading.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { Random } from "../../simulation/random.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { on } from "./run-support.ts";

/** An order takes 12 s of processor time. */
const orders = process.env.TEST_SAMPLE === "1" ? 1 : 3;
const subject = new WarehouseUnderTest();
const [momentum, engagement] = [{ momentum: 100 }, { engagement: 100 }].map(
  (weights): Settings => ({
    ...defaultSettings,
    healthWeights: { engagement: 0, outlook: 0, momentum: 0, adoption: 0, ...weights },
  }),
) as [Settings, Settings];

/** Twelve users who come every day, of whom the last three stop before day 194, on days under these settings,
 * scored in an order. */
async function scored(settingsOf: (day: number) => Settings, days: readonly number[]) {
  const installation = new Installation(subject, 200);
  const organization = installation.organization();
  const events = Array.from({ length: 12 }, (_, user) =>
    Array.from({ length: 90 }, (__, index) => 110 + index)
      .filter((day) => day < 200 && (user < 9 || day < 194))
      .map((day) => on(organization, user + 1, day)),
  ).flat();
  await installation.insert(events);
  const { scoring } = installation;
  if (scoring === undefined) throw new Error("no scoring");
  for (const day of days) {
    installation.settings = settingsOf(day);
    const known = { id: organization, timezone: "UTC", eventsFromDay: null } as Organization;
    await scoring.scoreAsOf(
      await scoring.scoredOrganization(known),
      { day, isOfPast: true },
      () => undefined,
    );
  }
  const run = async (day: number): Promise<OfRun> => {
    const found = await newestRun(subject.warehouse, organization, "user", day);
    if (found === undefined) throw new Error(`no run of ${day}`);
    return { organization, kind: "user", day: found.day, rowsVersion: found.body.rowsVersion };
  };
  return run;
}

async function changes(now: OfRun, before: OfRun): Promise<(number | null)[]> {
  const { sql, parameters } = scoresWithChange(now, before);
  const rows = await subject.warehouse.rows<{ change: number | null }>(
    `SELECT change FROM (${sql}) ORDER BY entity`,
    parameters,
  );
  return rows.map(({ change }) => change);
}

test("another weight of health moves nobody, and who fell meanwhile has fallen by as much as without it", async () => {
  const days = [193, 195, 197, 199];
  const changed = await scored((day) => (day < 197 ? momentum : engagement), days);
  const [before, now] = [await changed(193), await changed(199)];
  const movement = await movementBetween(subject.warehouse, now, before);
  const byRules = movement.reduce((sum, each) => sum + each.byRules, 0);
  // Momentum is 50 for those who go on as before: watch. Their engagement is full: healthy.
  expect(byRules).toBe(9);
  expect(movement).toContainEqual({ from: "watch", to: "healthy", count: 9, byRules: 9 });
  const fell = await changes(now, before);
  expect(fell.slice(0, 9).map((change) => Math.abs(change ?? Number.NaN) < 1e-9)).toEqual(
    Array.from({ length: 9 }, () => true),
  );
  // By momentum until the 195th day, and by engagement from the 197th on.
  const [all, later] = [await scored(() => momentum, days), await scored(() => engagement, days)];
  const ofMomentum = await changes(await all(197), await all(193));
  const ofEngagement = await changes(await later(199), await later(197));
  for (const user of [9, 10, 11]) {
    expect(fell[user]).toBeLessThan(0);
    expect(fell[user]).toBeCloseTo((ofMomentum[user] ?? 0) + (ofEngagement[user] ?? 0), 6);
  }
});

test("the order in which days are scored, and scored again, changes nothing", async () => {
  const random = new Random(7);
  const settingsOf = (day: number) => (day % 3 === 0 ? engagement : momentum);
  const days = [192, 193, 194, 195, 196, 197, 198, 199, 200];
  const answer = async (run: (day: number) => Promise<OfRun>) =>
    Promise.all(
      [192, 195, 198].map(async (day) => {
        const [now, before] = [await run(200), await run(day)];
        const moves = await highRiskMoves(
          subject.warehouse,
          { run: now, highRisk: 0.5 },
          { run: before, highRisk: 0.5 },
          100,
        );
        return [await movementBetween(subject.warehouse, now, before), await changes(now, before), moves];
      }),
    );
  const right = await answer(await scored(settingsOf, days));
  expect(JSON.stringify(right)).toContain('"byRules":9');
  for (let order = 0; order < orders; order += 1) {
    const mixed = days.map((day) => [random.next(), day] as const).toSorted(([a], [b]) => a - b);
    const again = [...mixed, ...mixed.slice(0, 3)].map(([, day]) => day);
    expect(await answer(await scored(settingsOf, again))).toEqual(right);
  }
});
