/** Segments by the front door: people of two plans, of whom those of one leave much sooner. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Static } from "typebox";
import type { ModelAnswer, ScoreAnswer } from "../../contract/api-scores.ts";
import { formatDay } from "../../server/calendar/days.ts";
import { randomBeta, randomFrom } from "../scoring/random.ts";
import { Server } from "../server.ts";

let server: Server;
let key = "";
const today = Math.floor(Date.now() / 86_400_000);
const users = 300;
const days = 360;
/** Too few for a segment. */
const students = 5;

function planOf(index: number): string {
  if (index < students) return "student";
  return index % 2 === 0 ? "trial" : "pro";
}

/**
 * Days before today on which they were active. They live by BG/BB in weeks: on trial they come often and leave soon,
 * with a plan seldom and for long. Weights of this size make segments better than any rung without, on whatever
 * weekday the weekly training falls.
 */
function activeDays(): number[][] {
  const random = randomFrom(5);
  return Array.from({ length: users }, (_, index) => {
    const isTrial = index % 2 === 0;
    const activity = isTrial ? randomBeta(random, 8, 3) : randomBeta(random, 3, 5);
    const leaving = isTrial ? randomBeta(random, 3, 12) : randomBeta(random, 1, 60);
    const first = days - Math.floor(random() * days);
    const active: number[] = [];
    for (let week = first; week > 0; week -= 7) {
      if (week === first || random() < activity) active.push(Math.max(1, week - Math.floor(random() * 7)));
      if (random() < leaving) break;
    }
    return active;
  });
}

const activeOfAll = activeDays();

function isWithin(value: number | undefined, from: number, to: number): boolean {
  return value !== undefined && value >= from && value <= to;
}

/** Asked one after the other: more than 32 questions of a key are not answered at once. */
async function scoresOf(paths: readonly string[]): Promise<Static<typeof ScoreAnswer>[]> {
  const scores: Static<typeof ScoreAnswer>[] = [];
  for (const path of paths) scores.push(await get(path));
  return scores;
}

async function get<Answer>(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  if (!response.ok) throw new Error(`${path}: ${await response.text()}`);
  return response.json() as Promise<Answer>;
}

beforeAll(async () => {
  server = await Server.start();
  await server.ready();
  const token = await server.organization("Plans");
  key = (await server.command("key", "create", "--organization", "Plans")).trim();
  const items = activeOfAll.flatMap((active, index) => [
    {
      ...{ type: "identify", userId: `u${index}`, email: `u${index}@example.com` },
      properties: { plan: planOf(index), coin: index % 3 === 0 },
      account: { id: `account-${index % 7}`, name: `Account ${index % 7}` },
    },
    ...active.map((daysAgo) => ({
      ...{ type: "track", userId: `u${index}`, event: "opened" },
      timestamp: `${formatDay(today - daysAgo)}T12:00:00Z`,
    })),
  ]);
  for (let from = 0; from < items.length; from += 1_000) {
    const response = await server.post("/batch", token, { batch: items.slice(from, from + 1_000) });
    expect(((await response.json()) as { rejected: unknown }).rejected).toEqual([]);
  }
  await server.command("score", "--organization", "Plans");
}, 240_000);
afterAll(() => server.stop());

describe("segments of BG/BB", () => {
  test("are made by the trait that tells, and serve because the back-test proves them", async () => {
    const card = await get<Static<typeof ModelAnswer>>("/api/model");
    expect(card.isProven).toBe(true);
    expect(card.segments?.trait).toBe("plan");
    expect(card.segments?.values.map(({ value }) => value).toSorted()).toEqual(["pro", "trial"]);
    const leaving = (value: string) => {
      const found = card.segments?.values.find((each) => each.value === value)?.parameters;
      return (found?.gamma ?? 0) / ((found?.gamma ?? 0) + (found?.delta ?? 1));
    };
    expect(leaving("trial")).toBeGreaterThan(2 * leaving("pro"));
    const lossOf = (name: string) => card.models.find(({ model }) => model === name)?.logLoss ?? Number.NaN;
    expect(lossOf("rung 1 by segment")).toBeLessThan(lossOf("rung 1"));
    expect(card.reliability.length).toBeGreaterThan(5);
  });

  test("are named in each score, and in the reasons of those who are in one", async () => {
    const scores = await scoresOf(Array.from({ length: 60 }, (_, index) => `/api/users/u${index}/score`));
    let compared = 0;
    for (const [index, { model, risk }] of scores.entries()) {
      const value = index < students ? null : planOf(index);
      expect(model?.segment).toEqual({ trait: "plan", value });
      if (risk === null) continue;
      const sum = risk.reasons.reduce((total, { points }) => total + points, 0);
      expect(sum).toBeCloseTo(100 * (risk.probability - risk.referenceRisk), 6);
      const reason = risk.reasons.find(({ group }) => group === "traits");
      if (value === null) expect(reason).toBeUndefined();
      else expect(reason?.text).toStartWith(`plan is ${value}: `);
      compared += 1;
    }
    expect(compared).toBeGreaterThan(10);
  });

  test("have no part in what people did, when the settings of now go without them", async () => {
    const since = formatDay(today - 7);
    await server.command("score", "--organization", "Plans", "--as-of", since);
    await server.command("settings", "set", "--organization", "Plans", "--churn-horizon", "84");
    await server.command("score", "--organization", "Plans");
    // Away since then, and at risk on both days.
    const awayDays = activeOfAll.map((active) => Math.min(...active));
    const away = [...awayDays.keys()].filter((index) => isWithin(awayDays[index], 8, 34)).slice(0, 40);
    const stayedAway = await scoresOf(away.map((index) => `/api/users/u${index}/score?since=${since}`));
    const risks = stayedAway.flatMap(({ change }) => change?.risk ?? []);
    expect(risks.length).toBeGreaterThan(10);
    expect(new Set(stayedAway.map(({ model }) => model?.segment))).toEqual(new Set([null]));
    for (const { behaviour, settings } of risks) {
      expect(behaviour).toBeCloseTo(0, 9);
      expect(settings).not.toBe(0);
    }
    for (const { change } of stayedAway) expect(change?.health?.behaviour ?? 0).toBeCloseTo(0, 9);
  });

  test("are nothing that accounts have: they have no traits", async () => {
    const card = await get<Static<typeof ModelAnswer>>("/api/model?kind=account");
    expect(card.segments).toBeNull();
    const { model } = await get<Static<typeof ScoreAnswer>>("/api/accounts/account-1/score");
    expect(model?.segment).toBeNull();
  });
});
