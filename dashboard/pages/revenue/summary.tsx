/** The figures at the top: MRR now, and retention of the last whole period. */
import type { ReactElement } from "react";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { chosenPeriod, dayBefore, type PeriodRevenue, periodTitle, type Revenue } from "./periods.ts";
import { type Period, useChoices } from "./question.ts";

/** Definitions of retention, as hints. */
export const definitions = {
  nrr: "MRR at the end of the period ÷ MRR at its start, of payers with MRR at the start",
  grr: "The same with at most each payer's MRR at the start: expansion does not count",
  logoChurn: "Payers without MRR at the end of the period ÷ payers with MRR at its start",
} as const;

export function Summary({ answer }: { answer: Revenue }): ReactElement | null {
  const [{ period, to }] = useChoices();
  const { periods, reportingCurrency } = answer;
  const money = moneyIn(reportingCurrency);
  const last = periods.at(-1);
  const whole = chosenPeriod(periods, undefined);
  if (last === undefined || whole === undefined) return null;
  const since = `since ${dayText(dayBefore(last))}`;
  return (
    <Stats isDense>
      <Stat
        label={to === undefined ? "MRR now" : `MRR on ${dayText(to)}`}
        hint="Monthly recurring revenue of active and past due subscriptions. Trials, pauses and one-off charges count 0."
        value={money.short(last.endMrr)}
        change={changeOf(last.startMrr, last.endMrr, since)}
      />
      <Stat
        label="Net retention (NRR)"
        hint={definitions.nrr}
        value={numbers.share(whole.nrr)}
        note={periodTitle(whole, period)}
      />
      <Stat
        label="Gross retention (GRR)"
        hint={definitions.grr}
        value={numbers.share(whole.grr)}
        note={periodTitle(whole, period)}
      />
      <Stat
        label="Logo churn"
        hint={definitions.logoChurn}
        value={numbers.share(whole.logoChurn)}
        note={<ChurnNote whole={whole} period={period} />}
      />
      <Stat
        label="Payers"
        hint="Accounts with MRR, and users with MRR who have no account"
        value={numbers.count(last.endPayers)}
        change={changeOf(last.startPayers, last.endPayers, since)}
      />
    </Stats>
  );
}

function ChurnNote({ whole, period }: { whole: PeriodRevenue; period: Period }): ReactElement {
  return (
    <>
      <span className="block">{periodTitle(whole, period)}</span>
      {whole.logoChurn !== null &&
        `${numbers.share(whole.voluntaryLogoChurn)} voluntary, ${numbers.share(whole.involuntaryLogoChurn)} failed payments`}
    </>
  );
}

function changeOf(before: number, now: number, text: string) {
  if (before === 0) return { value: nothing, isGood: null, text };
  return {
    value: numbers.shareChange(now / before - 1),
    isGood: now === before ? null : now > before,
    text,
  };
}
