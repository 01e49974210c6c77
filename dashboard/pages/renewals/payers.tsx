/** The payers that renew in one month, by date. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { SmallSelect } from "../../parts/form/field.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { queryOf, type Renewals, useChoices } from "./question.ts";

type Answer = Reads["/api/renewals/payers"]["answer"];
type Row = Answer["payers"][number];

const shownPayers = 200;

export function PayersPanel({ answer: { months } }: { answer: Renewals }): ReactElement {
  const [choices, change] = useChoices();
  const current = months.find(({ phase }) => phase === "current")?.month ?? "";
  const month = choices.month ?? current;
  const query = { ...queryOf(choices), ...(month !== "" && { month }) };
  const asked = useRead("/api/renewals/payers", {
    query: { ...query, limit: shownPayers },
    keepsPrevious: true,
  });
  const offered = months.map((one) => ({ value: one.month, label: dayText(one.month, "month") }));
  const isOffered = offered.some(({ value }) => value === month);
  return (
    <FigurePanel
      title={`Payers of ${dayText(month, "month")}`}
      isFlush
      actions={
        <>
          <SmallSelect
            label="Month"
            value={month}
            choices={isOffered ? offered : [{ value: month, label: dayText(month, "month") }, ...offered]}
            onChoose={(to) => change({ month: to === current ? undefined : to })}
          />
          <CsvLink address={csvAddress("/api/renewals/payers", query)} />
        </>
      }
      asked={asked}
      loading={<Loading rows={6} />}
      empty={({ total }) =>
        total === 0 && (
          <Empty title="Nothing renews in this month">Choose another month, or other filters.</Empty>
        )
      }
    >
      {(answer) => <Payers answer={answer} kind={choices.kind} />}
    </FigurePanel>
  );
}

function Payers({ answer, kind }: { answer: Answer; kind: "account" | "user" }): ReactElement {
  const { total, payers, phase, reportingCurrency } = answer;
  const money = moneyIn(reportingCurrency);
  return (
    <>
      {total > payers.length && (
        <p className="px-4 pb-3 text-sm text-soft">
          {counted(total, kind)}, of which the first {payers.length} are shown.
        </p>
      )}
      <DataTable
        label="Payers by date of renewal"
        name="renewal-payers"
        isPlain
        rows={payers}
        columns={columnsOf(kind, money, phase)}
        rowId={({ id }) => id}
      />
    </>
  );
}

function columnsOf(kind: "account" | "user", money: Money, phase: Answer["phase"]): readonly Column<Row>[] {
  return [
    {
      id: "payer",
      header: kind === "account" ? "Account" : "User",
      isFixed: true,
      width: 180,
      cell: ({ id, name }) => <EntityLink kind={kind} id={id} label={name} title={name} />,
    },
    {
      id: "renewsOn",
      header: "Renews on",
      hint: "The end of the paid period, or the account’s attribute renewsAt; of a scheduled end, its day",
      cell: ({ renewsOn }) => dayText(renewsOn),
    },
    figureColumn("mrr", "MRR", "MRR that renews in the month", ({ mrr }) =>
      mrr === 0 ? nothing : money.exact(mrr),
    ),
    figureColumn(
      "scheduled",
      "Scheduled end",
      "MRR that ends in the month as scheduled",
      ({ scheduledMrr }) => (scheduledMrr === 0 ? nothing : money.exact(scheduledMrr)),
    ),
    {
      id: "plan",
      header: "Plan",
      cell: ({ plan }) => <span title={plan ?? undefined}>{plan ?? nothing}</span>,
    },
    {
      id: "interval",
      header: "Billed",
      hint: "The billing interval, or renewsAt where the account says when it renews",
      cell: ({ interval, isByAttribute }) => (isByAttribute ? "renewsAt" : (interval ?? nothing)),
    },
    {
      id: "owner",
      header: "Owner",
      cell: ({ owner }) => <span title={owner ?? undefined}>{owner ?? nothing}</span>,
    },
    figureColumn(
      "churnRisk",
      "Churn risk",
      phase === "past"
        ? "At the start of the month, within the churn horizon"
        : "Now, within the churn horizon",
      ({ churnRisk }) =>
        churnRisk === null ? <span className="text-soft">no risk yet</span> : numbers.risk(churnRisk),
    ),
    ...(phase === "past" ? [] : [reasonColumn]),
    ...(phase === "coming" ? [] : [outcomeColumn(money)]),
  ];
}

const reasonColumn: Column<Row> = {
  id: "reason",
  header: "Reason",
  hint: "Why it may not renew, as on the call list",
  cell: ({ reason }) => <span title={reason ?? undefined}>{reason ?? nothing}</span>,
};

function outcomeColumn(money: Money): Column<Row> {
  return {
    id: "outcome",
    header: "Outcome",
    hint: "What came of the MRR that was due",
    cell: ({ mrr, renewedMrr, lostMrr, openMrr }) => {
      if (mrr === 0) return nothing;
      if (renewedMrr === mrr) return "renewed";
      if (lostMrr === mrr) return "lost";
      if (openMrr === mrr) return "open";
      return [[renewedMrr, "renewed"] as const, [lostMrr, "lost"] as const, [openMrr, "open"] as const]
        .flatMap(([amount, word]) => (amount ? [`${money.short(amount)} ${word}`] : []))
        .join(", ");
    },
  };
}
