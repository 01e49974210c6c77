/** Results: what was done in a period, for whom, and how they stand now. */
import type { ReactElement } from "react";
import { workOutcomes } from "../../../contract/alerts/rules.ts";
import type { ResultPeriod, TouchKind } from "../../../contract/api/results.ts";
import { csvAddress, type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useOrganization } from "../../app/session.ts";
import { EntityLink } from "../../parts/entity-link.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Stat, Stats } from "../../parts/figure/stat.tsx";
import { CsvLink } from "../../parts/list/csv-link.tsx";
import { type Column, DataTable, figureColumn } from "../../parts/list/data-table.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { counted, dayText, nothing, numbers, todayIn } from "../../text/format.ts";
import { type Money, moneyIn } from "../../text/money.ts";
import { outcomeWords } from "../alerts/alert-words.ts";
import { needsStop } from "../alerts/figure-words.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { useMemberChoices, withChoice } from "./members.ts";

type Answer = Reads["/api/results"]["answer"];
type Customer = Answer["customers"][number];
type Touch = Customer["touches"][number];

const periodWords: Readonly<Record<ResultPeriod, string>> = {
  week: "Last 7 days",
  fourWeeks: "Last 4 weeks",
  quarter: "Last 13 weeks",
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
      <PageHeader
        title="Results"
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
      >
        <Freshness freshness={asked.data?.freshness} />
      </PageHeader>
      <Figures
        asked={asked}
        loading={
          <div className="grid gap-5">
            <Loading rows={1} height={92} />
            <Panel title="Customers">
              <Loading rows={8} />
            </Panel>
          </div>
        }
        empty={({ customers }) =>
          customers.length === 0 && (
            <Panel>
              <Empty title="Nothing was done in this period">
                {isFiltered
                  ? "Choose a longer period, or other filters."
                  : "Contacts, done tasks and handled alerts appear here."}
              </Empty>
            </Panel>
          )
        }
      >
        {(answer) => <Content answer={answer} />}
      </Figures>
    </>
  );
}

function Content({ answer }: { answer: Answer }): ReactElement {
  const { customers, reportingCurrency, members, rules, from, to } = answer;
  const money = reportingCurrency === null ? undefined : moneyIn(reportingCurrency);
  return (
    <div className="grid gap-5">
      <div className="grid gap-3">
        <Totals answer={answer} money={money} />
        <Proof answer={answer} />
      </div>
      <Panel title="Customers" note={`${dayText(from)} to ${dayText(to)}`} isFlush>
        <DataTable
          label="Customers for whom something was done"
          name="results"
          isPlain
          rows={customers}
          columns={columnsOf(money)}
          rowId={({ kind, id }) => `${kind} ${id}`}
        />
      </Panel>
      <div className="grid items-start gap-5 sm:grid-cols-2">
        <Sums
          title="By team member"
          rows={members.map(({ member, ...row }) => ({ ...row, of: member }))}
          money={money}
        />
        <Sums title="By rule" rows={rules.map(({ rule, ...row }) => ({ ...row, of: rule }))} money={money} />
      </div>
    </div>
  );
}

/** How much was at stake, how much of it is there now, and what team members said came of it. */
function Totals({ answer, money }: { answer: Answer; money: Money | undefined }): ReactElement {
  const { customers, paying, stillPaying, mrrThen, mrrNow, outcomes } = answer.totals;
  const others = workOutcomes.flatMap((name) =>
    name !== "saved" && outcomes[name] > 0
      ? [`${numbers.count(outcomes[name])} ${outcomeWords[name].toLowerCase()}`]
      : [],
  );
  const isSaid = outcomes.saved > 0 || others.length > 0;
  return (
    <Stats isDense>
      <Stat label="Customers worked on" value={numbers.count(customers)} />
      {money !== undefined && (
        <>
          <Stat label="MRR at stake" value={money.short(mrrThen)} note="before the first touch" />
          <Stat
            label="MRR now"
            value={money.short(mrrNow)}
            note={paying > 0 && `${numbers.count(stillPaying)} of ${numbers.count(paying)} still pay`}
          />
        </>
      )}
      <Stat
        label="Saved"
        value={isSaid ? numbers.count(outcomes.saved) : nothing}
        note={isSaid ? others.join(", ") : "No outcome yet"}
        hint="What team members said at “Handled”"
      />
    </Stats>
  );
}

