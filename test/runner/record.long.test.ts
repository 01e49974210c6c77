/** From a file of tests that starts a server to the change that CI repeats it for: what the copy counts is
 * what the server ran. */
import { afterAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { run as runProgram } from "../server.ts";
import { listPaths } from "../tidy/source-files.ts";
import { toldIn } from "./counting.ts";
import { countingCopy } from "./counting-copy.ts";
import { reachedBy, readProofs, recordOf } from "./proved.ts";

const file = "test/actions/moments-over-http.test.ts";
const copy = countingCopy();
afterAll(() => copy.remove());

test("a change of what a test's server ran repeats the test, and a change of anything else does not", async () => {
  const command = [process.execPath, join(copy.path, "test/run.ts"), "--record", "actions/moments-over"];
  writeFileSync(toldIn(copy.path).due, JSON.stringify([file]));
  const { exitCode, stdout } = await runProgram(command);
  expect([exitCode, stdout]).toEqual([0, expect.stringContaining("2 passed, 0 failed")]);
  const proofs = readProofs(toldIn(copy.path).proofs);
  expect(proofs).toMatchObject([{ name: file, passed: 2 }]);
  const files = listPaths().filter((path) => path.startsWith("server/"));
  const record = recordOf({ commit: "c1", commitBefore: "c0", files }, proofs);
  const reached = (...changed: string[]) =>
    reachedBy(changed, record, [{ name: file, file, nodes: 0 }], -1).reached.map(({ name }) => name);
  // The intake, the look, and the message that it sends are in three parts of the server.
  for (const ran of [
    "server/intake/track.ts",
    "server/features/poller.ts",
    "server/warehouse/load/loader.ts",
  ])
    expect([ran, ...reached(ran)]).toEqual([ran, file]);
  for (const other of ["server/warehouse/copies/backup.ts", "server/scoring/churn/train.ts"])
    expect([other, ...reached(other)]).toEqual([other]);
});
