/** Scores while the past comes in bulk: they wait for its end, and a run that its data overtakes is done
 * again before it is shown. */
import { describe, expect, test } from "bun:test";
import { listRuns, recordOf } from "../../server/scoring/run/records.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all } from "./run-support.ts";

const subject = new WarehouseUnderTest();

const runDays = async (organization: number) =>
  (await listRuns(subject.warehouse, organization))
    .filter(({ kind }) => kind === "user")
    .map(({ day }) => day);

test("all days wait while the past comes in bulk, and a day that ran just before delays none", async () => {
  const installation = new Installation(subject, 200);
  installation.restBeforeTodayMs = 3_600_000;
  installation.restForBulkLoad = { overAfterMs: 30_000, longestMs: 3_600_000 };
  installation.restart();
  const organization = installation.organization();
  await installation.insert(all(organization, 6, [170, 185, 190]));
  installation.lastBulkLoadAtMs = 200.5 * msPerDay - 29_000;
  expect([await installation.work(), await runDays(organization)]).toEqual([0, []]);
  await installation.insert(all(organization, 6, [195, 199]));
  installation.lastBulkLoadAtMs = 200.5 * msPerDay - 31_000;
  expect([await installation.work(), await runDays(organization)]).toEqual([1, [200]]);
  // A clock that was set back is no load.
  installation.lastBulkLoadAtMs = 200.5 * msPerDay + 31_000;
  expect(await installation.work()).toBe(1);
});

test("a load that does not end keeps scores waiting for an hour, and not for good", async () => {
  const installation = new Installation(subject, 200);
  installation.restForBulkLoad = { overAfterMs: 30_000, longestMs: 0 };
  installation.restart();
  const organization = installation.organization();
  await installation.insert(all(organization, 6, [170, 185, 190]));
  installation.lastBulkLoadAtMs = 200.5 * msPerDay;
  expect([await installation.work(), await runDays(organization)]).toEqual([1, [200]]);
});

test("a first run in which a load in bulk was noticed is of a part of it, and later ones keep what they scored", async () => {
  const installation = new Installation(subject, 200);
  installation.restForBulkLoad = { overAfterMs: 30_000, longestMs: 3_600_000 };
  installation.restart();
  const organization = installation.organization();
  await installation.insert(all(organization, 6, [170, 185, 190]));
  const duringRun = () => {
    installation.beforeStatement = async (sql) => {
      if (sql.includes("INSERT INTO user_snapshots")) installation.lastBulkLoadAtMs = 200.5 * msPerDay;
    };
  };
  duringRun();
  await installation.work();
  expect(await runDays(organization)).toEqual([]);
  installation.beforeStatement = async () => undefined;
  expect([await installation.work(), await runDays(organization)]).toEqual([0, []]);
  installation.lastBulkLoadAtMs = null;
  expect([await installation.work(), await runDays(organization)]).toEqual([1, [200]]);
  duringRun();
  await installation.work();
  expect((await runDays(organization)).length).toBeGreaterThan(1);
});

describe("a run whose data grows while it is under way", () => {
  /** Inserts events while the first runs compute features, until there are scores. */
  async function grown(times: number, users: number) {
    const installation = new Installation(subject, 200);
    const organization = installation.organization();
    await installation.insert(all(organization, 50, [170, 185, 190]));
    let runs = 0;
    installation.beforeStatement = async (sql, parameters) => {
      if (!sql.includes("INSERT INTO user_snapshots") || parameters?.snapshotDay !== 200) return;
      runs += 1;
      if (runs <= times) await installation.insert(all(organization, users, [195 + runs]));
    };
    const shown = () => newestRun(subject.warehouse, organization, "user", 200);
    let run = await shown();
    for (let rounds = 0; run === undefined && rounds < 9; rounds += 1) {
      await installation.work();
      run = await shown();
    }
    const scores = await subject.warehouse.rows(
      "SELECT DISTINCT version FROM user_scores WHERE organization = {organization:UInt32}",
      { organization },
    );
    const scale = await recordOf(subject.warehouse, { organization, kind: "user", what: "scale" }, 181);
    return { runs, scores, run, scale };
  }

  test("is done again with its scale and snapshots, and none of its scores is stored", async () => {
    const { runs, scores, run, scale } = await grown(2, 120);
    expect([runs, scores.length]).toEqual([3, 1]);
    expect([run?.day, run?.stale, run?.body.entities]).toEqual([200, false, 120]);
    expect(scale?.version).toBeGreaterThan(1);
  });

  test("is done again three times at most", async () => {
    const { runs, scores } = await grown(9, 120);
    expect([runs, scores.length]).toEqual([4, 1]);
  });

  test("stays when it grows by two in a hundred", async () => {
    expect((await grown(9, 3)).runs).toBe(1);
  });
});
