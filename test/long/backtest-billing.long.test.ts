/** `rekindle backtest` on a log with billing events: the end of subscriptions as churn, and features of
 * billing. */
import { afterAll, describe, expect, test } from "bun:test";
import { formatDay } from "../../server/calendar/days.ts";
import { Stream } from "../../simulation/random.ts";
import { type Answer, BacktestBench } from "../scoring/backtest-support.ts";
import { simulatedFrom, simulateLogs } from "../scoring/support.ts";

const bench = new BacktestBench();
afterAll(() => bench.end());

/** Enough for four cut-offs with departures to train on: every further two weeks take 0.3 s a run. */
const logDays = 400;
const endDay = simulatedFrom + logDays;
const columns = ["--entity", "who", "--time", "at", "--event", "what", "--properties", "said"];
const ofAccounts = [...columns, "--account", "where", "--score", "account"];
const bySubscription = [...ofAccounts, "--churn-target", "subscription"];
const fourCutoffs = ["--cutoffs", "4"];

interface LogLine {
  readonly who: string;
  readonly where: string;
  readonly at: string;
  readonly what: string;
  readonly said: object;
}

/**
 * Accounts of one user with a monthly subscription from the first day on. Most subscriptions end: a third of
 * these after a failed payment, which hardly ever happens to others, and a third as it was scheduled 40 days
 * before.
 */
const accounts = simulateLogs(600, logDays, 5)
  .map(({ log }) => log.map(({ day, event }) => ({ day, event })))
  .filter((log) => log.length > 0)
  .map((log, index) => {
    const random = new Stream(11, index, 0);
    const startedDay = log[0]?.day ?? simulatedFrom;
    const endedDay = random.chance(0.85) ? random.between(startedDay + 60, startedDay + 450) : undefined;
    const way = random.pick(["unpaid", "scheduled", "at once"] as const);
    const scheduledDay = endedDay !== undefined && way === "scheduled" ? endedDay - 40 : undefined;
    const failedDay =
      endedDay !== undefined && way === "unpaid"
        ? endedDay - 21
        : random.chance(0.1)
          ? random.between(startedDay, endDay)
          : undefined;
    return { id: `a${index}`, log, startedDay, endedDay, way, scheduledDay, failedDay };
  });

const price = { plan: "team", amount: 4_900, currency: "EUR", interval: "month" };

function linesOf({ id, log, startedDay, endedDay, scheduledDay, failedDay }: (typeof accounts)[number]) {
  const line = (day: number | undefined, what: string, said: object = {}): LogLine[] =>
    day === undefined || day >= endDay
      ? []
      : [{ who: `user of ${id}`, where: id, at: formatDay(day), what, said }];
  const billed = (day: number | undefined, what: string, more: object = {}) =>
    line(day, what, { subscriptionId: `sub ${id}`, ...more });
  return [
    ...log.flatMap(({ day, event }) => line(day, event)),
    ...billed(startedDay, "subscription_started", { ...price, currentPeriodEnd: formatDay(startedDay + 30) }),
    ...billed(failedDay, "payment_failed", { amount: 4_900, currency: "EUR" }),
    ...billed(scheduledDay, "cancellation_scheduled", { endsAt: formatDay(endedDay ?? 0) }),
    ...billed(endedDay, "subscription_canceled"),
  ];
}

