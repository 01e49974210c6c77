/** The text about payers without a churn risk: how many, with how much MRR, and why. */
import type { Reads } from "../../api/paths.ts";
import { counted, numbers } from "../../text/format.ts";
import type { Money } from "../../text/money.ts";

type Answer = Reads["/api/revenue/at-risk"]["answer"];
type Reason = Answer["withoutRisk"][number]["reason"];

/** After a number of payers. */
const reasons: Readonly<Record<Reason, string>> = {
  no_model: "because no model is good enough",
  new: "without MRR at the time of the scores",
  churned: "already churned by the churn target",
  unused: "not active in the 26 weeks before the scores",
};

/** "In the past 7.8% (6% to 10.1%) of accounts churned within 28 days." Empty where it is unknown. */
export function usualChurnText(
  { baseRate, horizonDays }: Pick<Answer, "baseRate" | "horizonDays">,
  kind: "account" | "user",
): string {
  if (baseRate === null) return "";
  const [rate, low, high] = [baseRate.rate, baseRate.low, baseRate.high].map(numbers.share);
  return `In the past ${rate} (${low} to ${high}) of ${kind}s churned within ${horizonDays} days.`;
}

/** "3 accounts with $1,200 MRR have no churn risk: 2 ($900) not active in …, 1 ($300) without …" Undefined
 * when all payers have one. */
export function withoutRiskText(
  { withoutRisk }: Pick<Answer, "withoutRisk">,
  kind: "account" | "user",
  money: Pick<Money, "short">,
): string | undefined {
  const sumOf = (one: "payers" | "mrr") => withoutRisk.reduce((sum, row) => sum + row[one], 0);
  const payers = sumOf("payers");
  const [first, ...others] = withoutRisk;
  if (first === undefined) return undefined;
  const all = `${counted(payers, kind)} with ${money.short(sumOf("mrr"))} MRR ${payers === 1 ? "has" : "have"} no churn risk`;
  if (others.length === 0) {
    const why = reasons[first.reason];
    return first.reason === "no_model" ? `${all}, ${why}.` : `${all}: ${why}.`;
  }
  const parts = withoutRisk.map(
    (row) => `${numbers.count(row.payers)} (${money.short(row.mrr)}) ${reasons[row.reason]}`,
  );
  return `${all}: ${parts.join(", ")}.`;
}
