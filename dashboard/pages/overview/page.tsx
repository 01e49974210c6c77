/** The overview page. */
import type { ReactElement } from "react";
import { ApiFailure } from "../../api/client.ts";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { Departures } from "../../parts/figure/departures.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { buttonClass } from "../../parts/form/button.tsx";
import { Select } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { ListsOfSegment } from "../../parts/list/list-link.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { SegmentPick } from "../../parts/segment/segment-pick.tsx";
import { Empty, Figures, Loading, Starting } from "../../parts/states.tsx";
import { AccountsAtRisk } from "./accounts.tsx";
import {
  ActivePanel,
  ActiveStats,
  type ActiveUsers,
  askedDays,
  LifecyclePanel,
  useActiveOfSegment,
} from "./activity.tsx";
import { CallList } from "./call-list.tsx";
import { filters, type Kind, plural, useScoredSegment } from "./filters.ts";
import { FirstScores } from "./first-scores.tsx";
import { HealthPanel } from "./health.tsx";
import { Movers } from "./movers.tsx";
import { SegmentLine, useSegment } from "./of-segment.tsx";
import { RevenueAtRisk } from "./revenue.tsx";
import { RiskPanel } from "./risk.tsx";
import { useWeek, WeekPanel } from "./week.tsx";

export default function OverviewPage(): ReactElement {
  const [{ kind, days, scored }, change] = useFilters(filters);
  const active = useRead("/api/active-users", {
    query: { days: askedDays(days) },
    keepsPrevious: true,
  });
  const isStarting =
    active.data === undefined &&
    active.failureReason instanceof ApiFailure &&
    active.failureReason.isStarting;
  const hasFigures =
    !isStarting && (active.data === undefined || active.data.days.some(({ monthly }) => monthly > 0));
  const isUnscored = useWeek({ enabled: hasFigures }).data?.day === null;
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          hasFigures &&
          !isUnscored && (
            <div className="flex flex-wrap items-center gap-2">
              <Select
                label="Health and churn risk of"
                isLabelHidden
                value={kind}
                choices={filters.kind.choices}
                onChoose={(chosen) => change({ kind: chosen, scored: undefined })}
              />
              <SegmentPick
                of={plural[kind]}
                value={scored}
                onChoose={(chosen) => change({ scored: chosen })}
              />
            </div>
          )
        }
      >
        <Freshness freshness={active.data?.freshness} />
      </PageHeader>
      {isStarting ? (
        <Panel>
          <Starting />
        </Panel>
      ) : hasFigures ? (
        <Everything kind={kind} active={active} isUnscored={isUnscored} />
      ) : (
        <Panel>
          <Empty title="No events in the last three months">
            <p>
              Once your application sends events, this page shows active users, their health, and whom to
              call.
            </p>
            <p className="mt-4">
              <PageLink to="/o/$organization/start" className={buttonClass("primary")}>
                Send the first event
              </PageLink>
            </p>
          </Empty>
        </Panel>
      )}
    </>
  );
}

/** Whether any user was active before today. */
function hasWholeDay(active: ActiveUsers | undefined): boolean {
  return active?.days.slice(0, -1).some(({ daily }) => daily > 0) ?? false;
}

function Everything({
  kind,
  active,
  isUnscored,
}: {
  kind: Kind;
  /** Before the first scores of users. */
  isUnscored: boolean;
  active: Parameters<typeof ActivePanel>[0]["asked"];
}): ReactElement {
  const ofSegment = useScoredSegment();
  const health = useRead("/api/health-by-week", { query: { kind, ...ofSegment }, keepsPrevious: true });
  const segment = useSegment();
  const shown = useActiveOfSegment(active);
  return (
    <div className="grid gap-5">
      <Departures />
      {!isUnscored && <CallList />}
      <SegmentLine />
      <Figures asked={shown} loading={<Loading rows={1} height={92} />}>
        {(answer) => (
          <ListsOfSegment {...segment}>
            <ActiveStats days={answer.days} />
          </ListsOfSegment>
        )}
      </Figures>
      {!isUnscored && <RevenueAtRisk />}
      <WeekPanel />
      {isUnscored && <FirstScores hasWholeDay={hasWholeDay(active.data)} />}
      <div className="grid items-start gap-5 xl:grid-cols-[minmax(0,3fr)_minmax(0,2fr)]">
        <div className="grid min-w-0 gap-5">
          {!isUnscored && (
            <ListsOfSegment {...ofSegment}>
              <HealthPanel kind={kind} asked={health} />
            </ListsOfSegment>
          )}
          {!isUnscored && <AccountsAtRisk kind={kind} />}
          <ActivePanel asked={shown} />
          {!isUnscored && <LifecyclePanel />}
        </div>
        <div className="grid min-w-0 gap-5">
          {isUnscored ? (
            <LifecyclePanel />
          ) : (
            <ListsOfSegment {...ofSegment}>
              <RiskPanel kind={kind} asked={health} />
              <Movers kind={kind} />
            </ListsOfSegment>
          )}
        </div>
      </div>
    </div>
  );
}
