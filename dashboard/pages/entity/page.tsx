/** The page of a user or of an account: the parts that both have. */
import type { ReactElement, ReactNode } from "react";
import { type Asked, usePages, useRead } from "../../api/query.ts";
import { useFilters } from "../../parts/list/filters.ts";
import { Notice, Panel } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { useToday } from "../../parts/time.tsx";
import { counted, dayPlus, dayText } from "../../text/format.ts";
import { ActivityPanel, daysOfYear } from "./activity.tsx";
import { AlertsPanel } from "./alerts.tsx";
import { ChangePanel } from "./change.tsx";
import { filters } from "./filters.ts";
import { FirstLine } from "./first-line.tsx";
import { HistoryPanel } from "./history.tsx";
import { isMissing, Missing } from "./missing.tsx";
import { WorkPanel } from "./panel.tsx";
import type { Score } from "./score-text.ts";
import { EngagementPanel, HealthPanel, RiskPanel, ScoreStats } from "./scores.tsx";
import { SubscriptionsPanel } from "./subscriptions.tsx";
import { TimelinePanel, timelinePage } from "./timeline.tsx";

const paths = { user: "/api/users/:userId", account: "/api/accounts/:accountId" } as const;

interface EntityPageProps {
  readonly what: "user" | "account";
  readonly id: string;
  readonly asked: Asked<{ readonly firstSeenDay: string | null }>;
  /** The top of the page. Scores are undefined until they are known. */
  readonly header: (score: Score | undefined) => ReactElement;
  readonly notice?: ReactNode;
  /** A figure beside the scores. */
  readonly stat: ReactElement;
  /** Places the panels of the change and of the churn risk, with what only this page has. */
  readonly children: (change: ReactElement, risk: ReactElement | null) => ReactNode;
}

/** Whether nothing can be said of scores yet: one card says so, in place of six empty ones. */
function isWithoutScores(score: Score | undefined): boolean {
  if (score === undefined || score.state === "churned") return false;
  const { health, engagement, momentum, risk, change } = score;
  return [health.score, engagement, momentum, risk, change].every((one) => one === null);
}

function NoScoresYet({ note, what }: { note: string | null; what: string }): ReactElement {
  return (
    <Panel title="Scores">
      <Empty title="No scores yet">
        {note} Health, churn risk and their history appear here with the first scores of this {what}.
      </Empty>
    </Panel>
  );
}

export function EntityPage(props: EntityPageProps): ReactElement {
  const { what, id, asked, header, notice, stat, children } = props;
  const base = paths[what];
  const path = { userId: id, accountId: id };
  const today = useToday();
  const [{ since, range, year, event }] = useFilters(filters);
  const score = useRead(`${base}/score` as const, {
    path,
    query: { since: dayPlus(today, -Number(since)) },
    keepsPrevious: true,
  });
  const history = useRead(`${base}/score/history` as const, {
    path,
    query: range === "all" ? {} : { from: dayPlus(today, -Number(range)) },
    keepsPrevious: true,
  });
  const models = useRead("/api/model/changes", { query: { kind: what } });
  const activity = useRead(`${base}/activity` as const, {
    path,
    query: daysOfYear(year, today),
    keepsPrevious: true,
  });
  const names = useRead(`${base}/events` as const, { path, query: { kinds: "all" } });
  const timeline = usePages(
    `${base}/timeline` as const,
    { path, query: { limit: timelinePage, event } },
    ({ next }) => next,
  );
  if (isMissing(asked.error)) return <Missing id={id} what={what} />;
  const hasNoScores = isWithoutScores(score.data) && history.data?.days.length === 0;
  const { dataStoppedSince: stoppedSince, daysWithoutData = 0 } = score.data ?? {};
  return (
    <>
      {header(score.data)}
      <div className="grid gap-5">
        <FirstLine entity={{ kind: what, id }} score={score.data} days={history.data?.days} />
        {notice}
        {stoppedSince != null && (
          <Notice>
            No data since {dayText(stoppedSince)}: data collection has stopped, or a source has. Scores wait.
          </Notice>
        )}
        {daysWithoutData > 0 && (
          <p className="text-sm text-soft">
            {counted(daysWithoutData, "day")} without data {daysWithoutData === 1 ? "is" : "are"} left out of
            idle days and of all windows.
          </p>
        )}
        {!hasNoScores && <ScoreStats asked={score}>{stat}</ScoreStats>}
        <SubscriptionsPanel what={what} id={id} />
        <AlertsPanel what={what} id={id} />
        <WorkPanel entity={{ kind: what, id }} />
        {hasNoScores ? (
          children(<NoScoresYet note={score.data?.note ?? null} what={what} />, null)
        ) : (
          <>
            {children(<ChangePanel asked={score} what={what} />, <RiskPanel asked={score} what={what} />)}
            <div className="grid gap-5 xl:grid-cols-2">
              <HealthPanel asked={score} what={what} />
              <EngagementPanel asked={score} what={what} />
            </div>
            <HistoryPanel asked={history} models={models.data?.changes ?? []} what={what} />
          </>
        )}
        <ActivityPanel asked={activity} firstDay={asked.data?.firstSeenDay} />
        <TimelinePanel asked={timeline} names={names} />
      </div>
    </>
  );
}
