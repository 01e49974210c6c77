/** The report of an import has each rejected row once, whatever happens to its runs, and overwrites no other
 * file. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { importBench } from "./bench.ts";
import { countsOf } from "./support.ts";

const bench = importBench({ acmeUsers: 10 });

const everyTenth = 10;

/** Rows of which every tenth has an unknown user. The first is on line 2. */
function partlyUnknown(rows: number, name: string): string {
  const lines = Array.from({ length: rows }, (_, index) => {
    const user = index % everyTenth === 0 ? "nobody" : "u1";
    return `${user},${name},2026-05-17,${index}\n`;
  });
  return bench.file(`${name}.csv`, `userId,event,timestamp,n\n${lines.join("")}`);
}

const linesOf = (rows: number) =>
  Array.from({ length: rows / everyTenth }, (_, index) => index * everyTenth + 2);

const reportedIn = (path: string): number[] =>
  path.endsWith(".csv")
    ? [...readFileSync(path, "utf8").matchAll(/^(\d+),/gm)].map(([, line]) => Number(line))
    : readFileSync(path, "utf8")
        .trimEnd()
        .split("\n")
        .map((text) => JSON.parse(text).line);

/** The path that a run's summary names. */
const named = (stdout: string) => /\/\S+rekindle-rejected-\S+\.jsonl/.exec(stdout)?.[0] ?? "";
const left = () => readdirSync(bench.folder).filter((name) => name.startsWith("rekindle-rejected-"));

test.each(["report.jsonl", "report.csv"])(
  "%s of an import that was killed has the rejected rows of all its runs",
  async (name) => {
    const [rows, event] = [60_000, name.replace(".", "_")];
    const file = partlyUnknown(rows, event);
    const report = bench.path(name);
    await bench.importKilledAt(1, file, "acme", "--report", report);
    const done = await bench.importKilledAt(8_000, file, "acme", "--report", report);
    // As if it had been killed after its last commit, before that commit's 50 rows were in the report.
    const lines = readFileSync(report, "utf8").split(/(?<=\n)/);
    const headers = name.endsWith(".csv") ? 1 : 0;
    writeFileSync(report, lines.slice(0, headers + done / everyTenth - 20).join(""));
    const result = await bench.import(file, "acme", "--report", report);
    expect(countsOf(result)).toMatchObject({ rows, rejected: rows / everyTenth });
    expect(result.stdout).toContain(`more: ${report} has them all`);
    expect(reportedIn(report)).toEqual(linesOf(rows));
  },
);

test("a report that another import wrote is not gone on with, and the summary says what is missing", async () => {
  const file = partlyUnknown(60_000, "other");
  const report = bench.path("other.jsonl");
  await bench.importKilledAt(8_000, file, "acme");
  writeFileSync(report, '{"line":7,"reason":"of another file"}\n');
  const { stdout } = await bench.import(file, "acme", "--report", report);
  const reported = reportedIn(report);
  expect(reported).not.toContain(7);
  expect(reported.at(-1)).toBe(linesOf(60_000).at(-1));
  expect(stdout).toContain(`${report} has ${reported.length} of all 6000, an earlier run had another file`);
});

test("without --report more rows than are shown are in a file, which is named then and later", async () => {
  const file = partlyUnknown(300, "unasked");
  const { stdout } = await bench.import(file, "acme");
  expect(stdout).toMatch(/ {2}line 192: .*\n {2}and 10 more: \S+ has them all\n/);
  expect(reportedIn(named(stdout))).toEqual(linesOf(300));
  const again = await bench.import(file, "acme", "--report", bench.path("late.jsonl"));
  expect(again.stdout).toContain(`${named(stdout)} has their lines and reasons`);
});

test("when all rejected rows are shown and no report was requested, no file is left", async () => {
  const before = left();
  const file = partlyUnknown(200, "shown");
  const { stdout } = await bench.import(file, "acme");
  expect(stdout).toEndWith(
    "line 192: User not found. The user must first be identified through the /identify endpoint.\n",
  );
  expect(left()).toEqual(before);
  expect((await bench.import(file, "acme")).stdout).toContain("no known file has them");
});

test("the file that is imported is never its own report", async () => {
  const file = partlyUnknown(20, "own");
  const content = readFileSync(file, "utf8");
  const { exitCode, stderr } = await bench.import(file, "acme", "--report", file);
  expect([exitCode, stderr]).toEqual([1, expect.stringContaining("is the file that is imported")]);
  expect(readFileSync(file, "utf8")).toBe(content);
  expect(existsSync(file)).toBe(true);
  expect(countsOf(await bench.import(file, "acme"))).toMatchObject({ new: 18, rejected: 2 });
});
