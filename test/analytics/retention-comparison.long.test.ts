/** Groups of retention compared, through HTTP, and recounted from the sent events. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { RetentionAnswer, RetentionComparisonAnswer } from "../../contract/api/retention.ts";
import {
  differenceProbability,
  effectiveSample,
  holm,
  newcombe,
} from "../../server/scoring/statistics/difference.ts";
import { neverRising } from "../../server/scoring/statistics/isotonic.ts";
import { type Lifetimes, logRank } from "../../server/scoring/statistics/log-rank.ts";
import { Server } from "../server.ts";
import { randomOfThisRun } from "../warehouse/support.ts";
import { dateOf } from "./recount.ts";
import { msPerDay, patientGet } from "./world.ts";

type Comparison = Static<typeof RetentionComparisonAnswer>;

const weeks = 20;
const horizonDays = 28;
const plans = ["free", "pro", "team"] as const;
const today = Math.floor(Date.now() / msPerDay);
/** The Monday of this week: 1970-01-01 was a Thursday. */
const monday = today - ((today + 3) % 7);
const firstMonday = monday - 7 * weeks;

interface Person {
  readonly plan: string;
  readonly account: string | null;
  /** Weeks after the first, of the cohort and of the last activity. */
  readonly cohort: number;
  readonly last: number;
}

const people: Person[] = [];
let server: Server;
let key: string;

beforeAll(async () => {
  server = await Server.shared();
  const random = randomOfThisRun("retention comparison");
  const token = await server.organization("Groups", "--timezone", "UTC");
  key = (await server.command("key", "create", "--organization", "Groups")).trim();
  const batch: object[] = [];
  for (let n = 0; n < 240; n += 1) {
    const plan = random.pick(plans);
    const cohort = random.between(0, weeks - 4);
    // Members of one account leave at about the same time. Every fifth user has no account.
    const account = n % 5 === 0 ? null : `a${n >> 3}`;
    const lifetime = account === null ? random.between(0, 20) : ((n >> 3) * 7) % 15;
    // Without a difference between the plans Holm's correction makes most probabilities 1.
    const longer = 3 * plans.indexOf(plan);
    const last = Math.min(weeks, cohort + lifetime + longer + random.between(0, 2));
    people.push({ plan, account, cohort, last });
    const userId = `u${n}`;
    const about = { email: `${userId}@example.com`, properties: { plan } };
    batch.push({
      type: "identify",
      userId,
      ...about,
      ...(account !== null && { account: { id: account, name: account } }),
    });
    for (const week of new Set([cohort, random.between(cohort, last), last])) {
      const timestamp = new Date((firstMonday + 7 * week) * msPerDay + 1_000).toISOString();
      batch.push({ type: "track", userId, event: "opened", timestamp });
    }
  }
  await server.post("/batch", token, { batch });
  await server.exported("events", "Groups");
  await server.ready();
});
afterAll(() => server.stop());

