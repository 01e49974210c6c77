/**
 * Kills a process with SIGKILL after each statement with which scoring writes, and within those that write
 * many rows. The scores that the next processes finish are those of a process that was never killed, and what
 * is valid meanwhile is whole.
 *
 * The points are all writes of a run of scores, of snapshots under changed settings, and of thinning out: the
 * tests compare their list with what a process without kills writes. Between two kills no other statement
 * writes.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { warehouseFolder } from "../../server/process/data-folder.ts";
import { isKept } from "../../server/warehouse/upkeep/thin-scores.ts";
import type { HoldPoint } from "../durability/hold-points.ts";
import { killProcessAt } from "../durability/holds.ts";
import { fillWithTables, programEntry } from "../program.ts";
import { thinned } from "./kill-support.ts";

const folder = mkdtempSync(join(tmpdir(), "rekindle-scoring-kill-"));
const [calm, killed] = [join(folder, "calm"), join(folder, "killed")];
const program = programEntry("held-work");

function start(dataDir: string, works: readonly string[]) {
  const env = { ...process.env, DATA_DIR: dataDir };
  return Bun.spawn([process.execPath, program, ...works], { env, stderr: "inherit" });
}

/** What a process printed: the names of the statements that write, in order and each once, and answers. */
async function printed(child: ReturnType<typeof start>) {
  const lines = (await new Response(child.stdout).text()).split("\n").filter((line) => line !== "");
  const isAnswer = (line: string) => /^[[{]/.test(line);
  return {
    writes: [...new Set(lines.filter((line) => !isAnswer(line)))],
    answers: lines.filter(isAnswer).map((line): unknown => JSON.parse(line)),
  };
}

/** Lets a process do its works to the end. */
async function finish(dataDir: string, ...works: readonly string[]) {
  const child = start(dataDir, works);
  const found = await printed(child);
  expect(await child.exited).toBe(0);
  return found;
}

/** Kills a process at each of these points of its works. @returns the answers of all */
async function killAll(points: readonly HoldPoint[], ...works: readonly string[]): Promise<unknown[]> {
  const answers: unknown[] = [];
  for (const point of points) {
    const child = await killProcessAt(killed, point, () => start(killed, works));
    answers.push(...(await printed(child)).answers);
  }
  return answers;
}

const after = (...names: readonly string[]) => names.map((of): HoldPoint => ({ step: "after", of }));
const within = (of: string): HoldPoint => ({ step: "within", of });

beforeAll(async () => {
  fillWithTables(warehouseFolder(calm));
  await finish(calm, "load");
  cpSync(calm, killed, { recursive: true, verbatimSymlinks: true });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The writes of a run, each kind where it comes first: what is new is marked and noted, then users are
 * scored, then accounts. */
const ofRun = [
  "INSERT INTO score_records",
  "INSERT INTO scored_days",
  "INSERT INTO user_snapshots",
  "record: snapshot of user",
  "record: scale of user",
  "record: fit of user",
  "record: model of user",
  "INSERT INTO user_scores",
  "record: run of user",
  "INSERT INTO account_snapshots",
  "record: snapshot of account",
  "record: fit of account",
  "record: model of account",
  "INSERT INTO account_scores",
  "record: run of account",
  // A day after another says what its rules moved.
  "record: shift of user",
  "record: shift of account",
];

test("a first run of scores that is killed after each of its writes is finished with the same scores", async () => {
  const expected = await finish(calm, "score", "print scores", "import");
  expect(expected.writes).toEqual(ofRun);
  await killAll(after(...ofRun), "score");
  const { answers } = await finish(killed, "score", "print scores", "import");
  expect(answers).toEqual(expected.answers);
});

/** After an import there are stale records and older rows of all. The points at which a run differs then from
 * the first one. */
const ofImport: readonly HoldPoint[] = [
  ...after("INSERT INTO score_records", "INSERT INTO scored_days"),
  // The record of the stored snapshot becomes stale before its rows are replaced.
  ...after("INSERT INTO score_records"),
  ...["user_snapshots", "user_scores", "account_snapshots", "account_scores"].flatMap((table) => [
    within(`INSERT INTO ${table}`),
    ...after(`INSERT INTO ${table}`),
  ]),
];

test("a run after an import that is killed at each of its writes replaces all that is stale", async () => {
  const expected = await finish(calm, "score", "print scores", "weight 1");
  // The only account was active on the imported day before, so its fit stays.
  const replaced = ofRun.filter((name) => name !== "record: fit of account");
  expect(expected.writes.toSorted()).toEqual(replaced.toSorted());
  await killAll(ofImport, "score");
  const { answers } = await finish(killed, "score", "print scores", "weight 1");
  expect(answers).toEqual(expected.answers);
});

/** The writes of the snapshots of a day that has others: those are marked as stale first. */
const ofSnapshots = (kind: string) => [
  "INSERT INTO score_records",
  `INSERT INTO ${kind}_snapshots`,
  `record: snapshot of ${kind}`,
];

test("a process that is killed at each write of snapshots leaves whole ones, or none", async () => {
  const writes = [...ofSnapshots("user"), ...ofSnapshots("account")];
  expect((await finish(calm, "weight 2")).writes).toEqual([...new Set(writes)]);
  const points = writes.flatMap((of) => (of.endsWith("_snapshots") ? [within(of), ...after(of)] : after(of)));
  const meanwhile = (await killAll(points, "print snapshots", "weight 2")) as Snapshot[][];
  const [last = []] = (await finish(killed, "weight 2", "print snapshots", "fill days"))
    .answers as Snapshot[][];
  for (const snapshot of [...meanwhile.flat(), ...last]) expect(snapshot.stored).toEqual(snapshot.computed);
  expect(last.map(({ kind, weight }) => [kind, weight])).toEqual([
    ["user", 2],
    ["account", 2],
  ]);
  // Both of before, of which one was stale, then the new one.
  expect(new Set(meanwhile.map((valid) => valid.map(({ weight }) => weight).join()))).toEqual(
    new Set(["1,1", "1", "2,1", "2"]),
  );
});

interface Snapshot {
  readonly kind: string;
  readonly weight: number;
  readonly stored: unknown;
  readonly computed: unknown;
}

/** Records go before rows, so that no record is without its rows. */
const ofThinning = ["score_records", "user_scores", "account_scores"].map((table) => `ALTER TABLE ${table}`);

test("thinning out that is killed between two statements leaves no run without rows, and the next night ends it", async () => {
  const all = Array.from(
    { length: thinned.toDay - thinned.fromDay + 1 },
    (_, index) => thinned.fromDay + index,
  );
  const kept = all.filter((day) => isKept(day, thinned.today));
  const found = (users: readonly number[], accounts: readonly number[]) => ({
    shown: Array(2).fill({ history: kept, weeks: Array(26).fill(2) }),
    records: kept,
    users,
    accounts,
  });
  const [before, ...meanwhile] = await killAll(after(...ofThinning), "print days", "thin");
  expect(before).toMatchObject({ records: all, users: all, accounts: all });
  expect(meanwhile).toEqual([found(all, all), found(kept, all)]);
  const { writes, answers } = await finish(killed, "thin", "print days");
  expect([writes, answers]).toEqual([[], [found(kept, kept)]]);
});
