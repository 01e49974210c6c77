/** The stored data of 0.1.0 for an organization whose BG/BB had parameters by segment. This version reads and
 * serves it. */
import { beforeAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { servingResult } from "../../server/scoring/churn/ladder.ts";
import { listScores } from "../../server/scoring/queries/lists/reading.ts";
import { changeBetween, explainedScore, rowsOf } from "../../server/scoring/run/entity.ts";
import { modelChanges } from "../../server/scoring/run/model-changes.ts";
import type { RunBody } from "../../server/scoring/run/record-bodies.ts";
import { listRuns, recordOf, type ScoreRecord } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { fillScoreRecords } from "../warehouse/score-records-migration.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { all } from "./run-support.ts";

/** Written by 0.1.0 for 300 users of two plans. All of the reliability tables but their first rows are left
 * out. */
const stored = JSON.parse(readFileSync(join(import.meta.dir, "segments-of-0.1.0.json"), "utf8")) as {
  readonly run: { readonly day: number; readonly body: Record<string, unknown> & { rowsVersion: number } };
  readonly model: { readonly day: number; readonly body: Record<string, unknown> };
  readonly userScores: readonly (Record<string, unknown> & {
    user: number;
    engagement: number;
    health: number;
    risk: number | null;
    return_probability: number | null;
    traits: string;
  })[];
};
const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const organization = subject.newOrganization();
const { day } = stored.run;
/** Before the run's end, so that the two times differ. */
const firstPublishedAtMs = 1_795_372_000_000;
const asked = { id: organization, zone, settings: defaultSettings };

beforeAll(async () => {
  for (const what of ["run", "model"] as const) {
    const { day: onDay, body } = stored[what];
    await subject.warehouse.command(
      `INSERT INTO score_records (organization, kind, what, day, version, stale, body) SETTINGS insert_deduplicate = 0
       SELECT {organization:UInt32}, 'user', {what:String}, addDays(toDate32('1970-01-01'), {onDay:Int32}), 1, false,
         {body:String}`,
      {
        organization,
        what,
        onDay,
        body: JSON.stringify(what === "run" ? { ...body, toldAtMs: firstPublishedAtMs } : body),
      },
    );
  }
  // The migration that fills the columns of such records.
  await fillScoreRecords(subject.warehouse);
  for (const { traits, ...row } of stored.userScores) {
    const columns = Object.keys(row);
    const values = Object.values(row).map((value) => (typeof value === "string" ? `'${value}'` : value));
    await subject.warehouse.command(
      `INSERT INTO user_scores (organization, day, version, traits, ${columns.join(", ")})
       SETTINGS insert_deduplicate = 0
       SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), {day:Int32}), {version:UInt64},
         reinterpretAsUInt64(unhex('${traits}')), ${values.map((value) => value ?? "NULL").join(", ")}`,
      { organization, day, version: stored.run.body.rowsVersion },
    );
  }
});

async function olderRun(): Promise<ScoreRecord<RunBody>> {
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run === undefined) throw new Error("the run cannot be read");
  return run;
}

test("its scores are listed and explained as they were, each by the parameters of its segment", async () => {
  const run = await olderRun();
  const listed = await listScores(subject.warehouse, {
    run: rowsOf(organization, "user", run),
    earlier: undefined,
    sort: "risk",
    descending: true,
    riskLimits: run.body.riskScale,
    limit: 100,
    offset: 0,
  });
  expect(listed).toHaveLength(stored.userScores.length);
  for (const { user, engagement, health, risk, return_probability } of stored.userScores) {
    const found = await explainedScore(
      subject.warehouse,
      { organization: asked, kind: "user", entity: user },
      run,
    );
    if (found === undefined) throw new Error(`user ${user} has no score`);
    const { explanation } = found;
    expect(explanation.engagement?.score).toBeCloseTo(engagement, 9);
    expect(explanation.health.score).toBeCloseTo(health, 9);
    if (risk === null) expect(explanation.risk).toBeNull();
    else {
      expect(explanation.risk).toBeCloseTo(risk, 9);
      const { referenceRisk = 0, reasons = [] } = explanation.reasons ?? {};
      const points = reasons.reduce((sum, reason) => sum + reason.points, 0);
      expect(100 * referenceRisk + points).toBeCloseTo(100 * risk, 9);
    }
    if (return_probability === null) expect(explanation.returnProbability).toBeNull();
    else expect(explanation.returnProbability).toBeCloseTo(return_probability, 9);
  }
});

test("the time of its first publication is read by the name that it had", async () => {
  expect((await olderRun()).body.firstPublishedAtMs).toBe(firstPublishedAtMs);
  expect(await listRuns(subject.warehouse, organization)).toMatchObject([{ day, firstPublishedAtMs }]);
});

test("its model is shown with the figures by which it was chosen", async () => {
  const { body } = await olderRun();
  expect(body.choice).toMatchObject({ rung: 2, isProven: true });
  expect(body.backtest.results.map(({ model }) => model)).toEqual([
    "rung 1",
    "rung 2",
    "rung 3",
    "recency",
    "hiatus",
  ]);
  const bySegment = (stored.run.body.backtest as RunBody["backtest"]).results.find(
    ({ model }) => (model as string) === "rung 2 by segment",
  );
  if (bySegment === undefined) throw new Error("the stored run has figures by segment");
  expect(servingResult(body.choice, body.backtest)?.metrics).toEqual({
    ...bySegment.metrics,
    calibrationSlopeError: null,
    biasError: null,
  });
});

test("this version scores the next day with the other models of that training, and tells the change", async () => {
  await insertEvents(
    subject,
    all(
      organization,
      80,
      Array.from({ length: 30 }, (_, index) => day - 3 * index - 1),
    ),
  );
  const kept = await recordOf(
    subject.warehouse,
    { organization, kind: "user", what: "model" },
    stored.model.day,
  );
  expect(kept?.body.rungs.map(({ rung }) => rung)).toEqual([0, 1, 2]);
  await scoreDay(subject.warehouse, {
    organization: asked,
    day: day + 1,
    nowMs: Date.now,
    report: () => undefined,
  });
  const now = await newestRun(subject.warehouse, organization, "user", day + 1);
  expect(now?.body).toMatchObject({ trainedDay: stored.model.day, entities: 80 });
  expect((await listRuns(subject.warehouse, organization)).map((run) => run.day)).toContain(day);
  await modelChanges(subject.warehouse, { organization, kind: "user" });
  const someone = stored.userScores.find(({ user, risk }) => user <= 80 && risk !== null);
  if (now === undefined || someone === undefined) throw new Error("nobody has a risk on both days");
  const change = await changeBetween(
    subject.warehouse,
    { organization: asked, kind: "user", entity: someone.user },
    await olderRun(),
    now,
  );
  expect(change?.risk).not.toBeNull();
  const { total = 0, behaviour = 0, time = 0, settings = 0 } = change?.risk ?? {};
  expect(behaviour + time + settings).toBeCloseTo(total, 9);
});
