/** Why payers left: MRR by reason and period, and what they said. */
import { type ReactElement, useMemo } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { Pick } from "../../parts/list/pick.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { reasonText, sourceText } from "../../text/churn-reasons.ts";
import { counted, dayText, nothing, numbers } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { periodTitle } from "./periods.ts";
import { type Choices, filters, type Period, reasonsQueryOf, useChoices } from "./question.ts";
import { type ReasonRow, reasonRows, sourcesText } from "./reasons.ts";

type Answer = Reads["/api/churn-reasons"]["answer"];
type Comment = Answer["comments"][number];

const splits: readonly { readonly value: Choices["reasonsBy"]; readonly label: string }[] = [
  { value: "none", label: "Not split" },
  { value: "plan", label: "By plan" },
  { value: "owner", label: "By owner" },
  { value: "mrr", label: "By MRR" },
  { value: "ending", label: "Voluntary or failed payment" },
];

export function ChurnReasonsPanel(): ReactElement {
  const [choices, change] = useChoices();
  const query = reasonsQueryOf(choices);
  const asked = useRead("/api/churn-reasons", { query, keepsPrevious: true });
  return (
    <FigurePanel
      title="Churn reasons"
      note={`MRR that left, by reason, in the ${counted(query.periods ?? 0, choices.period)} shown`}
      isFlush
      actions={
        <>
          <Pick
            label="Split reasons"
            value={choices.reasonsBy}
            byDefault="none"
            choices={splits}
            onChoose={(chosen) => change({ reasonsBy: filters.reasonsBy.read(chosen) })}
          />
          <CsvLink address={csvAddress("/api/churn-reasons", query)} />
        </>
      }
      asked={asked}
      loading={<Loading rows={6} height={28} />}
      empty={({ reasons }) =>
        reasons.length === 0 && <Empty title="No payer left in these periods">Choose more periods.</Empty>
      }
    >
      {(answer) => <Reasons answer={answer} choices={choices} />}
    </FigurePanel>
  );
}

function Reasons({ answer, choices }: { answer: Answer; choices: Choices }): ReactElement {
  const rows = useMemo(() => reasonRows(answer), [answer]);
  const money = moneyIn(answer.reportingCurrency);
  return (
    <>
      <DataTable
        label="Churn reasons"
        name="churn-reasons"
        isPlain
        rows={rows}
        columns={columnsOf(answer, choices, money)}
        rowId={({ key }) => key}
      />
      <Comments answer={answer} money={money} />
    </>
  );
}

function columnsOf(
  { reasons }: Answer,
  { period, reasonsBy }: Choices,
  money: Money,
): readonly Column<ReasonRow>[] {
  const starts = new Map(reasons.map((row) => [row.fromDay, row]));
  return [
    ...(reasonsBy === "none" ? [] : [groupColumn(reasonsBy)]),
    {
      id: "reason",
      header: "Reason",
      isFixed: true,
      width: 180,
      cell: ({ reason }) => <span title={reason}>{reason}</span>,
    },
    figureColumn("mrr", "MRR that left", "In all periods shown", ({ sums }) => money.exact(sums.mrr)),
    figureColumn("payers", "Payers", "Payers that left in all periods shown", ({ sums }) =>
      numbers.count(sums.payers),
    ),
    figureColumn("involuntary", "Failed payments", "Payers whose payments failed", ({ sums }) =>
      numbers.count(sums.involuntaryPayers),
    ),
    {
      id: "sources",
      header: "Source",
      hint: "Who said the reason, by payers",
      cell: (row) => sourcesText(row) || nothing,
    },
    ...[...starts.values()]
      .toSorted((a, b) => b.fromDay.localeCompare(a.fromDay))
      .map((start) => periodColumn(start, period, money)),
  ];
}

function groupColumn(split: Exclude<Choices["reasonsBy"], "none">): Column<ReasonRow> {
  const headers = { plan: "Plan", owner: "Owner", mrr: "MRR", ending: "Ended by" } as const;
  const nameOf = ({ group: { kind, value } }: ReasonRow) => {
    if (kind === "none") return `No ${split}`;
    if (kind === "other") return `Other ${split}s`;
    if (split !== "ending") return value || "(empty)";
    return value === "voluntary" ? "Voluntary" : "Failed payment";
  };
  return {
    id: "group",
    header: headers[split],
    width: 150,
    cell: (row) => <span title={nameOf(row)}>{nameOf(row)}</span>,
  };
}

function periodColumn(start: Answer["reasons"][number], period: Period, money: Money): Column<ReasonRow> {
  return figureColumn(
    start.fromDay,
    periodTitle(start, period),
    "MRR that left in this period",
    ({ periods }) => {
      const own = periods.get(start.fromDay);
      return own === undefined ? (
        nothing
      ) : (
        <span title={counted(own.payers, "payer")}>{money.exact(own.mrr)}</span>
      );
    },
  );
}

function Comments({ answer, money }: { answer: Answer; money: Money }): ReactElement | null {
  const { comments, commentTotal } = answer;
  if (comments.length === 0) return null;
  return (
    <div className="px-4 py-3">
      <h3 className="mb-1 text-sm font-medium">What they said</h3>
      <ol aria-label="Comments of payers that left" className="grid gap-y-2 text-sm">
        {comments.map((comment) => (
          <li key={`${comment.kind} ${comment.id} ${comment.day}`} className="[overflow-wrap:anywhere]">
            <q>{comment.comment}</q> <Speaker comment={comment} money={money} />
          </li>
        ))}
      </ol>
      {commentTotal > comments.length && (
        <p className="mt-2 text-sm text-soft">
          The newest {comments.length} of {counted(commentTotal, "comment")}.
        </p>
      )}
    </div>
  );
}

function Speaker({ comment, money }: { comment: Comment; money: Money }): ReactElement {
  const { kind, id, label, day, mrr, reason, reasonFrom } = comment;
  const from = sourceText(reasonFrom);
  return (
    <span className="text-soft">
      <EntityLink kind={kind} id={id} label={label} title={label} />, {dayText(day)}, {money.exact(mrr)}:{" "}
      {reasonText(reason)}
      {from !== "" && ` (${from})`}
    </span>
  );
}
