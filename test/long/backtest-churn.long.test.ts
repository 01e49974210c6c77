/** `rekindle backtest` on a declared churn, with traits, and without each group of features. */
import { afterAll, describe, expect, test } from "bun:test";
import { gzipSync } from "node:zlib";
import { formatDay } from "../../server/calendar/days.ts";
import { type Answer, BacktestBench } from "../scoring/backtest-support.ts";
import { simulatedFrom, simulateLogs } from "../scoring/support.ts";

const bench = new BacktestBench();
afterAll(() => bench.end());

/** Just enough for four cut-offs and a cut-off to train at for each: every further two weeks take 0.2 s a
 * run. */
const logDays = 260;
const people = 400;
const columns = ["--entity", "who", "--time", "at", "--event", "what"];
const ofChurn = [...columns, "--cutoffs", "4", "--churn-event", "canceled"];

/** Users who cancel four days after their last activity, and go on or not. Every tenth resumes a day
 * later. */
const users = simulateLogs(people, logDays, 5).map(({ log, traits = {} }, index) => {
  const lastDay = log.at(-1)?.day ?? simulatedFrom;
  // With no departure in the last 24 days they would seem to have stopped coming, and the last cut-off would
  // be dropped.
  const canceledDay = lastDay < simulatedFrom + logDays - 14 ? lastDay + 4 : undefined;
  return { id: `u${index}`, log, traits, canceledDay, hasResumed: index % 10 === 0 };
});

function linesOf({ id, log, canceledDay, hasResumed }: (typeof users)[number]): string[] {
  const line = (day: number, event: string) => `${id},${formatDay(day)},${event}`;
  return [
    ...log.map(({ day, event }) => line(day, event)),
    ...(canceledDay === undefined ? [] : [line(canceledDay, "canceled")]),
    ...(canceledDay === undefined || !hasResumed ? [] : [line(canceledDay + 1, "resumed")]),
  ];
}

/** Whether any of an account's users canceled before a day. */
function hasCanceled(ofAccount: typeof users, day: number): boolean {
  return ofAccount.some(({ canceledDay }) => canceledDay !== undefined && canceledDay < day);
}

/** Whether a user did anything in the 26 weeks before a day. */
function wasSeenBefore({ log }: (typeof users)[number], cutoff: number): boolean {
  return log.some(({ day }) => day < cutoff && day >= cutoff - 182);
}

/** How many entities the four cut-offs score, idle or not, and how many of them canceled. @param entities the
 * users of each */
function counted(entities: readonly (typeof users)[]): { readonly n: number; readonly churned: number } {
  const labels = [1, 2, 3, 4]
    .map((back) => simulatedFrom + logDays - 28 * back)
    .flatMap((cutoff) =>
      entities
        .filter((own) => own.some((user) => wasSeenBefore(user, cutoff)) && !hasCanceled(own, cutoff))
        .map((own) => hasCanceled(own, cutoff + 28)),
    );
  return { n: labels.length, churned: labels.filter(Boolean).length };
}

const countedIn = ({ n, baseRate }: Answer) => ({ n, churned: Math.round(n * (baseRate ?? 0)) });

const lines = users.flatMap(linesOf);
const log = bench.file("log.csv", `who,at,what\n${lines.join("\n")}\n`);
/** Enough for one cut-off with departures to train on. */
const shortEnd = formatDay(simulatedFrom + 210);
const shortLines = lines.filter((line) => (line.split(",")[1] ?? "") < shortEnd);
const short = bench.file("short.csv", `who,at,what\n${shortLines.join("\n")}\n`);
/** Two users, for refusals. */
const small = bench.file("small.csv", "who,at,what\nu0,2025-01-01,canceled\nu1,2025-01-01,open\n");
const traitsText = users
  .map(({ id, log, traits }) => `${id},${formatDay(log[0]?.day ?? 0)},${JSON.stringify(traits)}\n`)
  .join("");
const traitsFile = bench.file("traits.csv", traitsText);

