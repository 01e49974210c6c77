/** Users who are excluded after a run: they leave all scores at once, and nobody else is scored again for
 * it. */
import { expect, test } from "bun:test";
import { healthByWeek } from "../../server/scoring/queries/lists/health-by-week.ts";
import {
  countBands,
  countListed,
  historyOf,
  type ListQuestion,
  listScores,
  movementBetween,
  type OfRun,
  scoreOf,
} from "../../server/scoring/queries/lists/reading.ts";
import { toCallQuery } from "../../server/scoring/queries/lists/to-call.ts";
import { rowsOf } from "../../server/scoring/run/entity.ts";
import { listRuns } from "../../server/scoring/run/records.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all } from "./run-support.ts";

const subject = new WarehouseUnderTest();

async function exclude(organization: number, revision: number, users: readonly number[]): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO excluded_users SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, {revision:UInt64}, groupBitmapState(user)
     FROM (SELECT arrayJoin({users:Array(UInt32)}) AS user)`,
    { organization, revision, users },
  );
}

async function runOf(organization: number, day: number): Promise<OfRun> {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run === undefined) throw new Error("no run");
  return rowsOf(organization, "user", run);
}

/** How many users each reader of scores finds. */
async function found(organization: number, today: number) {
  const { warehouse } = subject;
  const [run, earlier] = [await runOf(organization, today), await runOf(organization, today - 1)];
  const sum = (counts: readonly { readonly count: number }[]) =>
    counts.reduce((total, { count }) => total + count, 0);
  const question: ListQuestion = {
    run,
    earlier,
    riskLimits: absoluteRiskScale,
    sort: "health",
    descending: true,
    limit: 100,
    offset: 0,
  };
  const call = toCallQuery({ run, highRisk: -1, weekBefore: earlier, controls: [] });
  const called = await warehouse.rows<{ count: number }>(
    `SELECT count() AS count FROM (${call.sql})`,
    call.parameters,
  );
  const [week] = await healthByWeek(warehouse, { organization, kind: "user", day: today, weeks: 1 });
  return {
    listed: (await listScores(warehouse, question)).length,
    counted: await countListed(warehouse, question),
    bands: sum(await countBands(warehouse, run, absoluteRiskScale)),
    moved: sum(await movementBetween(warehouse, run, earlier)),
    called: sum(called),
    week: (week?.healthy ?? 0) + (week?.watch ?? 0) + (week?.atRisk ?? 0) + (week?.onboarding ?? 0),
    own: (await scoreOf(warehouse, run, 2)) === undefined ? 0 : 1,
    days: (await historyOf(warehouse, "user", { organization, entity: 2, fromDay: 0, toDay: today })).length,
  };
}

test("an excluded user has no score at once, the others keep theirs, and the next night leaves the user out", async () => {
  const installation = new Installation(subject, 200);
  const id = installation.organization();
  await installation.insert(all(id, 5, [186, 188, 190, 193, 195, 197, 198, 199]));
  await installation.finish();
  const versions = async () =>
    (await listRuns(subject.warehouse, id)).map(({ day, settingsKey }) => [day, settingsKey]);
  const [before, runs] = [await found(id, 200), await versions()];
  expect(before).toMatchObject({ listed: 5, counted: 5, bands: 5, moved: 5, week: 5, own: 1 });
  expect(before.days).toBeGreaterThan(5);
  await exclude(id, 1, [2, 3]);
  expect(await installation.work()).toBe(0);
  expect(await versions()).toEqual(runs);
  const hidden = await found(id, 200);
  expect(hidden).toMatchObject({ listed: 3, counted: 3, bands: 3, moved: 3, week: 3, own: 0, days: 0 });
  expect(hidden.called).toBe((before.called * 3) / 5);
  // A rule that is removed before the next run has changed nothing.
  await exclude(id, 2, []);
  expect(await found(id, 200)).toEqual(before);
  await exclude(id, 3, [2]);
  installation.today = 201;
  expect(await installation.work()).toBe(1);
  await exclude(id, 4, []);
  const next = await runOf(id, 201);
  expect(await scoreOf(subject.warehouse, next, 2)).toBeUndefined();
  expect(await scoreOf(subject.warehouse, next, 3)).toBeDefined();
});