async function ask<Answer>(
  path: string,
  more: Readonly<Record<string, string>> = {},
  asker = key,
): Promise<Answer> {
  const usual = { trait: "plan", asOf: "now", measure: "inOrAfter", alreadyHere: "counted", weekStart: "1" };
  const query = new URLSearchParams({ ...usual, ...more });
  const response = await patientGet(`${server.url}${path}?${query}`, asker);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

/** Whether a week after a cohort's own is complete. */
const isComplete = (cohort: number, at: number) => firstMonday + 7 * (cohort + at + 1) + horizonDays <= today;

const sizes = () => Map.groupBy(people, ({ account }) => account);
const isShared = (account: string | null) => account !== null && (sizes().get(account)?.length ?? 0) > 1;

/** The users of a plan as independent ones, at an age. */
function sampleOf(plan: string, at: number) {
  const mine = people.filter((one) => one.plan === plan && isComplete(one.cohort, at));
  const clusters = [...Map.groupBy(mine, ({ account }) => account)].flatMap(([account, of]) => {
    const hits = of.map(({ cohort, last }) => (last >= cohort + at ? 1 : 0));
    const sum = hits.reduce((all: number, hit) => all + hit, 0);
    if (account !== null) return [{ hits: sum, count: of.length, clusters: 1 }];
    return hits.map((hit) => ({ hits: hit, count: 1, clusters: 1 }));
  });
  return effectiveSample(clusters);
}

/** The users of a plan as independent ones, with the share of weeks that never rises. */
function keptOf(plan: string, at: number, periods: number) {
  const plain = sampleOf(plan, at);
  const mine = people.filter((one) => one.plan === plan);
  const weeksOf = Array.from({ length: periods }, (_, age) => {
    const known = mine.filter(({ cohort }) => isComplete(cohort, age));
    return { hits: known.filter(({ cohort, last }) => last >= cohort + age).length, count: known.length };
  });
  const share = neverRising(weeksOf.filter(({ count }) => count > 0))[at] ?? 0;
  return { ...plain, hits: share * plain.count };
}

/** @param periods of the question: it sees no period from this one on */
function lifetimesOf(plan: string, periods: number): Lifetimes[] {
  const numbers = new Map([...sizes().keys()].map((account, index) => [account, index]));
  return people
    .filter((one) => one.plan === plan)
    .map(({ account, cohort, last }) => {
      let known = 0;
      while (known + 1 < periods && isComplete(cohort, known + 1)) known += 1;
      const hasLeft = last - cohort < known;
      const cluster = isShared(account) ? (numbers.get(account) ?? null) : null;
      return { cluster, period: hasLeft ? last - cohort + 1 : known, hasLeft, count: 1 };
    });
}

test.each([
  ["6", "26"],
  ["11", "26"],
  ["4", "5"],
])("shares and differences after %s weeks of %s equal a recount", async (at, periods) => {
  const { groups, pairs, ...answer } = await ask<Comparison>("/api/retention/comparison", { at, periods });
  expect(answer.at).toBe(Number(at));
  // The best first; two may be equal.
  const recounted = groups.map(({ value: plan }) => ({
    plan: `${plan}`,
    sample: keptOf(`${plan}`, Number(at), Number(periods)),
    plain: sampleOf(`${plan}`, Number(at)),
  }));
  expect(recounted.map(({ plan }) => plan).toSorted()).toEqual(plans.toSorted());
  const shares = recounted.map(({ sample }) => sample.hits / sample.count);
  expect(shares).toEqual(shares.toSorted((a, b) => b - a));
  for (const [index, { plain }] of recounted.entries()) {
    const group = groups[index];
    expect(group?.share).toBeCloseTo(shares[index] ?? Number.NaN, 9);
    expect(group?.designEffect).toBeCloseTo(plain.designEffect, 9);
    expect(group?.users).toBe(Math.round(plain.hits * plain.designEffect));
    expect(group?.cohortUsers).toBe(Math.round(plain.count * plain.designEffect));
  }
  const tested = pairs.map(({ first, second }) => {
    const [a, b] = [recounted[first], recounted[second]];
    if (a === undefined || b === undefined) throw new Error("a pair is of two groups");
    const curve = logRank(lifetimesOf(a.plan, +periods), lifetimesOf(b.plan, +periods)).probability;
    return { ...newcombe(a.sample, b.sample), week: differenceProbability(a.sample, b.sample), curve };
  });
  expect(tested).toHaveLength(3);
  const weekly = holm(tested.map(({ week }) => week));
  const curves = holm(tested.map(({ curve }) => curve));
  expect(Math.min(...curves)).toBeLessThan(0.9);
  for (const [index, pair] of pairs.entries()) {
    expect(pair.low).toBeCloseTo(tested[index]?.low ?? Number.NaN, 9);
    expect(pair.high).toBeCloseTo(tested[index]?.high ?? Number.NaN, 9);
    expect(pair.probability).toBeCloseTo(weekly[index] ?? Number.NaN, 9);
    expect(pair.curveProbability).toBeCloseTo(curves[index] ?? Number.NaN, 9);
  }
});

test("groups have the shares of the table's mean row, at the last age that is known well", async () => {
  for (const measure of ["in", "inOrAfter"]) {
    const { mean } = await ask<Static<typeof RetentionAnswer>>("/api/retention", { measure });
    const { at, groups, pairs } = await ask<Comparison>("/api/retention/comparison", { measure });
    expect(at).toBeGreaterThan(5);
    for (const { value, users, cohortUsers, cohorts, share } of groups) {
      const cell = mean.find((one) => one.value === value && one.period === at);
      expect({ users, cohortUsers, cohorts, share }).toEqual({
        users: cell?.users ?? -1,
        cohortUsers: cell?.cohortUsers ?? -1,
        cohorts: cell?.cohorts ?? -1,
        share: cell?.share ?? -1,
      });
      expect(cohortUsers).toBeGreaterThanOrEqual(30);
    }
    expect(pairs.every(({ curveProbability }) => (curveProbability === null) === (measure === "in"))).toBe(
      true,
    );
  }
});

test("a question without a split has one group and nothing to compare", async () => {
  const response = await patientGet(`${server.url}/api/retention/comparison`, key);
  const { groups, pairs } = (await response.json()) as Comparison;
  expect([groups.length, pairs]).toEqual([1, []]);
});

test("an age that the question does not look at is refused", async () => {
  const at = (value: string) =>
    patientGet(`${server.url}/api/retention/comparison?trait=plan&periods=6&at=${value}`, key);
  expect((await at("5")).status).toBe(200);
  const refused = await at("6");
  expect(refused.status).toBe(400);
  expect(await refused.json()).toMatchObject({
    name: "validation_error",
    message: "at is not valid: send a number below periods, which is 6.",
  });
});

describe("an organization with mails long before its first users, and new plans", () => {
  let theirs: string;
  const firstUsers = 8;

  beforeAll(async () => {
    const token = await server.organization("Mails", "--timezone", "UTC");
    theirs = (await server.command("key", "create", "--organization", "Mails")).trim();
    const batch: object[] = [];
    const add = (userId: string, plan: string, event: string, onDay: number) => {
      const timestamp = new Date(onDay * msPerDay + 1_000).toISOString();
      batch.push({ type: "identify", userId, email: `${userId}@example.com`, properties: { plan } });
      batch.push({ type: "track", userId, event, timestamp });
    };
    add("mailed", "p0", "mail_sent", firstMonday);
    for (let n = 0; n < 42; n += 1) add(`early${n}`, `p${n % 14}`, "opened", firstMonday + 7 * firstUsers);
    for (let week = firstUsers + 1; week < weeks; week += 1) {
      for (const n of [2 * week, 2 * week + 1]) {
        add(`later${n}`, `p${n % 14}`, "opened", firstMonday + 7 * week);
      }
    }
    // More than of any other plan, and all of today.
    for (let n = 0; n < 10; n += 1) add(`new${n}`, "new", "opened", today);
    await server.post("/batch", token, { batch });
    await server.command("settings", "set", "--organization", "Mails", "--passive-event", "mail_sent");
    await server.exported("events", "Mails");
  });

  test("marks its first users as already here, from the first engagement event", async () => {
    const { cells } = await ask<Static<typeof RetentionAnswer>>("/api/retention", {}, theirs);
    const marked = new Set(cells.filter((cell) => cell.isAlreadyHere).map(({ cohortDay }) => cohortDay));
    expect([...marked]).toEqual([dateOf(firstMonday + 7 * firstUsers)]);
  });

  test("compares its 12 largest groups at an age that new plans do not set", async () => {
    const { at, groups, pairs } = await ask<Comparison>(
      "/api/retention/comparison",
      { measure: "in" },
      theirs,
    );
    expect(at).toBeGreaterThan(0);
    // The new plan is among the 12, without a complete week.
    expect([groups.length, pairs.length]).toEqual([11, 55]);
  });

  test("leaves its first users out of a comparison, unless they count", async () => {
    const usersOf = async (alreadyHere: string) => {
      const asked = { measure: "in", at: "0", alreadyHere };
      const { groups } = await ask<Comparison>("/api/retention/comparison", asked, theirs);
      return groups.reduce((sum, { cohortUsers }) => sum + cohortUsers, 0);
    };
    expect(await usersOf("counted")).toBeGreaterThan(await usersOf("leftOut"));
  });
});
