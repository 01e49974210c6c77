/** `rekindle backtest` on small logs: what it prints, how it reads them, and what it says when it cannot. */
import { afterAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { formatDay } from "../../server/calendar/days.ts";
import { msPerDay } from "../../server/calendar/zone.ts";
import { BacktestBench } from "../scoring/backtest-support.ts";
import { simulatedFrom, simulateLogs } from "../scoring/support.ts";
import { run } from "../server.ts";
import { until } from "../until.ts";

const bench = new BacktestBench();
afterAll(() => bench.end());

/** A log has a snapshot of every second week, which takes 0.2 s. 500 days have all 12 cut-offs, and 260 have
 * four. */
const allDays = 500;
const days = 260;
const columns = ["--entity", "who", "--time", "at", "--event", "what"];

/** A log of 300 simulated users, with the test's choice of times, accounts and days. */
function simulated(
  timeOf: (day: number) => string | number,
  { accounts = 1, length = days }: { accounts?: number; length?: number } = {},
): string {
  const lines = simulateLogs(300, length, 7).flatMap(({ log }, user) =>
    log.map(({ day, event }) => `u${user},a${user % accounts},${timeOf(day)},${event}`),
  );
  return `who,where,at,what\n${lines.join("\n")}\n`;
}

const long = bench.file("long.csv", simulated(formatDay, { length: allDays }));
const log = bench.file("log.csv", simulated(formatDay));

describe("the answer", () => {
  test("is a table with what ships and why", async () => {
    const { command, env } = bench.command(long, ...columns);
    const { exitCode, stdout, stderr } = await run(command, { env });
    expect([exitCode, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/^\d+ events of 300 users, 2024-10-04 to 2026-02-15$/m);
    expect(stdout).toMatch(/^churned: silent for 28 days; 12 cut-offs, from 2025-03-17 to 2026-01-19$/m);
    expect(stdout).toMatch(/^model +AUC +log loss +Brier +ECE +slope +lift +n +base rate +good enough$/m);
    for (const name of ["prior", "bgbb", "bgbb-platt", "logistic", "recency", "hiatus"]) {
      expect(stdout).toMatch(new RegExp(`^${name} +0\\.\\d{3} +\\d\\.\\d{3} `, "m"));
    }
    expect(stdout).toMatch(/^base +0\.500 /m);
    expect(stdout).toMatch(/^ships: (bgbb|bgbb-platt|logistic); it has the least log loss/m);
  });

  test("has exactly the documented keys in JSON", async () => {
    const answer = await bench.json(log, ...columns, "--horizon", "30", "--cutoffs", "3");
    expect(Object.keys(answer)).toEqual(["horizonDays", "n", "baseRate", "models", "shipped"]);
    for (const model of answer.models) {
      expect(Object.keys(model)).toEqual(["name", "n", "auc", "logLoss", "brier", "ece", "slope", "lift"]);
    }
    // Three cut-offs prove nothing.
    expect(answer).toMatchObject({ horizonDays: 30, shipped: "none" });
  });

  test("leaves out days on which no data came, and cut-offs that predict them", async () => {
    const isMissing = (line: string) => /,2025-04-(1[1-9]|20),/.test(line);
    const lines = simulated(formatDay).split("\n");
    const path = bench.file("outage.csv", lines.filter((line) => !isMissing(line)).join("\n"));
    const { stdout } = await bench.run(path, ...columns);
    expect(stdout).toMatch(
      /^no data came from 2025-04-11 to 2025-04-20: these days are in no count of days/m,
    );
    // Of the four cut-offs, the horizon from 2025-03-29 has them.
    expect(stdout).toMatch(/^churned: silent for 28 days; 3 cut-offs, from 2025-03-01 to 2025-05-24$/m);
  });

  test("of everyone counts those who have long been silent", async () => {
    const [some, all] = [
      await bench.json(log, ...columns, "--cutoffs", "4"),
      await bench.json(log, ...columns, "--cutoffs", "4", "--everyone"),
    ];
    expect(all.n).toBeGreaterThan(some.n);
    expect(all.baseRate).toBeGreaterThan(some.baseRate ?? 1);
  });

  test("of accounts is about their own streams", async () => {
    const path = bench.file("accounts.csv", simulated(formatDay, { accounts: 120 }));
    const accounts = await bench.json(
      path,
      ...columns,
      "--account",
      "where",
      "--score",
      "account",
      "--cutoffs",
      "4",
    );
    const users = await bench.json(path, ...columns, "--account", "where", "--cutoffs", "4");
    expect(accounts.n).toBeGreaterThan(100);
    expect(accounts.n).toBeLessThan(users.n);
    expect(accounts.models.map(({ name }) => name)).toContain("bgbb");
  });
});

describe("reading", () => {
  // Just enough for one cut-off and one to train at.
  const short = (timeOf: (day: number) => string | number) => simulated(timeOf, { length: 170 });
  const log = bench.file("short.csv", short(formatDay));
  const oneCutoff = [...columns, "--cutoffs", "1", "--json"];
  const answerOf = async (path: string, ...options: string[]) =>
    (await bench.run(path, ...oneCutoff, ...options)).stdout;

  test("takes times in many forms", async () => {
    const expected = await answerOf(log);
    expect(JSON.parse(expected).n).toBeGreaterThan(50);
    const seconds = (day: number) => (day * msPerDay) / 1_000;
    for (const [name, timeOf] of [
      ["seconds", seconds],
      ["milliseconds", (day: number) => day * msPerDay],
      ["digits", (day: number) => formatDay(day).replaceAll("-", "")],
      ["offset", (day: number) => `${formatDay(day)}T01:30:00+01:00`],
      ["database", (day: number) => `${formatDay(day)} 23:59:59`],
      ["day first", (day: number) => `${formatDay(day).split("-").toReversed().join(".")} 23:59`],
    ] as const) {
      expect(await answerOf(bench.file(`${name}.csv`, short(timeOf)))).toBe(expected);
    }
  });

  test("takes tabs, semicolons, JSON lines and .gz", async () => {
    const expected = await answerOf(log);
    const semicolons = bench.file("semicolons.csv", short(formatDay).replaceAll(",", ";"));
    const rows = short(formatDay).trim().split("\n").slice(1);
    const tabs = bench.file("short.tsv", short(formatDay).replaceAll(",", "\t"));
    const objects = rows.map((row) => {
      const [who, where, at, what] = row.split(",");
      return `${JSON.stringify({ who, where, at, what })}\n`;
    });
    const lines = bench.file("short.jsonl", objects.join(""));
    const packed = bench.file("short.csv.gz", "");
    await Bun.write(packed, gzipSync(short(formatDay)));
    for (const path of [tabs, semicolons, lines, packed]) expect(await answerOf(path)).toBe(expected);
  });

  test("begins days where the timezone does", async () => {
    const evenings = bench.file(
      "evenings.csv",
      short((day) => `${formatDay(day)}T23:30:00Z`),
    );
    const tokyo = await bench.run(evenings, ...columns, "--cutoffs", "1", "--timezone", "Asia/Tokyo");
    expect(tokyo.stdout).toContain("2024-10-05 to 2025-03-23");
  });

  test("leaves out rows without an id, and says how many", async () => {
    const path = bench.file("nobody.csv", `${short(formatDay)},a1,2026-01-01,open\n,a1,2026-01-01,open\n`);
    const { stdout, stderr } = await bench.run(path, ...oneCutoff);
    expect(stdout).toBe(await answerOf(log));
    expect(stderr).toContain("2 rows without a user are left out");
  });
});

describe("what is missing is said", () => {
  test.each([
    ["a short log", "who,at\nu1,2026-01-01\nu1,2026-03-01\n", ["covers 60 days", "28 days takes 168"]],
    ["a log of one user who never left", everyDay(1), ["at none of the 4 cut-offs"]],
  ])("of %s, and it is no error", async (name, content, words) => {
    const path = bench.file(`${name}.csv`, content);
    const { exitCode, stdout, stderr } = await bench.run(path, "--entity", "who", "--time", "at", "--json");
    expect([exitCode, JSON.parse(stdout)]).toEqual([
      0,
      { horizonDays: 28, n: 0, baseRate: null, models: [], shipped: "none" },
    ]);
    for (const word of ["Not enough data", ...words]) expect(stderr).toContain(word);
  });

  test("of cut-offs beyond the log", async () => {
    const { exitCode, stdout } = await bench.run(long, ...columns, "--first-cutoff", "2026-02-01");
    expect(exitCode).toBe(0);
    expect(stdout).toContain("they may be between 2025-02-21 and 2026-01-19");
  });
});

describe("a refusal in words", () => {
  const twoColumns = ["--entity", "who", "--time", "at"];

  test.each([
    ["a column that is not there", "who,when\nu1,2026-01-01\n", ['no column "at"', '"who", "when"']],
    [
      "a time that is none",
      "who,at\nu1,2026-01-01\nu2,yesterday\n",
      ["line 3", '"yesterday"', "is not a time"],
    ],
    ["a time that is missing", "who,at\nu1,2026-01-01\nu2,\n", ["line 3", "is empty"]],
    ["an impossible date", "who,at\nu1,2026-02-30\n", ["line 2", "2026-02-30"]],
    ["a row that is too short", "who,at,n\nu1,2026-01-01,1\nu1\n", ["line 3", "1 cells where 3"]],
    ["an open quote", 'who,at\nu1,2026-01-01\n"u2,2026-01-01\n', ["line 3", "never closed"]],
    ["a day of Excel", "who,at\nu1,46082.5\n", ["line 2", "not a time"]],
    ["a file without rows", "who,at\n", ["no row has a user"]],
    ["an empty file", "", ["no row has a user"]],
  ])("for %s", async (name, content, words) => {
    const { exitCode, stdout, stderr } = await bench.run(bench.file(`${name}.csv`, content), ...twoColumns);
    expect([exitCode, stdout]).toEqual([1, ""]);
    for (const word of words) expect(stderr).toContain(word);
    expect(stderr).not.toContain("imported");
    expect(bench.left()).toEqual([]);
  });

  test.each([
    [["--horizon", "0"], "whole number from 1"],
    [["--cutoffs", "many"], "whole number from 1"],
    [["--first-cutoff", "2026-02-30"], "Give a date"],
    [["--timezone", "Mars/Olympus"], "timezone"],
    [["--score", "account"], "give --account COLUMN"],
  ])("for %p", async (options, words) => {
    const { exitCode, stderr } = await bench.run(log, ...twoColumns, ...options);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(words);
  });

  test("for a file that is not there", async () => {
    const { exitCode, stderr } = await bench.run(`${log}.gone`, ...twoColumns);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("there is no file")]);
  });
});

describe("nothing is left in the temporary folder", () => {
  test("after a run", async () => {
    const { command, env } = bench.command(log, ...columns, "--cutoffs", "1");
    expect(await run(command, { env })).toMatchObject({ exitCode: 0 });
    expect(bench.left()).toEqual([]);
  });

  test.each([
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ] as const)("after %s", async (signal, exitCode) => {
    const { command, env } = bench.command(long, ...columns);
    let ended = 0;
    // Until a run gets the signal before it is done.
    while (ended === 0) {
      const child = Bun.spawn(command, { env, stdin: "ignore", stdout: "pipe", stderr: "pipe" });
      // The engine is open, and has written.
      await until(
        "100 files are there, or it has ended",
        () => bench.left().length >= 100 || child.exitCode !== null,
        Boolean,
        { everyMs: 5 },
      );
      child.kill(signal);
      ended = await child.exited;
      expect(bench.left()).toEqual([]);
    }
    expect(ended).toBe(exitCode);
  });
});

/** Users who come every day of the log. */
function everyDay(people: number): string {
  const lines = Array.from(
    { length: people * days },
    (_, i) => `u${i % people},${formatDay(simulatedFrom + Math.floor(i / people))}`,
  );
  return `who,at\n${lines.join("\n")}\n`;
}
