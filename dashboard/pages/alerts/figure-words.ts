/** The figures of a rule that is on, in words. */
import type { Reads } from "../../api/query.ts";
import { counted, dayText, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";

export type Figures = Reads["/api/alert-rules/figures"]["answer"];
export type FiguresOfRule = Figures["rules"][number];
type Outcomes = FiguresOfRule["untouched"];
type HoldOut = NonNullable<FiguresOfRule["holdOut"]>;

/** The figures of a rule as sentences. @param isOfSource a source does not churn */
export function figureSentences(
  { fired, since, perWeek, untouched, touched, baseRate, holdOut }: FiguresOfRule,
  horizonDays: number,
  isOfSource: boolean,
): readonly string[] {
  return [
    firedSentence({ fired, since, perWeek }),
    ...(isOfSource ? [] : [untouchedSentence(untouched, baseRate.rate, horizonDays)]),
    ...(touched.mature === 0
      ? []
      : [
          `Touched (a contact, a task or “handled”), not in the precision: ${numbers.wholeShare(touched.rate)} of ${counted(touched.mature, "alert")} were followed by churn.`,
        ]),
    ...(holdOut === null ? [] : holdOutSentences(holdOut, horizonDays)),
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

/** The hold-out of a rule in sentences. Alerts of controls count as fired, and not as open. */
function holdOutSentences(
  { since, controls, treated, horizonDays, result, followUp }: HoldOut,
  usualHorizonDays: number,
): readonly string[] {
  const drawn = `Hold-out since ${dayText(since)}: ${counted(controls, "control")} without messages, ${counted(treated, "other")} with messages. An account counts once.`;
  if (controls === 0) return [drawn];
  const days = counted(horizonDays ?? usualHorizonDays, "day");
  return [
    drawn,
    ...(result === null ? [] : [result.sentence]),
    ...(followUp === null ? [] : [followUpSentence(followUp)]),
    `Alerts of controls count as fired. They are not among the open alerts before their churn horizon of ${days} is over.`,
  ];
}

function followUpSentence({
  days,
  currency,
  arms: { treated, control },
}: NonNullable<HoldOut["followUp"]>): string {
  const { short } = moneyIn(currency);
  const each = (mrr: number, entries: number) => short(entries === 0 ? null : mrr / entries);
  const ofArm = ({ entries, mrrAtEntry, mrrKept }: typeof treated, name: string) =>
    `${each(mrrKept, entries)} ${name} (at first ${each(mrrAtEntry, entries)})`;
  return `After ${counted(days, "day")} ${control.paying} of ${control.entries} pay without it, ${treated.paying} of ${treated.entries} with it. MRR per customer, after discounts: ${ofArm(control, "without it")}, ${ofArm(treated, "with it")}.`;
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