const lines = accounts.flatMap(linesOf);
const csvOf = (some: readonly LogLine[]) =>
  `who,where,at,what,said\n${some
    .map(
      ({ said, ...cells }) =>
        `${Object.values(cells).join(",")},"${JSON.stringify(said).replaceAll('"', '""')}"\n`,
    )
    .join("")}`;
const log = bench.file("log.csv", csvOf(lines));
/** Enough for one cut-off: for questions whose answers are compared with each other. */
const shortLines = lines.filter(({ at }) => at < formatDay(simulatedFrom + 210));
const short = bench.file("short.csv", csvOf(shortLines));
const oneCutoff = ["--cutoffs", "1"];

/** The outcomes of the accounts that pay at the cut-offs and were seen in 26 weeks. */
const outcomes = [1, 2, 3, 4]
  .map((back) => endDay - 28 * back)
  .flatMap((cutoff) =>
    accounts
      .filter(
        ({ log, startedDay, endedDay = Number.POSITIVE_INFINITY }) =>
          log.some(({ day }) => day < cutoff && day >= cutoff - 182) &&
          startedDay < cutoff &&
          endedDay >= cutoff,
      )
      .map(({ endedDay, way, scheduledDay = Number.POSITIVE_INFINITY }) => {
        const hasLeft = endedDay !== undefined && endedDay < cutoff + 28;
        return { hasLeft, isUnpaid: hasLeft && way === "unpaid", isScheduled: scheduledDay < cutoff };
      }),
  );
const judged = outcomes.filter(({ isScheduled }) => !isScheduled);
const labels = judged.map(({ hasLeft }) => hasLeft);

/** The answer without `--compare`. */
function withoutComparisons(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer), (key, value) =>
    key === "models"
      ? value.filter(({ name }: { readonly name: string }) => !name.startsWith("logistic-without-"))
      : value,
  );
}

/** Sums in another order differ in their last digits. */
function near(answer: Answer): Answer {
  return JSON.parse(JSON.stringify(answer), (_key, value) =>
    typeof value === "number" ? expect.closeTo(value, 4) : value,
  );
}

describe("the end of subscriptions", () => {
  const answer = bench.json(log, ...bySubscription, ...fourCutoffs, "--compare");

  test("is the churn of accounts that pay and whose end is not scheduled", async () => {
    const { n, baseRate, models } = await answer;
    expect([n, Math.round(n * (baseRate ?? 0))]).toEqual([labels.length, labels.filter(Boolean).length]);
    expect(labels.filter(Boolean).length).toBeGreaterThan(30);
    expect(models.map(({ name }) => name)).toEqual(expect.arrayContaining(["logistic", "period-end"]));
  });

  test("by failed payments is counted apart, and scheduled ends are beside the figures", async () => {
    const { departures, involuntaryDepartures, withCanceling, models } = await answer;
    const unpaid = judged.filter(({ isUnpaid }) => isUnpaid).length;
    expect([departures, involuntaryDepartures]).toEqual([labels.filter(Boolean).length, unpaid]);
    expect(unpaid).toBeGreaterThan(10);
    const left = outcomes.filter(({ hasLeft }) => hasLeft).length;
    expect(withCanceling?.n).toBe(outcomes.length);
    expect(Math.round((withCanceling?.n ?? 0) * (withCanceling?.baseRate ?? 0))).toBe(left);
    const aucOf = (some: typeof models = []) => some.find(({ name }) => name === "logistic")?.auc ?? 0;
    // A scheduled end is easy to predict.
    expect(aucOf(withCanceling?.models)).toBeGreaterThan(aucOf(models));
  });

  test("is predicted by failed payments", async () => {
    const { models } = await answer;
    const logLossOf = (name: string) => models.find((model) => model.name === name)?.logLoss ?? Number.NaN;
    expect(logLossOf("logistic")).toBeLessThan(0.95 * logLossOf("logistic-without-billing"));
    expect(logLossOf("logistic")).toBeLessThan(0.95 * logLossOf("recency"));
    expect(logLossOf("logistic")).toBeLessThan(0.95 * logLossOf("period-end"));
  });

  test("is the same with properties as objects, and in any order", async () => {
    const objects = lines.map((line) => `${JSON.stringify(line)}\n`).toSorted();
    const path = bench.file("log.jsonl", objects.join(""));
    const ofObjects = await bench.json(path, ...bySubscription, ...fourCutoffs);
    expect(ofObjects).toEqual(near(withoutComparisons(await answer)));
  });

  test("is said in the table, with the number of billing events", async () => {
    const { stdout } = await bench.run(short, ...bySubscription, ...oneCutoff);
    const billing = shortLines.filter(({ said }) => "subscriptionId" in said).length;
    expect(stdout).toContain(`\n${billing} of them are billing events\n`);
    expect(stdout).toMatch(/^churned: .*subscription.*, within 28 days; 1 cut-offs/m);
  });
});

test("billing events are no activity, and tell of churn by silence, too", async () => {
  const silence = await bench.json(short, ...ofAccounts, ...oneCutoff, "--compare");
  const used = bench.file("used.csv", csvOf(shortLines.filter(({ said }) => !("subscriptionId" in said))));
  const without = await bench.json(used, ...ofAccounts, ...oneCutoff);
  expect([silence.n, silence.baseRate]).toEqual([without.n, without.baseRate]);
  expect(silence.models.map(({ name }) => name)).toContain("logistic-without-billing");
});

test("attributes of accounts are their traits, and may be the churn target", async () => {
  const said = accounts.map(({ id, startedDay, endedDay = endDay }) => [
    `${id},${formatDay(startedDay)},{"status":"customer"}\n`,
    ...(endedDay < endDay ? [`${id},${formatDay(endedDay)},{"status":"gone"}\n`] : []),
  ]);
  const path = bench.file("attributes.csv", said.flat().join(""));
  const byTrait = [...ofAccounts, ...fourCutoffs, "--churn-target", "trait status = gone", "--traits", path];
  const { n, baseRate } = await bench.json(log, ...byTrait);
  const population = [1, 2, 3, 4]
    .map((back) => endDay - 28 * back)
    .flatMap((cutoff) =>
      accounts
        .filter(
          ({ log, endedDay = endDay }) =>
            log.some(({ day }) => day < cutoff && day >= cutoff - 182) && endedDay >= cutoff,
        )
        .map(({ endedDay = endDay }) => endedDay < cutoff + 28 && endedDay < endDay),
    );
  expect([n, Math.round(n * (baseRate ?? 0))]).toEqual([
    population.length,
    population.filter(Boolean).length,
  ]);
});

describe("a refusal in words", () => {
  const started = { who: "u1", where: "a1", at: "2025-01-02", what: "subscription_started" };
  const opened = { ...started, what: "opened", said: {} };
  const file = (name: string, said: object) => bench.file(name, csvOf([opened, { ...started, said }]));
  const small = file("small.csv", { ...price, subscriptionId: "s1" });

  test.each([
    [["--churn-target", "subscription"], "give --properties COLUMN"],
    [["--properties", "said"], "give --event COLUMN"],
    [["--event", "what", "--churn-target", "event opened", "--churn-event", "opened"], "leave one out"],
    [["--churn-target", "trait status = gone"], "give --traits FILE"],
    [["--churn-target", "weekly"], "subscription"],
    [
      ["--event", "what", "--properties", "said", "--churn-target", "subscription", "--everyone"],
      "--everyone",
    ],
  ])("for %p", async (options, words) => {
    const { exitCode, stderr } = await bench.run(small, "--entity", "who", "--time", "at", ...options);
    expect(exitCode).toBe(1);
    expect(stderr).toContain(words);
  });

  test("for subscriptions of entities of the other kind, and for none", async () => {
    const account = [...columns, "--churn-target", "subscription", "--account", "where"];
    expect((await bench.run(small, ...account)).stderr).toContain(
      "give --account COLUMN and --score account",
    );
    const user = [...columns, "--churn-target", "subscription"];
    expect((await bench.run(small, ...user)).stdout).toContain("Not enough data");
    const none = file("none.csv", price);
    expect((await bench.run(none, ...user)).stderr).toContain("no event tells of a subscription");
  });

  test("for a wrong property of a billing event, by its line", async () => {
    const wrong = file("wrong.csv", { ...price, subscriptionId: "s1", amount: "much" });
    const { exitCode, stderr } = await bench.run(wrong, ...columns);
    expect([exitCode, stderr]).toEqual([1, expect.stringContaining("line 3: properties.amount is not")]);
    const broken = bench.file("broken.csv", "who,at,what,said\nu1,2025-01-02,subscription_started,{\n");
    expect((await bench.run(broken, ...columns)).stderr).toContain('line 2: the column "said"');
  });
});
