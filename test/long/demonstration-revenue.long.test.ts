/** From `rekindle demo`, as it is without options, to MRR at risk. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { Server } from "../server.ts";

/** Each day's demonstration is another, and a model that is right fails its back-test on one day of five. On this day it passes. */
const demonstratedAtMs = Date.UTC(2026, 10, 26, 9);
let server: Server;
let key: string;

beforeAll(async () => {
  const aheadMs = demonstratedAtMs - Date.now();
  server = await Server.start({ time: { aheadMs, scheduleMs: null } });
  await server.ready();
  await server.command("demo");
  await server.command("score", "--organization", "Demo");
  key = (await server.command("key", "create", "--organization", "Demo")).trim();
}, 900_000);
afterAll(() => server.stop());

async function ask<Answer>(path: string): Promise<Answer> {
  const response = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

test("the ends of subscriptions suffice for a model that passes every gate", async () => {
  const card = await ask<RouteAnswer<"GET /api/model">>("/api/model?kind=account");
  expect(card).toMatchObject({ model: "logistic", isProven: true, churnTarget: { by: "subscription" } });
  expect(card.proof?.rarerLabels.have).toBeGreaterThanOrEqual(card.proof?.rarerLabels.need ?? 30);
  expect(card.trainedOn?.churnedLabels).toBeGreaterThan(40);
  const served = card.models.find(({ model }) => model === "logistic");
  const withScheduled = card.withCanceling.find(({ model }) => model === "logistic");
  expect(served?.failures).toEqual([]);
  expect(withScheduled?.count).toBeGreaterThan(served?.count ?? 0);
  expect(served?.involuntaryDepartures).toBeLessThan(served?.departures ?? 0);
});

test("MRR is at risk in many accounts, and the rest of MRR has a reason", async () => {
  const answer = await ask<RouteAnswer<"GET /api/revenue/at-risk">>("/api/revenue/at-risk");
  const { expectedLoss, atRisk, mrr, mrrWithRisk, payers, payersWithRisk, withoutRisk } = answer;
  expect(payersWithRisk).toBeGreaterThan(50);
  expect(expectedLoss?.mrr).toBeWithin(0.005 * mrr, 0.3 * mrr);
  expect(expectedLoss?.low).toBeLessThan(expectedLoss?.mrr ?? 0);
  expect(expectedLoss?.high).toBeGreaterThan(expectedLoss?.mrr ?? 0);
  expect(atRisk.filter(({ expectedLoss: loss }) => (loss ?? 0) > 0).length).toBeGreaterThan(50);
  const sumOf = (one: "payers" | "mrr") => withoutRisk.reduce((sum, row) => sum + row[one], 0);
  expect([payersWithRisk + sumOf("payers"), mrrWithRisk + sumOf("mrr")]).toEqual([payers, mrr]);
  expect(withoutRisk.map(({ reason }) => reason)).not.toContain("no_model");
});
