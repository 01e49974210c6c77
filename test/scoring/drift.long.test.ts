/** A run's calibration of the churned on a log whose behaviour drifts: by the fits of its own cut-offs. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { BgbbParameters } from "../../server/scoring/churn/bgbb.ts";
import { fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import { bgbbLogOdds, silenceBy } from "../../server/scoring/churn/churn-model.ts";
import { calibrationDaysOf, trainingDaysFor } from "../../server/scoring/churn/folds.ts";
import { type CellRow, cellsQuery } from "../../server/scoring/queries/cell-query.ts";
import { type ChurnedCell, churnedQuery } from "../../server/scoring/queries/lists/churned-query.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { populationOf } from "../../server/scoring/run/population.ts";
import { recordOf } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { fitPlatt } from "../../server/scoring/statistics/platt.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { randomFrom } from "./random.ts";
import { on } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
/** A Monday: 1970-01-01 was a Thursday. */
const monday = 424;
const firstDay = 150;
const users = 300;

test("the churned are calibrated by BG/BB as it was fitted at each cut-off, and not by a later fit", async () => {
  const organization = subject.newOrganization();
  const random = randomFrom(11);
  // Every third day at first, every twentieth in the end. One in 300 days is a user's last.
  const active = (day: number) => 0.35 - 0.3 * Math.min(1, (day - firstDay) / 200);
  const events = Array.from({ length: users }, (_, index) => {
    const end = Math.min(monday, firstDay + Math.ceil(-300 * Math.log(1 - random())));
    const days = Array.from({ length: end - firstDay }, (_, day) => firstDay + day);
    const own = days.filter((day) => day === firstDay || random() < active(day));
    return own.map((day) => on(organization, index + 1, day));
  });
  await insertEvents(subject, events.flat());
  const asked = { id: organization, zone: new Zone("UTC"), settings: defaultSettings };
  await scoreDay(subject.warehouse, {
    organization: asked,
    day: monday,
    nowMs: Date.now,
    report: () => undefined,
  });
  const key = { organization, kind: "user", what: "model" } as const;
  const trained = (await recordOf(subject.warehouse, key, monday))?.body.rungs.find(({ rung }) => rung === 2);

  const population = populationOf(asked, "user");
  const days = calibrationDaysOf(trainingDaysFor(monday, firstDay, horizonDays));
  const cutoffs: { fit: BgbbParameters; churned: readonly ChurnedCell[] }[] = [];
  for (const day of days) {
    const snapshot = await snapshotFor(subject.warehouse, population, day);
    const cells = await read<CellRow>(subject.warehouse, cellsQuery(population, snapshot, horizonDays));
    const churned = await read<ChurnedCell>(
      subject.warehouse,
      churnedQuery(population, snapshot, horizonDays),
    );
    cutoffs.push({ fit: fitBgbb(cells).parameters, churned });
  }
  const plattBy = (fitOf: (index: number) => BgbbParameters | undefined) =>
    fitPlatt(
      cutoffs.flatMap(({ fit, churned }, index) => {
        const silence = silenceBy(horizonDays, fitOf(index) ?? fit);
        return churned.map(({ count, returned, idleDays, ...cell }) => ({
          logOdds: bgbbLogOdds(silence.on({ cell, idleDays })),
          positives: count - returned,
          negatives: returned,
        }));
      }),
    );
  const own = plattBy((index) => cutoffs[index]?.fit);
  expect(trained?.churnedPlatt?.slope).toBeCloseTo(own.slope, 6);
  expect(trained?.churnedPlatt?.intercept).toBeCloseTo(own.intercept, 6);
  // By the newest fit for all, or by the oldest, it would be another.
  for (const fit of [cutoffs[0]?.fit, cutoffs.at(-1)?.fit]) {
    expect(Math.abs(plattBy(() => fit).slope - own.slope)).toBeGreaterThan(0.01);
  }
});
