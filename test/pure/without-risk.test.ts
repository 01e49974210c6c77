/** The words of the revenue page about payers without a churn risk. */
import { expect, test } from "bun:test";
import { usualChurnText, withoutRiskText } from "../../dashboard/pages/revenue/without-risk.ts";
import { moneyIn } from "../../dashboard/text/money.ts";

const dollars = moneyIn("USD");

test("payers without a churn risk are counted, with their MRR and the reason", () => {
  expect(withoutRiskText({ withoutRisk: [] }, "account", dollars)).toBeUndefined();
  const none = { reason: "no_model", payers: 1, mrr: 4_900 } as const;
  expect(withoutRiskText({ withoutRisk: [none] }, "user", dollars)).toBe(
    "1 user with $49.00 MRR has no churn risk, because no model is good enough.",
  );
  const unused = { reason: "unused", payers: 12, mrr: 120_000 } as const;
  const recent = { reason: "new", payers: 2, mrr: 5_000 } as const;
  expect(withoutRiskText({ withoutRisk: [unused] }, "account", dollars)).toBe(
    "12 accounts with $1,200 MRR have no churn risk: not active in the 26 weeks before the scores.",
  );
  expect(withoutRiskText({ withoutRisk: [unused, recent] }, "account", dollars)).toBe(
    "14 accounts with $1,250 MRR have no churn risk: 12 ($1,200) not active in the 26 weeks before the scores, 2 ($50.00) without MRR at the time of the scores.",
  );
});

test("the usual churn is told with its interval", () => {
  const baseRate = { rate: 0.078, low: 0.06, high: 0.101 };
  expect(usualChurnText({ baseRate, horizonDays: 28 }, "account")).toBe(
    "In the past 7.8% (6% to 10.1%) of accounts churned within 28 days.",
  );
  expect(usualChurnText({ baseRate: null, horizonDays: 28 }, "account")).toBe("");
});
