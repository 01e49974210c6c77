/** What CI repeats of the long run, and which failures it forgives. */
import { afterAll, afterEach, describe, expect, spyOn, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { listTestFiles, type Run } from "../runs.ts";
import { listPaths } from "../tidy/source-files.ts";
import { isCounted } from "./counting.ts";
import { proofIn, reachedBy, recordOf } from "./proved.ts";
import { nextRun, Runner } from "./runner.ts";
import { whyRed } from "./unstable.ts";

const run = (name: string): Run => ({
  name,
  file: name.replace(/ on .*/, ""),
  nodes: name.includes(" on ") ? 1 : 0,
});
const names = (runs: readonly Run[]) => runs.map(({ name }) => name);

describe("the runs that a change reaches", () => {
  const files = [
    "server/a.ts",
    "server/b.ts",
    "dashboard/c.tsx",
    ...Array.from({ length: 20 }, (_, n) => `server/${n}.ts`),
  ];
  const runs = ["test/a.long.test.ts", "test/b.long.test.ts", "test/a.long.test.ts on PostgreSQL"].map(run);
  const record = recordOf({ commit: "c1", commitBefore: "c0", files }, [
    { name: "test/a.long.test.ts", passed: 3, ran: ["server/a.ts", "server/19.ts"] },
    { name: "test/a.long.test.ts on PostgreSQL", passed: 3, ran: ["server/a.ts", "dashboard/c.tsx"] },
    { name: "test/b.long.test.ts", passed: 1, ran: ["server/b.ts", "server/7.ts"] },
  ]);
  const reached = (...changed: string[]) => names(reachedBy(changed, record, runs, -1).reached);

  test("are those that ran a changed file", () => {
    expect(reached()).toEqual([]);
    expect(reached("server/a.ts")).toEqual(["test/a.long.test.ts", "test/a.long.test.ts on PostgreSQL"]);
    expect(reached("server/19.ts")).toEqual(["test/a.long.test.ts"]);
    expect(reached("server/7.ts", "dashboard/c.tsx")).toEqual([
      "test/b.long.test.ts",
      "test/a.long.test.ts on PostgreSQL",
    ]);
    expect(reached("server/8.ts")).toEqual([]);
  });

  test("and a proof is read as it was written", () => {
    const ran = ["server/b.ts", "server/7.ts"];
    expect(proofIn(record, "test/b.long.test.ts")).toEqual({ name: "test/b.long.test.ts", passed: 1, ran });
    expect(proofIn(record, "test/c.long.test.ts")).toBeUndefined();
  });

  test("are a changed file of tests itself, on all its engines, and one that is new", () => {
    expect(reached("test/a.long.test.ts")).toEqual([
      "test/a.long.test.ts",
      "test/a.long.test.ts on PostgreSQL",
    ]);
    const more = [...runs, run("test/new.long.test.ts")];
    expect(names(reachedBy([], record, more, -1).reached)).toEqual(["test/new.long.test.ts"]);
  });

  test.each([
    "dashboard/index.html",
    "contract/limits.ts",
    "package-lock.json",
    "test/run.ts",
    "test/runner/unstable.ts",
    "test/postgres.ts",
    ".ci/run",
    "cli/install.mjs",
  ])("are all after a change of %s; further engines of a file may be left", (file) => {
    const { reached: must, others } = reachedBy([file], record, runs, -1);
    expect(names(must)).toEqual(["test/a.long.test.ts", "test/b.long.test.ts"]);
    expect(names(others)).toEqual(["test/a.long.test.ts on PostgreSQL"]);
  });

  test.each([
    ["a helper that a file of tests imports", "test/scoring/gate-power.ts", "test/scoring/gate-power.long"],
    ["one behind another", "test/long/alert-kills.ts", "test/long/alert-kill.long"],
    ["what a helper starts", "test/warehouse/crash-child.ts", "test/warehouse/crash.long"],
    ["new code of the product", "server/scoring/churn/train.ts", "test/scoring/models.long"],
  ])("are some after a change of %s", (_, file, user) => {
    const all = listTestFiles().map(run);
    const others = listPaths().filter((path) => isCounted(path) && path !== file);
    const known = recordOf(
      { commit: "c1", commitBefore: "c0", files: others },
      all.map(({ name }) => ({ name, passed: 1, ran: [] })),
    );
    const found = names(reachedBy([file], known, all, -1).reached);
    expect(found).toContain(`${user}.test.ts`);
    expect(found.length).toBeLessThan(all.length / 2);
  });

  test("are none after a helper has gone: those that used it have changed", () => {
    expect(reached(`test/${"none"}.ts`)).toEqual([]);
  });

  test("are all where no record is of a commit before", () => {
    const all = ({ reached: must, others }: ReturnType<typeof reachedBy>) =>
      names([...must, ...others]).sort();
    expect(all(reachedBy(undefined, record, runs, 0))).toEqual(names(runs).sort());
    expect(all(reachedBy([], undefined, runs, 0))).toEqual(names(runs).sort());
    // A file that runs only there is not left.
    const alone = [run("test/c.long.test.ts on PostgreSQL")];
    expect(names(reachedBy(undefined, record, alone, 0).reached)).toEqual(names(alone));
  });

  test("are none after a change of what no long test runs", () => {
    expect(reached("bench/intake.ts", "test/proved.json", "docs/pictures/overview.png")).toEqual([]);
  });

  test("are those that read a changed document", () => {
    const readers = ["test/readme.long.test.ts", "test/long/soak.long.test.ts"].map(run);
    const known = recordOf(
      { commit: "c1", commitBefore: "c0", files },
      readers.map(({ name }) => ({ name, passed: 1, ran: [] })),
    );
    expect(names(reachedBy(["README.md"], known, readers, -1).reached)).toEqual(["test/readme.long.test.ts"]);
    expect(names(reachedBy(["docs/decisions/0001-bun.md"], known, readers, -1).reached)).toEqual([]);
  });

  test("are joined by a fifth of the others: five commits repeat each run once", () => {
    const all = listTestFiles().map(run);
    const known = recordOf(
      { commit: "c1", commitBefore: "c0", files },
      all.map(({ name }) => ({ name, passed: 1, ran: [] })),
    );
    const fifths = [0, 1, 2, 3, 4].map((fifth) => names(reachedBy([], known, all, fifth).others));
    expect(fifths.flat().sort()).toEqual(names(all).sort());
    for (const fifth of fifths) expect(fifth.length).toBeGreaterThan(all.length / 10);
  });
});

describe("a file that fails", () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-unstable-"));
  const unstableFile = join(folder, "unstable.json");
  afterEach(() => {
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  const fixture = (name: string) => `test/runner/fixtures/${name}.ts`;
  /** Runs fixtures. @returns the tests that passed and failed, and the files that are kept as unstable */
  const judged = async (...fixtures: string[]) => {
    process.env.TEST_FIXTURES = folder;
    const said = spyOn(console, "log").mockImplementation(() => undefined);
    const runner = new Runner({ isLong: false, filesAtOnce: 2, timings: new Map(), unstableFile });
    const { passed, failed } = await runner.run(fixtures.map(fixture).map(run), []);
    said.mockRestore();
    const kept = existsSync(unstableFile) ? JSON.parse(readFileSync(unstableFile, "utf8")) : {};
    return { passed, failed, kept };
  };

  test("and passes alone is unstable: the run passes, and keeps the file with its seed and output", async () => {
    const { passed, failed, kept } = await judged("one", "two");
    expect([passed, failed]).toEqual([4, 0]);
    expect(Object.keys(kept).sort()).toEqual(["one", "two"].map(fixture));
    expect(kept[fixture("one")]).toEqual({
      seed: expect.any(Number),
      output: expect.stringContaining("(fail) fails once"),
    });
  });

  test("is a failure when it is kept already", async () => {
    await judged("one");
    rmSync(join(folder, "one.ts"));
    expect(await judged("one")).toMatchObject({ passed: 1, failed: 1 });
  });

  test("is a failure when more than two are unstable", async () => {
    expect(await judged("one", "two", "three")).toEqual({ passed: 3, failed: 3, kept: {} });
  });

  test("is a failure when it fails again, or speaks of doubled data", async () => {
    expect(await judged("fails", "doubled")).toEqual({ passed: 0, failed: 2, kept: {} });
  });

  test("never runs again when it is about promises, or its input is random", () => {
    const why = (file: string, output = "", ...failures: string[]) =>
      whyRed(file, { output, failures, kept: unstableFile });
    const promised = [
      "test/ledger/sqlite.test.ts",
      "test/erasure/live.long.test.ts",
      "test/cluster/kills.long.test.ts",
      "test/people/tenants.test.ts",
      "test/durability/replay.test.ts",
      "test/analytics/isolation.long.test.ts",
    ];
    for (const file of promised) expect(why(file)).toBe("it proves a promise about data");
    expect(why("test/load.test.ts", "bad rows: SEED=7")).toBe("its input is random");
    expect(why("test/load.test.ts", "", "Expected: 3\n(fail) an event is stored twice")).toBe(
      'it says "twice"',
    );
    expect(why("test/load.test.ts", "", "(fail) the page shows the figure")).toBeUndefined();
  });
});

test("runs on PostgreSQL are taken first where one prefers them, and no run of the others before the last of these", () => {
  const on = (file: string, nodes: number) => ({ name: `${file} ${nodes}`, file, nodes });
  const waiting = () => [
    [on("a", 0), on("b", 0), on("a", 1), on("b", 3)],
    [on("c", 0), on("c", 1)],
  ];
  const order = (prefersPostgres: boolean) => {
    const left = waiting();
    return left.flat().map(() => nextRun(left, prefersPostgres)?.name);
  };
  expect(order(false)).toEqual(["a 0", "b 0", "a 1", "b 3", "c 0", "c 1"]);
  expect(order(true)).toEqual(["a 1", "b 3", "a 0", "b 0", "c 1", "c 0"]);
  expect(nextRun([[], []], true)).toBeUndefined();
});

test("no file begins when the time is over: the reached ones count as failed, by name", async () => {
  const said = spyOn(console, "log").mockImplementation(() => undefined);
  const runner = new Runner({
    isLong: true,
    filesAtOnce: 1,
    timings: new Map(),
    unstableFile: "none",
    untilMs: Date.now() - 1,
  });
  const { passed, failed } = await runner.run([run("test/load.test.ts")], [run("test/sending.test.ts")]);
  const lines = said.mock.calls.flat().join("\n");
  said.mockRestore();
  expect([passed, failed]).toEqual([0, 1]);
  expect(lines).toContain("FAIL test/load.test.ts: the change reaches it, and there was no time to run it");
  expect(lines).toContain("1 of the other files did not run: there was no time");
});
