/** The revenue page: MRR, its movements, retention of revenue, churn reasons, cohorts, and MRR at risk. */
import { type ReactElement, useMemo } from "react";
import { useRead } from "../../api/query.ts";
import { CopyButton } from "../../parts/copy.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures, Loading } from "../../parts/states.tsx";
import { AtRiskPanel } from "./at-risk.tsx";
import { ChurnReasonsPanel } from "./churn-reasons.tsx";
import { CohortsPanel } from "./cohorts-panel.tsx";
import { Connect } from "./connect.tsx";
import { Controls } from "./controls.tsx";
import { Movements } from "./movements.tsx";
import { MrrPanel } from "./mrr.tsx";
import { Notices, RatesLine } from "./notices.tsx";
import { groupsOf, type Revenue } from "./periods.ts";
import { isSplit, queryOf, splitQueryOf, useChoices } from "./question.ts";
import { SegmentLine } from "./segment-line.tsx";
import { Summary } from "./summary.tsx";
import { GroupsPanel, PeriodsPanel } from "./tables.tsx";

/** How many attributes are offered to split by. */
const offeredTraits = 100;

export default function RevenuePage(): ReactElement {
  const [choices] = useChoices();
  const query = queryOf(choices);
  const revenue = useRead("/api/revenue", { query, keepsPrevious: true });
  const hasSubscriptions = revenue.data?.hasSubscriptions === true;
  return (
    <>
      <PageHeader
        title="Revenue"
        actions={hasSubscriptions && <CopyButton text={() => location.href} label="Copy link" />}
      >
        <Freshness freshness={revenue.data?.freshness} />
        {revenue.data !== undefined && hasSubscriptions && <RatesLine answer={revenue.data} />}
      </PageHeader>
      <div className="grid gap-5">
        {hasSubscriptions && <Choosing />}
        <Figures
          asked={revenue}
          loading={
            <div className="grid gap-5">
              <Loading rows={1} height={92} />
              <Panel title="MRR">
                <Loading rows={1} height={280} />
              </Panel>
            </div>
          }
          empty={(answer) => !answer.hasSubscriptions && <Connect />}
        >
          {(answer) => <Everything answer={answer} />}
        </Figures>
      </div>
    </>
  );
}

function Choosing(): ReactElement {
  const attributes = useRead("/api/traits", { query: { kind: "account", limit: offeredTraits } });
  const traits = useRead("/api/traits", { query: { kind: "user", limit: offeredTraits } });
  return (
    <div className="grid gap-2">
      <Controls attributes={attributes.data?.traits ?? []} traits={traits.data?.traits ?? []} />
      <SegmentLine />
    </div>
  );
}

function Everything({ answer }: { answer: Revenue }): ReactElement {
  const [choices] = useChoices();
  const split = useRead("/api/revenue", {
    query: splitQueryOf(choices),
    enabled: isSplit(choices),
    keepsPrevious: true,
  });
  const [all = { key: "all", label: "All payers", periods: [] }] = useMemo(
    () => groupsOf(answer, choices),
    [answer, choices],
  );
  const currency = answer.reportingCurrency;
  const shown = (groups: readonly ReturnType<typeof groupsOf>[number][]) => (
    <div className="grid gap-5">
      <div className="grid items-start gap-5 xl:grid-cols-2">
        <MrrPanel groups={groups.length === 0 ? [all] : groups} currency={currency} />
        <Movements all={all} groups={groups} currency={currency} />
      </div>
      <AtRiskPanel />
      {groups.length > 0 && <GroupsPanel groups={groups} currency={currency} />}
    </div>
  );
  return (
    <div className="grid gap-5">
      <Notices answer={answer} />
      <Summary answer={answer} />
      {isSplit(choices) ? (
        <Figures asked={split} loading={<Loading rows={8} height={28} />}>
          {(ofGroups) => shown(groupsOf(ofGroups, choices))}
        </Figures>
      ) : (
        shown([])
      )}
      <PeriodsPanel all={all} currency={currency} />
      <ChurnReasonsPanel />
      <CohortsPanel />
    </div>
  );
}