/** How far this is proof: the control groups of rules, else predicted against observed churn. */
function Proof({ answer }: { answer: Answer }): ReactElement {
  const { proof, hint } = answer;
  if (proof.length > 0) {
    return (
      <ul aria-label="Control groups" className="grid gap-0.5 [overflow-wrap:anywhere]">
        {proof.map((one) => (
          <li key={`${one.rule} ${one.since}`} className={needsStop(one) ? "text-at-risk" : undefined}>
            <span className="font-medium">{one.rule}</span>, control group since {dayText(one.since)}:{" "}
            {one.sentence}
          </li>
        ))}
      </ul>
    );
  }
  if (hint === null) {
    return (
      <p className="text-soft">
        No proof yet: a control group on an{" "}
        <PageLink
          to="/o/$organization/settings/alert-rules"
          className="underline decoration-edge underline-offset-3"
        >
          alert rule
        </PageLink>{" "}
        shows whether the work helps.
      </p>
    );
  }
  const { customers, predicted, low, high, churned } = hint;
  return (
    <p className="text-soft">
      A hint, not proof: of {counted(customers, "customer")} whose churn horizon is over, about{" "}
      {numbers.count(predicted)} were expected to churn ({numbers.count(low)} to {numbers.count(high)}), and{" "}
      {numbers.count(churned)} did.
    </p>
  );
}

const touchWords: Readonly<Record<TouchKind, string>> = {
  contact: "Contacted",
  task: "Task done",
  handled: "Handled",
  message: "Message",
};

function touchText({ what, person, by, at }: Touch, timezone: string): string {
  // A message is by a rule, which the column beside it names.
  const who = what === "message" ? null : (person?.name ?? by);
  const day = dayText(todayIn(timezone, Date.parse(at)), "short");
  return `${touchWords[what]}${who === null ? "" : ` by ${who}`}, ${day}`;
}

function Touches({ touches }: { touches: readonly Touch[] }): ReactElement {
  const { timezone } = useOrganization();
  const last = touches.at(-1);
  if (last === undefined) return <>{nothing}</>;
  const all = touches.map((touch) => touchText(touch, timezone));
  return (
    <span title={all.join("\n")} className="whitespace-normal [overflow-wrap:anywhere]">
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

/** Active, 12% risk */
function nowText({ state, risk }: Customer): string {
  if (state === null) return nothing;
  return `${stateWords[state] ?? state}${risk === null ? "" : `, ${numbers.risk(risk)} risk`}`;
}

function columnsOf(money: Money | undefined): readonly Column<Customer>[] {
  const ofMoney: readonly Column<Customer>[] =
    money === undefined
      ? []
      : [
          figureColumn<Customer>("mrrThen", "MRR then", "Before the first touch", ({ mrrThen }) =>
            money.exact(mrrThen),
          ),
          figureColumn<Customer>("mrrNow", "MRR now", "Today", ({ mrrThen, mrrNow }) => (
            <span className={(mrrNow ?? 0) < (mrrThen ?? 0) ? "text-at-risk" : undefined}>
              {money.exact(mrrNow)}
            </span>
          )),
        ];
  return [
    {
      id: "customer",
      header: "Customer",
      isFixed: true,
      width: 170,
      csv: ["kind", "id", "label"],
      cell: (row) => (
        <span className="block max-w-56 truncate">
          <EntityLink kind={row.kind} id={row.id} label={row.label} title={row.label} />
          {/* A narrow screen has no room for these columns. */}
          <span className="block truncate text-sm text-soft sm:hidden">
            {[...(money === undefined ? [] : [money.exact(row.mrrNow)]), nowText(row)].join(", ")}
          </span>
        </span>
      ),
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
        <span className="whitespace-normal [overflow-wrap:anywhere]">
          {rules.map(({ name }) => name).join(", ") || nothing}
        </span>
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
      hint: "Events since the first touch, and in as many days before",
      csv: ["useDays", "useBefore", "useAfter"],
      cell: ({ useDays, useBefore, useAfter }) =>
        useDays === 0 ? (
          nothing
        ) : (
          <span title={`In ${counted(useDays, "day")} each`}>
            {numbers.count(useAfter)}, was {numbers.count(useBefore)}
          </span>
        ),
    },
    {
      id: "state",
      header: "Now",
      csv: ["state", "risk"],
      cell: nowText,
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
    <Panel title={title}>
      <ul>
        {rows.map(({ of, customers, mrrThen, mrrNow }) => (
          <li
            key={of.id}
            className="flex flex-wrap justify-between gap-x-4 border-b border-line py-1.5 first:pt-0 last:border-0 last:pb-0"
          >
            <span className="min-w-0 truncate" title={of.name}>
              {of.name}
            </span>
            <span className="text-sm text-soft">
              {counted(customers, "customer")}
              {money !== undefined && `, MRR ${money.short(mrrThen)} then, ${money.short(mrrNow)} now`}
            </span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
