/** The verdict, and that its SQL says what its function says. */
import { expect, test } from "bun:test";
import { Verdict } from "../../contract/api/score-parts.ts";
import { absoluteRiskScale, riskScaleOf } from "../../server/scoring/scores/risk-scale.ts";
import { type Judged, verdictOf, verdictSql } from "../../server/scoring/scores/verdict.ts";
import { WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();

const of = (judged: Partial<Judged>) =>
  verdictOf(
    { state: "active", healthBand: "healthy", risk: 0.05, isAccountChurned: false, ...judged },
    absoluteRiskScale,
  );

test("is the first that holds, the worst first", () => {
  expect(of({ state: "churned", isAccountChurned: true, healthBand: "churned", risk: null })).toBe("churned");
  expect(of({ isAccountChurned: true, risk: 0.9 })).toBe("account_churned");
  expect(of({ healthBand: "watch", risk: 0.5 })).toBe("high_risk");
  expect(of({ state: "new", healthBand: "onboarding", risk: 0.6 })).toBe("high_risk");
  expect(of({ healthBand: "at_risk", risk: 0.3 })).toBe("at_risk");
  expect(of({ state: "new", healthBand: "onboarding", risk: 0.3 })).toBe("new");
  expect(of({ risk: 0.2 })).toBe("watch");
  expect(of({ healthBand: "watch" })).toBe("watch");
  expect(of({})).toBe("healthy");
  expect(of({ state: "", healthBand: "", risk: null })).toBe("no_score");
});

test.each([null, 0.02, 0.3])(
  "is the same in the engine, for every input, at the base rate %p",
  async (baseRate) => {
    const limits = riskScaleOf(baseRate);
    const { medium, high } = limits;
    const judged = (["", "no_data", "churned", "new", "active"] as const).flatMap((state) =>
      (["", "healthy", "watch", "at_risk", "onboarding", "churned", "none"] as const).flatMap((healthBand) =>
        [null, 0, medium - 1e-9, medium, high - 1e-9, high, 1].flatMap((risk) =>
          [true, false].map((isAccountChurned): Judged => ({ state, healthBand, risk, isAccountChurned })),
        ),
      ),
    );
    const columns = {
      state: "state",
      healthBand: "healthBand",
      risk: "risk",
      isAccountChurned: "isAccountChurned",
    };
    const rows = await subject.warehouse.rows<{ verdict: string }>(
      `SELECT ${verdictSql(columns, limits)} AS verdict
     FROM (
       SELECT number, {states:Array(String)}[number + 1] AS state, {colours:Array(String)}[number + 1] AS healthBand,
         nullIf({risks:Array(Float64)}[number + 1], -1.) AS risk,
         toBool({churned:Array(UInt8)}[number + 1]) AS isAccountChurned
       FROM numbers({count:UInt32}))
     ORDER BY number`,
      {
        states: judged.map(({ state }) => state),
        colours: judged.map(({ healthBand }) => healthBand),
        risks: judged.map(({ risk }) => risk ?? -1),
        churned: judged.map(({ isAccountChurned }) => (isAccountChurned ? 1 : 0)),
        count: judged.length,
      },
    );
    const verdicts = judged.map((each) => verdictOf(each, limits));
    expect(rows.map(({ verdict }) => verdict)).toEqual(verdicts);
    expect([...new Set(verdicts)].sort()).toEqual([...Verdict.enum].sort());
  },
);
