/** Renewals of months as tables: this month with the coming ones, and past months with what came. */
import type { ReactElement } from "react";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { dayText, nothing, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { type RenewalMonth, type Renewals, useChoices } from "./question.ts";

/** The name of what is expected: a forecast only once outcomes are known beside it. */
const wordOf = ({ isForecast }: Renewals) => (isForecast ? "Forecast" : "Expected");

export function ComingMonths({ answer }: { answer: Renewals }): ReactElement {
  const [, change] = useChoices();
  const money = moneyIn(answer.reportingCurrency);
  const month: Column<RenewalMonth> = {
    ...monthColumn,
    cell: (one) => (
      <button
        type="button"
        className="font-medium underline"
        aria-label={`Payers of ${dayText(one.month, "month")}`}
        onClick={() => change({ month: one.phase === "current" ? undefined : one.month })}
      >
        {dayText(one.month, "month")}
      </button>
    ),
  };
  return (
    <DataTable
      label="Renewals of this month and the coming ones"
      name="renewals-coming"
      isPlain
      rows={answer.months.filter(({ phase }) => phase !== "past")}
      columns={[month, ...dueColumns(money, wordOf(answer)), ...outcomeColumns(money)]}
      rowId={({ month: day }) => day}
    />
  );
}

export function PastMonths({ answer }: { answer: Renewals }): ReactElement {
  const money = moneyIn(answer.reportingCurrency);
  return (
    <DataTable
      label="Renewals of past months"
      name="renewals-past"
      isPlain
      rows={answer.months.filter(({ phase }) => phase === "past").toReversed()}
      columns={[
        monthColumn,
        ...dueColumns(money, wordOf(answer)),
        figureColumn<RenewalMonth>(
          "renewedWithRisk",
          "Came of it",
          "What renewed of the MRR with a churn risk: compare it with the expected MRR",
          ({ renewedWithRiskMrr, expectedMrr }) =>
            expectedMrr === null ? nothing : money.exact(renewedWithRiskMrr),
        ),
        ...outcomeColumns(money),
      ]}
      rowId={({ month }) => month}
    />
  );
}

const monthColumn: Column<RenewalMonth> = {
  id: "month",
  header: "Month",
  isFixed: true,
  width: 110,
  cell: ({ month }) => <span className="font-medium">{dayText(month, "month")}</span>,
};

function dueColumns(money: Money, word: string): readonly Column<RenewalMonth>[] {
  return [
    figureColumn("due", "Due", "MRR that renews in the month, without scheduled ends", ({ dueMrr }) =>
      money.exact(dueMrr),
    ),
    figureColumn("payers", "Payers", "Payers whose subscription renews in the month", ({ duePayers }) =>
      numbers.count(duePayers),
    ),
    figureColumn(
      "expected",
      word,
      "MRR × the chance to renew, of payers with a churn risk; below it the 90% interval",
      ({ expectedMrr, low, high }) =>
        expectedMrr === null ? (
          nothing
        ) : (
          <>
            {money.exact(Math.round(expectedMrr))}
            <span className="block text-sm text-soft">
              {money.short(low === null ? null : Math.round(low))} to{" "}
              {money.short(high === null ? null : Math.round(high))}
            </span>
          </>
        ),
    ),
    figureColumn(
      "withoutRisk",
      "No risk yet",
      "MRR that is due of payers without a churn risk: nothing is expected of it",
      ({ withoutRiskMrr }) => orNothing(money, withoutRiskMrr),
    ),
    figureColumn(
      "scheduled",
      "Scheduled ends",
      "MRR that ends in the month as scheduled. It is in no other figure",
      ({ scheduledMrr }) => orNothing(money, scheduledMrr),
    ),
  ];
}

function outcomeColumns(money: Money): readonly Column<RenewalMonth>[] {
  return [
    figureColumn("renewed", "Renewed", "The part of what was due that renewed", ({ renewedMrr }) =>
      money.exact(renewedMrr),
    ),
    figureColumn("lost", "Lost", "The part of what was due that ended", ({ lostMrr }) =>
      money.exact(lostMrr),
    ),
    figureColumn("open", "Open", "The part of what was due that is neither yet", ({ openMrr }) =>
      money.exact(openMrr),
    ),
  ];
}

function orNothing(money: Money, amount: number): string {
  return amount === 0 ? nothing : money.exact(amount);
}