describe("a declared churn", () => {
  test("is predicted by the regression alone, beside the baselines", async () => {
    const answer = await bench.json(log, ...ofChurn);
    expect(answer.models.map(({ name }) => name)).toEqual(["logistic", "recency", "hiatus", "base"]);
    expect(countedIn(answer)).toEqual(counted(users.map((user) => [user])));
    const { stdout } = await bench.run(short, ...columns, "--cutoffs", "1", "--churn-event", "canceled");
    expect(stdout).toMatch(/^churned: canceled, within 28 days; 1 cut-offs/m);
    expect(stdout).toMatch(/^ships: (logistic|none); /m);
  });

  test("that is undone is none", async () => {
    const [once, undone] = [
      await bench.json(log, ...ofChurn),
      await bench.json(log, ...ofChurn, "--undone-by", "resumed"),
    ];
    expect(countedIn(undone).churned).toBeLessThan(countedIn(once).churned);
    expect(undone.n).toBeGreaterThan(once.n);
  });

  test("of accounts is that of any of their users", async () => {
    const accounts = 200;
    const rows = users.flatMap((user, index) => linesOf(user).map((line) => `${line},a${index % accounts}`));
    const path = bench.file("accounts.csv", `who,at,what,where\n${rows.join("\n")}\n`);
    const answer = await bench.json(path, ...ofChurn, "--account", "where", "--score", "account");
    expect(answer.models.map(({ name }) => name)).toContain("recency");
    const members = Array.from({ length: accounts }, (_, account) =>
      users.filter((_user, index) => index % accounts === account),
    );
    expect(countedIn(answer)).toEqual(counted(members));
    expect(counted(members).churned).toBeGreaterThan(0);
  });

  test("that few did has no model, and says what is missing", async () => {
    const canceledLate = users.filter(({ canceledDay = 0 }) => canceledDay >= simulatedFrom + 118);
    const few = new Set(canceledLate.slice(0, 20));
    const some = users.map((user) => (few.has(user) ? user : { ...user, canceledDay: undefined }));
    const path = bench.file("few.csv", `who,at,what\n${some.flatMap(linesOf).join("\n")}\n`);
    const { stdout } = await bench.run(path, ...ofChurn);
    expect(stdout).toContain("ships: none; there is too little data for a churn risk; its back-test has");
    expect(stdout).toMatch(/^logistic lacks entities that churned: \d+ of 30$/m);
  });
});

describe("traits", () => {
  const answerOf = (...options: string[]) => bench.json(log, ...columns, "--cutoffs", "4", ...options);
  const logisticOf = (answer: Answer) => answer.models.find(({ name }) => name === "logistic");

  test("are columns of the regression", async () => {
    const [without, answer] = [await answerOf(), await answerOf("--traits", traitsFile)];
    expect(logisticOf(answer)?.logLoss).not.toBe(logisticOf(without)?.logLoss);
    expect(answer.models.map(({ name }) => name)).toEqual(without.models.map(({ name }) => name));
  });

  test("are the same with a header, tabs, quotes, as objects and in a .gz", async () => {
    const answerOf = (...options: string[]) => bench.json(short, ...columns, "--cutoffs", "1", ...options);
    const expected = await answerOf("--traits", traitsFile);
    expect(expected).not.toEqual(await answerOf());
    const fields = traitsText
      .trim()
      .split("\n")
      .map((line) => /^([^,]*),([^,]*),(.*)$/.exec(line)?.slice(1) ?? []);
    const quoted = fields.map(([id, at, json = ""]) => `"${id}","${at}","${json.replaceAll('"', '""')}"\n`);
    const objects = fields.map(
      ([entity, time, json = ""]) => `${JSON.stringify({ entity, time, traits: JSON.parse(json) })}\n`,
    );
    const packed = bench.file("traits.csv.gz", gzipSync(traitsText));
    for (const [name, text] of [
      ["header.csv", `id,time,traits\n${traitsText}`],
      ["tabs.tsv", fields.map((line) => `${line.join("\t")}\n`).join("")],
      ["quoted.csv", quoted.join("\n")],
      ["objects.jsonl", objects.join("")],
    ] as const) {
      expect(await answerOf("--traits", bench.file(name, text))).toEqual(expected);
    }
    expect(await answerOf("--traits", packed)).toEqual(expected);
  });

  test("that were said later change nothing", async () => {
    const later = users.map(
      ({ id, traits }) => `${id},${formatDay(simulatedFrom + logDays)},${JSON.stringify(traits)}\n`,
    );
    const path = bench.file("later.csv", later.join(""));
    expect(await answerOf("--traits", path)).toEqual(await answerOf());
  });

  test("of users without events are counted and left out", async () => {
    const path = bench.file("others.csv", `${traitsText}nobody,2025-01-01,{"plan":"pro"}\n`);
    const { stdout } = await bench.run(short, ...columns, "--cutoffs", "1", "--traits", path);
    expect(stdout).toContain("1 lines of traits are of users without events");
  });

  test.each([
    ["no JSON", "u1,2025-01-01,plan=pro\n", ["line 2", "field of traits is not valid JSON"]],
    ["an array", "u1,2025-01-01,[1]\n", ["line 2", "field of traits is not a JSON object"]],
    ["no time", 'u1,yesterday,{"plan":"pro"}\n', ["line 2", '"yesterday"', "not a time"]],
    ["no entity", ',2025-01-01,{"plan":"pro"}\n', ["line 2", "the entity is missing"]],
    ["two fields", "u1,2025-01-01\n", ["line 2", "three fields"]],
    ["four fields", 'u1,2025-01-01,"{}",4\n', ["line 2", "more than three fields"]],
    ["an open quote", '"u1,2025-01-01,{}\n', ["line 2", "not closed"]],
    ["no traits in an object", '{"entity":"u1","time":"2025-01-01"}\n', ["line 2", "traits are missing"]],
    ["a number that is rounded", 'u1,2025-01-01,{"n":9007199254740993}\n', ["line 2", "9007199254740993"]],
  ])("with %s are refused by their line", async (name, line, words) => {
    const path = bench.file(`${name}.csv`, `u0,2025-01-01,{"plan":"pro"}\n${line}`);
    const { exitCode, stdout, stderr } = await bench.run(small, ...columns, "--traits", path);
    expect([exitCode, stdout]).toEqual([1, ""]);
    for (const word of words) expect(stderr).toContain(word);
  });

  test("of nobody in the log are refused", async () => {
    const path = bench.file("strangers.csv", 'nobody,2025-01-01,{"plan":"pro"}\n');
    const { exitCode, stderr } = await bench.run(small, ...columns, "--traits", path);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("is of an entity of the log")]);
  });
});

