/** Results: what was done in a period, for whom, and how they stand now. */
import type { ReactElement } from "react";
import { workOutcomes } from "../../../contract/alerts/rules.ts";
import type { ResultPeriod, TouchKind } from "../../../contract/api/results.ts";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { useOrganization } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader } from "../../parts/panel.tsx";
import { Empty, FigurePanel, Loading } from "../../parts/states.tsx";
import { counted, dayText, nothing, numbers, todayIn } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { outcomeWords } from "../alerts/alert-words.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { useMemberChoices, withChoice } from "./members.ts";

type Answer = Reads["/api/results"]["answer"];
type Customer = Answer["customers"][number];
type Touch = Customer["touches"][number];

const periodWords: Readonly<Record<ResultPeriod, string>> = {
  week: "Last 7 days",
  fourWeeks: "Last 4 weeks",
  quarter: "Last quarter",
};
const periodNames = ["week", "fourWeeks", "quarter"] as const satisfies readonly ResultPeriod[];
const periods = periodNames.map((value) => ({ value, label: periodWords[value] }));
const filters = {
  period: choiceFilter<ResultPeriod>(periodNames, "week"),
  member: textFilter(),
  /** The id of a rule; 0 for all. */
  rule: numberFilter(Number.MAX_SAFE_INTEGER),
  segment: conditionFilters.segment,
};

