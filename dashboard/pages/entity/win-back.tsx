/** Users or accounts that churned lately, by the money that they paid. */
import type { ReactElement } from "react";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { BothLabels } from "../../parts/figure/both-labels.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { ListsOfSegment } from "../../parts/list/list-link.tsx";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader } from "../../parts/panel.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { RelativeDay } from "../../parts/time.tsx";
import { reasonText, sourceText } from "../../text/churn-reasons.ts";
import { counted, dayText, nothing } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { OwnerPick } from "../tasks/owner-pick.tsx";

type Answer = Reads["/api/win-back"]["answer"];
type Row = Answer["churned"][number];
type Kind = "user" | "account";

const shownRows = 200;
const filters = {
  kind: choiceFilter<Kind>(["account", "user"], "account"),
  /** Of the last days; 0 for the churn horizon. */
  days: numberFilter(90),
  owner: textFilter(),
  segment: conditionFilters.segment,
};
const periods = [
  { value: "0", label: "Within the churn horizon" },
  ...[7, 14, 28, 56, 90].map((days) => ({ value: String(days), label: `Within ${days} days` })),
];
const kinds = [
  { value: "account", label: "Accounts" },
  { value: "user", label: "Users" },
] as const;

export default function WinBackPage(): ReactElement {
  const [{ kind, days, owner, segment }, change] = useFilters(filters);
  const query = {
    kind,
    ...(days > 0 && { days }),
    ...(owner !== "" && { owner }),
    ...(segment !== undefined && { segment }),
  };
  const asked = useRead("/api/win-back", { query: { ...query, limit: shownRows }, keepsPrevious: true });
  return (
    <>
      <PageHeader title="Win-back">Users and accounts that churned lately, the highest MRR first.</PageHeader>
      <ListsOfSegment {...(segment !== undefined && { segment })}>
        <AllWhoLeft kind={kind} segment={segment} />
      </ListsOfSegment>
      <FigurePanel
        title="Churned"
        isFlush
        actions={
          <>
            <Pick
              label="Users or accounts"
              value={kind}
              byDefault="account"
              choices={kinds}
              onChoose={(to) => change({ kind: to, segment: undefined })}
            />
            <Pick
              label="Churned within"
              value={String(days)}
              byDefault="0"
              choices={periods}
              onChoose={(to) => change({ days: Number(to) })}
            />
            <OwnerPick value={owner} onChoose={(to) => change({ owner: to })} />
            <SegmentPick of={`${kind}s`} value={segment} onChoose={(to) => change({ segment: to })} />
            <CsvLink address={csvAddress("/api/win-back", query)} />
          </>
        }
        asked={asked}
        loading={<Loading rows={8} />}
        empty={(answer) =>
          answer.total === 0 && (
            <WhyEmpty answer={answer} kind={kind} isFiltered={owner !== "" || segment !== undefined} />
          )
        }
      >
        {(answer) => <Churned answer={answer} kind={kind} />}
      </FigurePanel>
    </>
  );
}

/** All that have churned, beside those that are only inactive, which the list leaves out. */
function AllWhoLeft({ kind, segment }: { kind: Kind; segment: number | undefined }): ReactElement | null {
  const query = { kind, weeks: 1, ...(segment !== undefined && { segment }) };
  const { data } = useRead("/api/health-by-week", { query });
  return data == null ? null : <BothLabels kind={kind} answer={data} className="mb-4" />;
}

interface WhyEmptyProps {
  readonly answer: Answer;
  readonly kind: Kind;
  /** By owner or segment. */
  readonly isFiltered: boolean;
}

function WhyEmpty({ answer: { day, days }, kind, isFiltered }: WhyEmptyProps): ReactElement {
  if (day === null) {
    return <Empty title="No scores yet">The list appears with the first scores of {kind}s.</Empty>;
  }
  const within = `within ${counted(days, "day")}`;
  return isFiltered ? (
    <Empty title={`No ${kind} that matches churned ${within}`}>
      Choose a longer period, or other filters.
    </Empty>
  ) : (
    <Empty title={`No ${kind} churned ${within}`}>Choose a longer period.</Empty>
  );
}

function Churned({ answer, kind }: { answer: Answer; kind: Kind }): ReactElement {
  const { total, lastMrr, reportingCurrency, churned, day, days } = answer;
  const money = reportingCurrency === null ? undefined : moneyIn(reportingCurrency);
  return (
    <>
      <p className="px-4 pb-3 text-sm text-soft">
        {counted(total, kind)} churned within {counted(days, "day")} before {dayText(day)}
        {money !== undefined && lastMrr !== null && `, with ${money.short(lastMrr)} MRR before`}.
        {total > churned.length && ` The first ${churned.length} are shown. The CSV has all.`}
      </p>
      <DataTable
        label={`Churned ${kind}s`}
        name="win-back"
        isPlain
        rows={churned}
        columns={columnsOf(kind, money)}
        rowId={({ id }) => id}
      />
    </>
  );
}

function columnsOf(kind: Kind, money: ReturnType<typeof moneyIn> | undefined): readonly Column<Row>[] {
  return [
    {
      id: "entity",
      header: kind === "account" ? "Account" : "User",
      isFixed: true,
      width: 200,
      cell: ({ id, label }) => <EntityLink kind={kind} id={id} label={label} title={label} />,
    },
    ...(money === undefined
      ? []
      : [
          figureColumn<Row>("lastMrr", "Last MRR", "The MRR that it paid last", (row) =>
            money.exact(row.lastMrr),
          ),
        ]),
    {
      id: "churnedDay",
      header: "Churned",
      hint: "The day on which it left",
      cell: ({ churnedDay }) => dayText(churnedDay),
    },
    {
      id: "reason",
      header: "Reason",
      hint: "What the team says, else the newest of billing and of the churn event, since the last return",
      cell: ({ reason, reasonFrom }) => (
        <span title={reason ?? undefined}>
          {reason === null ? nothing : reasonText(reason)}
          {reasonFrom !== null && <span className="text-soft"> ({sourceText(reasonFrom)})</span>}
        </span>
      ),
    },
    {
      id: "owner",
      header: "Owner",
      cell: ({ owner }) => <span title={owner ?? undefined}>{owner ?? nothing}</span>,
    },
    {
      id: "lastSeen",
      header: "Last seen",
      cell: ({ lastSeenDay }) => <RelativeDay day={lastSeenDay} />,
    },
  ];
}
