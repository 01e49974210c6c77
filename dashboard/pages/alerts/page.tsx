/** The inbox: alerts of rules, those with the highest expected loss first. */
import type { ReactElement } from "react";
import { type Reads, useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { choiceFilter, numberFilter, textFilter, useFilters } from "../../parts/list/filters.ts";
import { Pick } from "../../parts/list/pick.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { Tabs } from "../../parts/tabs.tsx";
import { conditionFilters } from "../segments/conditions.ts";
import { SegmentPick } from "../segments/segment-pick.tsx";
import { useMemberChoices, withChoice } from "../tasks/members.ts";
import { AlertList } from "./alert-list.tsx";
import { placeText } from "./alert-words.ts";

type Rules = Reads["/api/alert-rules"]["answer"]["rules"];

const pageSize = 50;
const lastOffset = 100_000;
const states = ["open", "snoozed", "handled", "closed"] as const;
type State = (typeof states)[number];
const words: Readonly<Record<State, string>> = {
  open: "Open",
  snoozed: "Snoozed",
  handled: "Handled",
  closed: "Closed",
};
const filters = {
  state: choiceFilter<State>(states, "open"),
  /** The id of a rule; 0 for all. */
  rule: numberFilter(Number.MAX_SAFE_INTEGER),
  assignee: textFilter(),
  /** Only alerts about its users or accounts. */
  segment: conditionFilters.segment,
  offset: numberFilter(lastOffset),
};

export default function AlertsPage(): ReactElement {
  const [{ state, rule, assignee, segment, offset }, change] = useFilters(filters);
  const mayChange = useMayAs("member");
  const rules = useRead("/api/alert-rules").data?.rules;
  const isFiltered = rule > 0 || assignee !== "" || segment !== undefined;
  const asked = useRead("/api/alerts", {
    query: {
      state,
      limit: pageSize,
      offset,
      ...(rule > 0 && { rule }),
      ...(assignee !== "" && { assignee }),
      ...(segment !== undefined && { segment }),
    },
    keepsPrevious: true,
  });
  return (
    <>
      <PageHeader title="Alerts" actions={<RulesLink>Alert rules</RulesLink>}>
        Users and accounts that a rule found, the highest expected loss first.
        {!mayChange && " Only members and owners can change them."}
      </PageHeader>
      <Panel
        title="Inbox"
        actions={
          <>
            <RulePick rules={rules ?? []} value={rule} onChoose={(to) => change({ rule: to, offset: 0 })} />
            <AssigneePick value={assignee} onChoose={(to) => change({ assignee: to, offset: 0 })} />
            <SegmentPick
              of="entities"
              value={segment}
              onChoose={(to) => change({ segment: to, offset: 0 })}
            />
          </>
        }
      >
        <Tabs
          label="Which alerts"
          value={state}
          onChoose={(to) => change({ state: to, offset: 0 })}
          tabs={states.map((value) => ({ value, label: words[value] }))}
        >
          <Figures
            asked={asked}
            loading={<Loading rows={8} />}
            empty={({ total }) =>
              total === 0 && <WhyEmpty state={state} isFiltered={isFiltered} rules={rules} />
            }
          >
            {({ total, alerts }) => (
              <>
                <AlertList label={`${words[state]} alerts`} alerts={alerts} />
                <div className="mt-3 flex flex-wrap items-center gap-2">
                  <p role="status" className="grow text-sm text-soft">
                    {placeText(total, offset, alerts.length)}
                  </p>
                  {offset > 0 && (
                    <Button isSmall onClick={() => change({ offset: Math.max(0, offset - pageSize) })}>
                      Previous
                    </Button>
                  )}
                  {offset + alerts.length < total && offset + pageSize <= lastOffset && (
                    <Button isSmall onClick={() => change({ offset: offset + pageSize })}>
                      Next
                    </Button>
                  )}
                </div>
              </>
            )}
          </Figures>
        </Tabs>
      </Panel>
    </>
  );
}

function RulesLink({ children }: { children: string }): ReactElement {
  return (
    <PageLink
      to="/o/$organization/settings/alert-rules"
      className="underline decoration-edge underline-offset-3"
    >
      {children}
    </PageLink>
  );
}

interface RulePickProps {
  readonly rules: Rules;
  readonly value: number;
  readonly onChoose: (rule: number) => void;
}

function RulePick({ rules, value, onChoose }: RulePickProps): ReactElement {
  const chosen = value === 0 ? "" : String(value);
  const choices = [
    { value: "", label: "Any rule" },
    ...rules.map(({ id, name }) => ({ value: String(id), label: name })),
  ];
  return (
    <Pick
      label="Rule"
      value={chosen}
      choices={withChoice(choices, chosen, "Another rule")}
      onChoose={(to) => onChoose(Number(to))}
    />
  );
}

function AssigneePick({ value, onChoose }: { value: string; onChoose: (assignee: string) => void }) {
  const choices = [
    { value: "", label: "Any assignee" },
    { value: "me", label: "My alerts" },
    { value: "nobody", label: "Without assignee" },
    ...useMemberChoices(),
  ];
  return (
    <Pick
      label="Assignee"
      value={value}
      choices={withChoice(choices, value, "A former team member")}
      onChoose={onChoose}
    />
  );
}

const none: Readonly<Record<State, readonly [title: string, text: string]>> = {
  open: ["No open alert", "An alert opens when a rule finds a user or an account."],
  snoozed: ["No alert is snoozed", "A snoozed alert opens again on the day that a team member chose."],
  handled: ["No alert is handled yet", "Alerts that are handled or not useful stand here."],
  closed: ["No alert is closed yet", "An alert closes when its condition is over, or after churn."],
};

interface WhyEmptyProps {
  readonly state: State;
  readonly isFiltered: boolean;
  /** Undefined until they are known. */
  readonly rules: Rules | undefined;
}

function WhyEmpty({ state, isFiltered, rules }: WhyEmptyProps): ReactElement {
  const mayChange = useMayAs("member");
  if (isFiltered) return <Empty title="No alert matches">Choose another rule, assignee or segment.</Empty>;
  if (rules?.length === 0) {
    return (
      <Empty title="No alert rule yet">
        Rules watch your customers and open an alert here, e.g. when churn risk gets high.{" "}
        <RulesLink>{mayChange ? "Add a rule" : "See the rules"}</RulesLink>
      </Empty>
    );
  }
  const [title, text] = none[state];
  return <Empty title={title}>{text}</Empty>;
}
