/** The figures of every period, and of every group in one period, as tables. */
import type { ReactElement } from "react";
import { csvAddress } from "../../api/query.ts";
import { SmallSelect } from "../../parts/form/field.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { Panel } from "../../parts/panel.tsx";
import { numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import {
  chosenPeriod,
  churnedVoluntarily,
  type Group,
  keyOf,
  type PeriodRevenue,
  periodText,
  periodTitle,
} from "./periods.ts";
import { queryOf, splitQueryOf, useChoices } from "./question.ts";
import { definitions } from "./summary.tsx";

/** Columns of money and shares that periods and groups have in common. */
function figureColumns(money: Money): Column<PeriodRevenue>[] {
  const amount = (
    id: keyof PeriodRevenue & `${string}Mrr`,
    header: string,
    hint: string,
  ): Column<PeriodRevenue> => figureColumn(id, header, hint, (one) => money.exact(one[id]));
  const share = (
    id: "nrr" | "grr" | "logoChurn" | "voluntaryLogoChurn" | "involuntaryLogoChurn",
    header: string,
    hint: string,
  ) => figureColumn<PeriodRevenue>(id, header, hint, (one) => numbers.share(one[id]));
  return [
    amount("endMrr", "MRR", "MRR at the end of the period"),
    figureColumn("endPayers", "Payers", "Payers with MRR at the end", (one) => numbers.count(one.endPayers)),
    share("nrr", "NRR", definitions.nrr),
    share("grr", "GRR", definitions.grr),
    share("logoChurn", "Logo churn", definitions.logoChurn),
    share("voluntaryLogoChurn", "Voluntary", "The part of logo churn that canceled"),
    share("involuntaryLogoChurn", "Failed payments", "The part of logo churn whose payments failed"),
    amount("startMrr", "MRR before", "MRR just before the period"),
    amount("newMrr", "New", "MRR of payers that never had any before"),
    amount("reactivatedMrr", "Reactivated", "MRR of payers that had none, and had some before"),
    amount("expansionMrr", "Expansion", "The rise of MRR of payers that had some"),
    amount("contractionMrr", "Contraction", "The fall of MRR of payers that have some left"),
    figureColumn(
      "voluntary",
      "Churned, voluntary",
      "MRR of payers that canceled",
      (one) => money.exact(churnedVoluntarily(one).mrr),
      { csv: ["churnedMrr"] },
    ),
    amount(
      "churnedInvoluntarilyMrr",
      "Churned, failed payments",
      "MRR of payers that churned because payments failed",
    ),
    amount("transferredInMrr", "Transferred in", "MRR that passed to these payers from others"),
    amount("transferredOutMrr", "Transferred out", "MRR that passed from these payers to others"),
  ];
}

/** Every period of all payers, the newest first. */
export function PeriodsPanel({ all, currency }: { all: Group; currency: string }): ReactElement {
  const [choices] = useChoices();
  const { period } = choices;
  const name = { month: "Months", quarter: "Quarters", year: "Years" }[period];
  const columns: readonly Column<PeriodRevenue>[] = [
    {
      id: "period",
      header: "Period",
      isFixed: true,
      width: 130,
      csv: ["fromDay", "toDay", "isComplete"],
      cell: (one) => periodTitle(one, period),
    },
    ...figureColumns(moneyIn(currency)),
  ];
  return (
    <Panel
      title={name}
      note={`${choices.segment === undefined ? "Of all payers" : "Of all payers of the segment"}, the newest first`}
      isFlush
    >
      <DataTable
        label={`Revenue by ${period}`}
        name="revenue-periods"
        words={[period, `${period}s`]}
        rows={all.periods.toReversed()}
        columns={columns}
        rowId={({ fromDay }) => fromDay}
        csv={csvAddress("/api/revenue", queryOf(choices))}
      />
    </Panel>
  );
}

/** Every group in one period. */
export function GroupsPanel({
  groups,
  currency,
}: {
  groups: readonly Group[];
  currency: string;
}): ReactElement {
  const [choices, change] = useChoices();
  const { period, at, split, trait } = choices;
  const shown = chosenPeriod(groups[0]?.periods ?? [], at);
  const labels = new Map(groups.map(({ key, label }) => [key, label]));
  const rows = groups.flatMap(({ periods }) => periods.filter(({ fromDay }) => fromDay === shown?.fromDay));
  const columns: readonly Column<PeriodRevenue>[] = [
    {
      id: "group",
      header: split === "plan" ? "Plan" : trait,
      isFixed: true,
      width: 150,
      // The file has all periods.
      csv: ["kind", "value", "fromDay", "toDay", "isComplete"],
      cell: (one) => <span title={labels.get(keyOf(one))}>{labels.get(keyOf(one))}</span>,
    },
    ...figureColumns(moneyIn(currency)),
  ];
  return (
    <Panel
      title={`By ${split === "plan" ? "plan" : trait}`}
      note={`Grouped by today’s ${split === "plan" ? "plan" : trait}`}
      isFlush
      actions={
        shown !== undefined && (
          <SmallSelect
            label="Period of the groups"
            value={shown.fromDay}
            choices={(groups[0]?.periods ?? [])
              .map((one) => ({ value: one.fromDay, label: periodText(one.fromDay, period) }))
              .toReversed()}
            onChoose={(day) => change({ at: day })}
          />
        )
      }
    >
      <DataTable
        label="Groups of payers"
        name="revenue-groups"
        words={["group", "groups"]}
        rows={rows}
        columns={columns}
        rowId={keyOf}
        csv={csvAddress("/api/revenue", splitQueryOf(choices))}
      />
    </Panel>
  );
}
