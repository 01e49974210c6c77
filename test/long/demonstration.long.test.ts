/** From `rekindle demo`, as it is without options, to all that its pages show at once. */
import { expect, test } from "bun:test";
import { demonstrated, missingOf, shownBy, starts } from "./demonstrated.ts";

/** Each day's demonstration is another. bench/demonstration.ts tries all of them. */
const [day, seed] = starts[0] ?? [Number.NaN, Number.NaN];

test("a model passes every gate, MRR is at risk, and there is work to look at", async () => {
  const { server, printed, ask } = await demonstrated(day, seed);
  const shown = await shownBy(ask);
  expect([shown, missingOf(shown)]).toEqual([shown, []]);
  expect(printed).toContain("4 alert rules");
  const card = await ask("GET /api/model", { query: "?kind=account" });
  const served = card.models.find(({ model }) => model === card.model);
  const withScheduled = card.withCanceling.find(({ model }) => model === card.model);
  expect(served?.failures).toEqual([]);
  expect(withScheduled?.count).toBeGreaterThan(served?.count ?? 0);
  expect(served?.involuntaryDepartures).toBeLessThan(served?.departures ?? 0);

  const answer = await ask("GET /api/revenue/at-risk");
  const { expectedLoss, mrr, mrrWithRisk, payers, payersWithRisk, withoutRisk } = answer;
  expect(payersWithRisk).toBeGreaterThan(50);
  expect(expectedLoss?.mrr).toBeWithin(0.005 * mrr, 0.3 * mrr);
  expect(expectedLoss?.low).toBeLessThan(expectedLoss?.mrr ?? 0);
  expect(expectedLoss?.high).toBeGreaterThan(expectedLoss?.mrr ?? 0);
  const sumOf = (one: "payers" | "mrr") => withoutRisk.reduce((sum, row) => sum + row[one], 0);
  expect([payersWithRisk + sumOf("payers"), mrrWithRisk + sumOf("mrr")]).toEqual([payers, mrr]);
  expect(withoutRisk.map(({ reason }) => reason)).not.toContain("no_model");

  // The service scores the first of each month by itself, after the days that matter more.
  for (const first of ["2026-10-01", "2026-09-01", "2026-08-01"])
    await server.command("score", "--organization", "Demo", "--as-of", first);
  const { isForecast, months } = await ask("GET /api/renewals");
  const compared = months.filter(({ isCompared }) => isCompared);
  expect([isForecast, compared.length]).toEqual([true, 3]);
  for (const { expectedMrr, renewedWithRiskMrr } of compared) {
    const expected = expectedMrr ?? Number.NaN;
    expect(renewedWithRiskMrr ?? Number.NaN).toBeWithin(0.95 * expected, 1.05 * expected);
  }
  const { comments } = await ask("GET /api/churn-reasons");
  expect(comments.length).toBe(20);
  await server.stop();
});
