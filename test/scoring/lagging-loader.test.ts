/** Runs while the loader lags. */
import { expect, test } from "bun:test";
import { listRuns } from "../../server/scoring/run/records.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all } from "./run-support.ts";

const subject = new WarehouseUnderTest();

async function runDays(organization: number): Promise<number[]> {
  const runs = await listRuns(subject.warehouse, organization);
  return runs.filter(({ kind }) => kind === "account").map(({ day }) => day);
}

test("rows that wait for the loader, of any organization, delay scores for a while only", async () => {
  const installation = new Installation(subject, 200);
  const id = installation.organization();
  await installation.insert(all(id, 6, [195, 199]));
  installation.waitingRows = 500_001;
  installation.restart();
  expect([await installation.work(), await runDays(id)]).toEqual([0, []]);
  installation.longestWaitForLoaderMs = 0;
  installation.restart();
  expect([await installation.work(), await runDays(id)]).toEqual([1, [200]]);
  // It does not wait for the loader either, which may work for hours.
  expect(installation.drains).toBe(0);
  installation.waitingRows = 500_000;
  installation.today = 201;
  await installation.work();
  expect([installation.drains, (await runDays(id)).at(-1)]).toEqual([1, 201]);
});
