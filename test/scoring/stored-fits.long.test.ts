/** Fits of BG/BB to snapshots are stored, and used again while the cells are the same. */
import { expect, test } from "bun:test";
import { backtest, type FittedSnapshot } from "../../server/scoring/churn/backtest.ts";
import { fitBgbb } from "../../server/scoring/churn/bgbb-fit.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import { keepFit, storedFit } from "../../server/scoring/queries/snapshot-fits.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { markStale } from "../../server/scoring/run/records.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, population, randomOrganization } from "./engine-support.ts";
import { on } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
const [trainingDay, scoringDay] = [logDay(200), logDay(228)];

async function read(organization: number): Promise<ReadonlyMap<number, Snapshot>> {
  const days = [trainingDay, scoringDay];
  return readSnapshots(subject.warehouse, population(organization, "user"), days, { horizonDays });
}

function snapshotOn(snapshots: ReadonlyMap<number, Snapshot>, day: number): Snapshot {
  const snapshot = snapshots.get(day);
  if (snapshot === undefined) throw new Error(`day ${day} was not read`);
  return snapshot;
}

test("a kept fit takes the place of a new one until its cells change", async () => {
  const { organization } = await randomOrganization(subject, "fits", 60);
  const who = population(organization, "user");
  const first = await read(organization);
  const { cells, fit: none } = snapshotOn(first, trainingDay);
  expect(none).toBeUndefined();

  // Not what a fit gives: so it is seen that none was made.
  const kept = { ...fitBgbb(cells), parameters: { alpha: 2, beta: 3, gamma: 1, delta: 5 } };
  await keepFit(subject.warehouse, who, trainingDay, { cells, fit: kept });
  const second = await read(organization);
  expect(snapshotOn(second, trainingDay).fit).toEqual(kept);
  expect(snapshotOn(second, scoringDay).fit).toBeUndefined();
  const fits = new Map<Snapshot, FittedSnapshot>();
  const fold = { scoring: snapshotOn(second, scoringDay), training: [snapshotOn(second, trainingDay)] };
  backtest([fold], horizonDays, fits);
  expect([...fits.values()].map(({ fit }) => fit.parameters)).toContainEqual(kept.parameters);
  expect(
    await storedFit(subject.warehouse, population(organization, "account"), trainingDay, cells),
  ).toBeUndefined();

  await insertEvents(subject, [on(organization, 500, trainingDay - 1)]);
  await markStale(subject.warehouse, organization, trainingDay - 2);
  const third = snapshotOn(await read(organization), trainingDay);
  expect(third.cells).not.toEqual(cells);
  expect(third.fit).toBeUndefined();
  const again = fitBgbb(third.cells);
  await keepFit(subject.warehouse, who, trainingDay, { cells: third.cells, fit: again });
  expect(await storedFit(subject.warehouse, who, trainingDay, third.cells)).toEqual(again);
});
