/** The overview page. */
import type { ReactElement } from "react";
import { ApiFailure } from "../../api/client.ts";
import { useRead } from "../../api/query.ts";
import { PageLink } from "../../app/page-link.ts";
import { Departures } from "../../parts/figure/departures.tsx";
import { Freshness } from "../../parts/figure/freshness.tsx";
import { Button, buttonClass } from "../../parts/form/button.tsx";
import { Select } from "../../parts/form/field.tsx";
import { useFilters } from "../../parts/list/filters.ts";
import { ListsOfSegment } from "../../parts/list/list-link.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading, Starting } from "../../parts/states.tsx";
import { SegmentPick } from "../segments/segment-pick.tsx";
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
import { filters, type Kind, kindChoices, plural, useKind, useScoredSegment } from "./filters.ts";
import { FirstScores } from "./first-scores.tsx";
import { HealthPanel } from "./health.tsx";
import { KeyFigures } from "./key-figures.tsx";
import { Movers } from "./movers.tsx";
import { SegmentLine, useSegment } from "./of-segment.tsx";
import { RiskPanel } from "./risk.tsx";
import { useWeek, WeekPanel } from "./week.tsx";

export default function OverviewPage(): ReactElement {
  const [{ days, scored }, change] = useFilters(filters);
  const kind = useKind();
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
  const week = useWeek({ enabled: !isStarting });
  const isUnscored = week.data?.day === null;
  return (
    <>
      <PageHeader
        title="Overview"
        actions={
          hasFigures &&
          kind !== undefined &&
          !isUnscored && (
            <div className="flex flex-wrap items-center gap-2">
              <Select
                label="Health and churn risk of"
                isLabelHidden
                value={kind}
                choices={kindChoices}
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
          <Empty title={week.data?.sentences[0]?.text.replace(/\.$/, "") ?? "No events yet"}>
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
  /** Undefined until it is known which kind pays. */
  kind: Kind | undefined;
  /** Before the first scores of users. */
  isUnscored: boolean;
  active: Parameters<typeof ActivePanel>[0]["asked"];
}): ReactElement {
  const segment = useSegment();
  const shown = useActiveOfSegment(active);
  const stats = (
    <Figures asked={shown} loading={<Loading rows={1} height={92} />}>
      {(answer) => (
        <ListsOfSegment {...segment}>
          <ActiveStats days={answer.days} />
        </ListsOfSegment>
      )}
    </Figures>
  );
  if (isUnscored) {
    return (
      <div className="grid gap-5">
        <Departures />
        <SegmentLine />
        {stats}
        <WeekPanel isWhole />
        <FirstScores hasWholeDay={hasWholeDay(active.data)} />
        <div className={columns}>
          <ActivePanel asked={shown} />
          <LifecyclePanel />
        </div>
      </div>
    );
  }
  return (
    <div className="grid gap-5">
      <Departures />
      <CallList />
      <Scored kind={kind} active={shown}>
        {stats}
      </Scored>
    </div>
  );
}

const columns = "grid items-start gap-5 xl:grid-cols-2";

interface ScoredProps {
  readonly kind: Kind | undefined;
  readonly active: Parameters<typeof ActivePanel>[0]["asked"];
  /** The four figures of active users, which are shown with all others. */
  readonly children: ReactElement;
}

/** Three figures, the week and the charts. The tables behind them are shown on demand. */
function Scored({ kind, active, children }: ScoredProps): ReactElement {
  const [{ more = false }, change] = useFilters(filters);
  const ofSegment = useScoredSegment();
  const health = useRead("/api/health-by-week", {
    query: { kind: kind ?? "account", ...ofSegment },
    enabled: kind !== undefined,
    keepsPrevious: true,
  });
  const leadsWithRisk = health.data?.leadsWithRisk === true;
  const panels =
    kind === undefined
      ? [<Loading key="health" rows={8} />]
      : [
          (more || !leadsWithRisk) && <HealthPanel key="health" kind={kind} asked={health} isWhole={more} />,
          (more || leadsWithRisk) && <RiskPanel key="risk" kind={kind} asked={health} />,
        ];
  return (
    <>
      {kind === undefined ? (
        <Loading rows={1} height={92} />
      ) : (
        <KeyFigures kind={kind} health={health} active={active} />
      )}
      <SegmentLine />
      <WeekPanel isWhole={more} />
      {more && children}
      <div className={columns}>
        <div className="grid min-w-0 gap-5">
          <ListsOfSegment {...ofSegment}>{leadsWithRisk ? panels.toReversed() : panels}</ListsOfSegment>
          <LifecyclePanel />
          {more && kind !== undefined && <AccountsAtRisk kind={kind} />}
        </div>
        <div className="grid min-w-0 gap-5">
          <ActivePanel asked={active} />
          {more && kind !== undefined && (
            <ListsOfSegment {...ofSegment}>
              <Movers kind={kind} />
            </ListsOfSegment>
          )}
        </div>
      </div>
      <p>
        <Button onClick={() => change({ more: more ? undefined : true })}>
          {more ? "Show less" : "Show all figures"}
        </Button>
      </p>
    </>
  );
}