export default function ResultsPage(): ReactElement {
  const [{ period, member, rule, segment }, change] = useFilters(filters);
  const isFiltered = member !== "" || rule > 0 || segment !== undefined;
  const query = {
    period,
    ...(member !== "" && { member }),
    ...(rule > 0 && { rule }),
    ...(segment !== undefined && { segment }),
  };
  const asked = useRead("/api/results", { query, keepsPrevious: true });
  const members = [{ value: "", label: "Anyone's work" }, ...useMemberChoices()];
  const rules = useRead("/api/alert-rules").data?.rules ?? [];
  const ruleChoices = [
    { value: "0", label: "Any rule" },
    ...rules.map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  return (
    <>
      <PageHeader title="Results">What was done, for whom, and how they stand now.</PageHeader>
      <FigurePanel
        title={periodWords[period]}
        isFlush
        actions={
          <>
            <Pick
              label="Period"
              value={period}
              byDefault="week"
              choices={periods}
              onChoose={(to) => change({ period: to })}
            />
            <Pick
              label="Team member"
              value={member}
              choices={withChoice(members, member, "A former team member")}
              onChoose={(to) => change({ member: to })}
            />
            <Pick
              label="Rule"
              value={String(rule)}
              byDefault="0"
              choices={withChoice(ruleChoices, String(rule), "Another rule")}
              onChoose={(to) => change({ rule: Number(to) })}
            />
            <SegmentPick of="entities" value={segment} onChoose={(to) => change({ segment: to })} />
            <CsvLink address={csvAddress("/api/results", query)} />
          </>
        }
        asked={asked}
        loading={<Loading rows={8} />}
        empty={({ customers }) =>
          customers.length === 0 && (
            <Empty title="Nothing was done in this period">
              {isFiltered
                ? "Choose a longer period, or other filters."
                : "Contacts, done tasks and handled alerts appear here."}
            </Empty>
          )
        }
      >
        {(answer) => <Content answer={answer} />}
      </FigurePanel>
    </>
  );
}

function Content({ answer }: { answer: Answer }): ReactElement {
  const { customers, reportingCurrency, members, rules } = answer;
  const money = reportingCurrency === null ? undefined : moneyIn(reportingCurrency);
  return (
    <>
      <div className="grid gap-1 px-4 pb-3">
        <p>{totalsText(answer, money)}</p>
        <Proof answer={answer} />
      </div>
      <DataTable
        label="Customers for whom something was done"
        name="results"
        isPlain
        rows={customers}
        columns={columnsOf(money)}
        rowId={({ kind, id }) => `${kind} ${id}`}
      />
      <div className="grid gap-x-8 px-4 py-4 sm:grid-cols-2">
        <Sums
          title="By team member"
          rows={members.map(({ member, ...row }) => ({ ...row, of: member }))}
          money={money}
        />
        <Sums title="By rule" rows={rules.map(({ rule, ...row }) => ({ ...row, of: rule }))} money={money} />
      </div>
    </>
  );
}

/** 12 customers; $4,300 MRR was at stake, and $4,100 is there now. 3 saved, 1 lost. */
function totalsText({ totals }: Answer, money: Money | undefined): string {
  const { customers, paying, stillPaying, mrrThen, mrrNow, outcomes } = totals;
  const said = workOutcomes.flatMap((name) =>
    outcomes[name] > 0 ? [`${numbers.count(outcomes[name])} ${outcomeWords[name].toLowerCase()}`] : [],
  );
  const ofMoney =
    money === undefined || paying === 0
      ? ""
      : ` with ${money.short(mrrThen)} MRR at stake: ${stillPaying} of ${paying} still pay, ${money.short(mrrNow)} is there now`;
  const ofOutcomes = said.length === 0 ? "" : ` ${said.join(", ")}.`;
  return `${counted(customers, "customer")}${ofMoney}.${ofOutcomes}`;
}

/** How far this is proof: the control groups of rules, else predicted against observed churn. */
function Proof({ answer }: { answer: Answer }): ReactElement {
  const { proof } = answer;
  if (proof.length === 0) return <p className="text-sm text-soft">{hintText(answer)}</p>;
  return (
    <ul aria-label="Control groups" className="grid gap-0.5 text-sm">
      {proof.map(({ rule, since, sentence, verdict }) => (
        <li key={`${rule} ${since}`} className={verdict === "harms" ? "text-at-risk" : "text-soft"}>
          <span className="font-medium text-ink">{rule}</span> since {dayText(since)}: {sentence}
        </li>
      ))}
    </ul>
  );
}

function hintText({ hint }: Answer): string {
  if (hint === null) {
    return "No proof yet: nobody's churn horizon is over. A control group on an alert rule can prove that work helps.";
  }
  const { customers, predicted, low, high, churned } = hint;
  const expected = `${numbers.decimal(predicted)} were expected to churn (${numbers.decimal(low)} to ${numbers.decimal(high)})`;
  return `A hint, not proof: of ${counted(customers, "customer")} whose churn horizon is over ${expected}, and ${numbers.count(churned)} did. They were chosen, so compare with a control group.`;
}

const touchWords: Readonly<Record<TouchKind, string>> = {
  contact: "Contacted",
  task: "Task done",
  handled: "Handled",
  message: "Message",
};

function touchText({ what, person, by, at }: Touch, timezone: string): string {
  const who = person?.name ?? by;
  const day = dayText(todayIn(timezone, Date.parse(at)), "short");
  return `${touchWords[what]}${who === null ? "" : ` by ${who}`}, ${day}`;
}

function Touches({ touches }: { touches: readonly Touch[] }): ReactElement {
  const { timezone } = useOrganization();
  const last = touches.at(-1);
  if (last === undefined) return <>{nothing}</>;
  const all = touches.map((touch) => touchText(touch, timezone));
  return (
    <span title={all.join("\n")} className="whitespace-normal">
      {touchText(last, timezone)}
      {touches.length > 1 && <span className="text-soft"> and {touches.length - 1} more</span>}
      {last.text !== null && <span className="line-clamp-2 text-sm text-soft">{last.text}</span>}
    </span>
  );
}

const stateWords: Readonly<Record<string, string>> = {
  new: "New",
  active: "Active",
  inactive: "Inactive",
  canceling: "Canceling",
  churned: "Churned",
};

function columnsOf(money: Money | undefined): readonly Column<Customer>[] {
  const ofMoney: readonly Column<Customer>[] =
    money === undefined
      ? []
      : [
          figureColumn<Customer>("mrrThen", "MRR then", "On the day of the first touch", ({ mrrThen }) =>
            money.exact(mrrThen),
          ),
          {
            id: "mrrNow",
            header: "MRR now",
            cell: ({ mrrThen, mrrNow }) => (
              <span className={(mrrNow ?? 0) < (mrrThen ?? 0) ? "text-at-risk" : undefined}>
                {money.exact(mrrNow)}
              </span>
            ),
          },
        ];
  return [
    {
      id: "customer",
      header: "Customer",
      isFixed: true,
      width: 170,
      csv: ["kind", "id", "label"],
      cell: ({ kind, id, label }) => <EntityLink kind={kind} id={id} label={label} title={label} />,
    },
    {
      id: "touches",
      header: "Done",
      isFixed: true,
      width: 220,
      cell: ({ touches }) => <Touches touches={touches} />,
    },
    {
      id: "rules",
      header: "Why",
      hint: "Rules whose alert was open then",
      width: 150,
      cell: ({ rules }) => (
        <span className="whitespace-normal">{rules.map(({ name }) => name).join(", ") || nothing}</span>
      ),
    },
    {
      id: "outcome",
      header: "Outcome",
      cell: ({ outcome }) => (outcome === null ? nothing : outcomeWords[outcome]),
    },
    ...ofMoney,
    {
      id: "use",
      header: "Use",
      hint: "Actions on as many days before and after the first touch",
      csv: ["useDays", "useBefore", "useAfter"],
      cell: ({ useDays, useBefore, useAfter }) =>
        useDays === 0 ? (
          nothing
        ) : (
          <span title={`${counted(useDays, "day")} before the first touch, and from it on`}>
            {numbers.count(useBefore)} → {numbers.count(useAfter)}
          </span>
        ),
    },
    {
      id: "state",
      header: "Now",
      csv: ["state", "risk"],
      cell: ({ state, risk }) =>
        state === null
          ? nothing
          : `${stateWords[state] ?? state}${risk === null ? "" : `, ${numbers.risk(risk)} risk`}`,
    },
  ];
}

interface SumsProps {
  readonly title: string;
  readonly rows: readonly {
    readonly of: { readonly id: number; readonly name: string };
    readonly customers: number;
    readonly mrrThen: number;
    readonly mrrNow: number;
  }[];
  readonly money: Money | undefined;
}

function Sums({ title, rows, money }: SumsProps): ReactElement | null {
  if (rows.length === 0) return null;
  return (
    <section aria-label={title}>
      <h3 className="text-sm font-medium">{title}</h3>
      <ul className="text-sm">
        {rows.map(({ of, customers, mrrThen, mrrNow }) => (
          <li key={of.id} className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0">
            <span className="min-w-0 truncate" title={of.name}>
              {of.name}
            </span>
            <span className="shrink-0 text-soft">
              {counted(customers, "customer")}
              {money !== undefined && ` · ${money.short(mrrThen)} → ${money.short(mrrNow)}`}
            </span>
          </li>
        ))}
      </ul>
    </section>
  );
}
