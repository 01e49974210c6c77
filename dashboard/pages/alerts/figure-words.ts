/** The figures of a rule that is on, in words. */
import type { Reads } from "../../api/query.ts";
import { counted, dayText, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";

export type Figures = Reads["/api/alert-rules/figures"]["answer"];
export type FiguresOfRule = Figures["rules"][number];
type Outcomes = FiguresOfRule["untouched"];
type ControlGroup = NonNullable<FiguresOfRule["holdOut"]>;

/** The figures of a rule as sentences. @param isWithoutChurn a source does not churn, and a rule about
 * customers who could buy more is not about churn */
export function figureSentences(
  { fired, since, perWeek, untouched, touched, baseRate }: FiguresOfRule,
  horizonDays: number,
  isWithoutChurn: boolean,
): readonly string[] {
  return [
    firedSentence({ fired, since, perWeek }),
    ...(isWithoutChurn ? [] : [untouchedSentence(untouched, baseRate.rate, horizonDays)]),
    ...(isWithoutChurn || touched.mature === 0
      ? []
      : [
          `Touched (a contact, a task or “handled”), not in the precision: ${numbers.wholeShare(touched.rate)} of ${counted(touched.mature, "alert")} were followed by churn.`,
        ]),
  ];
}

/** The alerts. A rate per week comes once a week is over. */
function firedSentence({
  fired,
  since,
  perWeek,
}: Pick<FiguresOfRule, "fired" | "since" | "perWeek">): string {
  if (fired === 0) return perWeek === null ? "No alert yet." : "No alert in the last 90 days.";
  const alerts = `${counted(fired, "alert")} since ${dayText(since)}.`;
  return perWeek === null ? alerts : `Fired ${numbers.decimal(perWeek)} times a week: ${alerts}`;
}

/** Whether a control group asks to stop: the rule harms, or one group has lost entries. */
export function needsStop({
  verdict,
  isRatioOff,
}: Pick<NonNullable<ControlGroup["result"]>, "verdict" | "isRatioOff">): boolean {
  return verdict === "harms" || isRatioOff;
}

/** The control group of a rule in sentences. */
export function controlGroupSentences({
  since,
  controls,
  treated,
  result,
  followUp,
}: ControlGroup): readonly string[] {
  return [
    `Control group since ${dayText(since)}: ${counted(controls, "control")}, ${counted(treated, "other")}.`,
    ...(result === null ? [] : [result.sentence]),
    ...(followUp === null ? [] : [followUpSentence(followUp)]),
    ...(result === null || result.contaminated === 0
      ? []
      : [
          `${counted(result.contaminated, "control")} had a contact or an alert of another rule all the same.`,
        ]),
  ];
}

function followUpSentence({
  days,
  currency,
  arms: { treated, control },
}: NonNullable<ControlGroup["followUp"]>): string {
  const { short } = moneyIn(currency);
  const each = (mrr: number, entries: number) => short(entries === 0 ? null : mrr / entries);
  const ofArm = ({ entries, mrrAtEntry, mrrKept }: typeof treated) =>
    `${each(mrrKept, entries)} (was ${each(mrrAtEntry, entries)})`;
  return `After ${counted(days, "day")} ${control.paying} of ${control.entries} pay without the rule, ${treated.paying} of ${treated.entries} with it. MRR per customer after discounts: ${ofArm(control)} without, ${ofArm(treated)} with it.`;
}

function untouchedSentence(
  { mature, rate, interval, medianLeadDays }: Outcomes,
  baseRate: number | null,
  horizonDays: number,
): string {
  if (mature === 0 || interval === null) {
    return `No untouched alert is older than the churn horizon of ${counted(horizonDays, "day")}, so precision is unknown.`;
  }
  const range = `${numbers.wholeShare(interval.low)} to ${numbers.wholeShare(interval.high)}`;
  const lead =
    medianLeadDays === null ? "" : ` Median lead time to churn: ${numbers.decimal(medianLeadDays)} days.`;
  return `${numbers.wholeShare(rate)} of ${counted(mature, "untouched alert")} churned (${range}). Of all: ${numbers.wholeShare(baseRate)}.${lead}`;
}
