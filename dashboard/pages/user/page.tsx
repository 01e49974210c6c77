/** One user. */
import { useParams } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Health } from "../../parts/health.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { DayAgo, Instant } from "../../parts/time.tsx";

export function UserPage(): ReactElement {
  const { userId } = useParams({ from: "/o/$organization/users/$userId" });
  const user = useRead("/api/users/:userId", { path: { userId } });
  const score = useRead("/api/users/:userId/score", { path: { userId } });
  return (
    <>
      <PageHeader title={user.data?.email ?? userId}>
        {score.data !== undefined && (
          <Health colour={score.data.health.colour} score={score.data.health.score} />
        )}
        {user.data !== undefined && (
          <>
            {" "}
            last seen <DayAgo day={user.data.lastSeenDay} />
          </>
        )}
      </PageHeader>
      <Panel title="What happened last">
        <Timeline userId={userId} />
      </Panel>
    </>
  );
}

function Timeline({ userId }: { userId: string }): ReactElement {
  const timeline = useRead("/api/users/:userId/timeline", { path: { userId }, query: { limit: 50 } });
  return (
    <Figures
      of={timeline}
      loading={<Loading rows={10} />}
      empty={{ when: ({ events }) => events.length === 0, show: <Empty title="No events yet" /> }}
    >
      {({ events }) => (
        <ol className="grid">
          {events.map(({ id, event, timestamp }) => (
            <li key={id} className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0">
              <span className="truncate">{event}</span>
              <span className="shrink-0 text-soft">
                <Instant instant={timestamp} />
              </span>
            </li>
          ))}
        </ol>
      )}
    </Figures>
  );
}