describe("--compare", () => {
  const options = [...columns, "--cutoffs", "4", "--compare", "--traits", traitsFile];
  const groups = ["silence-frequency", "trend", "breadth-volume", "tenure", "bgbb", "mix", "traits"];

  test("adds the regression without each group to the documented answer", async () => {
    const answer = await bench.json(log, ...options);
    expect(Object.keys(answer)).toEqual(["horizonDays", "n", "baseRate", "models", "shipped"]);
    expect(answer.models.map(({ name }) => name)).toEqual([
      "prior",
      "bgbb",
      "bgbb-platt",
      "logistic",
      "recency",
      "hiatus",
      ...groups.map((group) => `logistic-without-${group}`),
      "base",
    ]);
    const { models: all, ...rest } = await bench.json(
      log,
      ...columns,
      "--cutoffs",
      "4",
      "--traits",
      traitsFile,
    );
    expect(answer).toMatchObject({ ...rest, models: expect.arrayContaining(all) });
  });

  test("prints what each group is worth", async () => {
    const { stdout } = await bench.run(log, ...options);
    expect(stdout).toMatch(/^logistic without +AUC +change +log loss +change$/m);
    expect(stdout).toMatch(/^nothing +0\.\d{4} +0\.\d{4}$/m);
    for (const group of groups) {
      expect(stdout).toMatch(new RegExp(`^${group} +0\\.\\d{4} +[+-]0\\.\\d{4} +\\d\\.\\d{4} +[+-]\\d`, "m"));
    }
  });

  test("says when the regression cannot be trained", async () => {
    const few = users.slice(0, 70).flatMap(linesOf);
    const path = bench.file("seventy.csv", `who,at,what\n${few.join("\n")}\n`);
    const { stdout } = await bench.run(path, ...columns, "--cutoffs", "4", "--compare");
    expect(stdout).toContain("no group of features can be left out");
  });
});

describe("a refusal in words", () => {
  test.each([
    [["--churn-event", "canceled"], "give --event COLUMN"],
    [["--event", "what", "--undone-by", "resumed"], "give --churn-event NAME"],
    [["--event", "what", "--churn-event", "left"], 'no event is named "left"; there are "'],
    [["--event", "what", "--churn-event", "canceled", "--undone-by", "back"], 'no event is named "back"'],
    [["--event", "what", "--churn-event", "canceled", "--undone-by", "canceled"], "another event"],
    [["--event", "what", "--churn-event", "canceled", "--everyone"], "--everyone"],
    [["--traits", "/nowhere.csv"], "there is no file /nowhere.csv"],
  ])("for %p", async (options, words) => {
    const { exitCode, stderr } = await bench.run(small, "--entity", "who", "--time", "at", ...options);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(words);
  });
});
