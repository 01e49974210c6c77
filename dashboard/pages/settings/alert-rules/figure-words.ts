/** The figures of a rule that is on, in words. */
import type { Reads } from "../../../api/query.ts";
import { counted, dayText, numbers } from "../../../text/format.ts";

export type Figures = Reads["/api/alert-rules/figures"]["answer"];
export type FiguresOfRule = Figures["rules"][number];
type Outcomes = FiguresOfRule["untouched"];

/** The figures of a rule as sentences. @param isOfSource a source does not churn */
export function figureSentences(
  { perWeek, weeks, untouched, touched, baseRate, holdOut }: FiguresOfRule,
  horizonDays: number,
  isOfSource: boolean,
): readonly string[] {
  const hasFired = weeks.some(({ fired }) => fired > 0);
  return [
    hasFired ? `Fired ${numbers.decimal(perWeek)} times a week.` : "No alert in the last 90 days.",
    ...(isOfSource ? [] : [untouchedSentence(untouched, baseRate.rate, horizonDays)]),
    ...(touched.mature === 0
      ? []
      : [
          `Touched (a contact, a task or “handled”), not in the precision: ${numbers.wholeShare(touched.rate)} of ${counted(touched.mature, "alert")} were followed by churn.`,
        ]),
    ...(holdOut === null
      ? []
      : [
          `Hold-out since ${dayText(holdOut.since)}: ${counted(holdOut.controls, "control")}, ${numbers.count(holdOut.treated)} with messages.`,
        ]),
  ];
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
  return `Precision: ${numbers.wholeShare(rate)} of ${counted(mature, "untouched alert")} were followed by churn (${range}). Base rate: ${numbers.wholeShare(baseRate)}.${lead}`;
}
