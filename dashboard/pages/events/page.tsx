/** What arrives. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";

export function EventsPage(): ReactElement {
  const asked = useRead("/api/events", { query: { limit: 100 } });
  return (
    <>
      <PageHeader title="Events">
        <Freshness of={asked.data?.freshness} />
      </PageHeader>
      <Panel>
        <Figures of={asked}>
          {({ events }) =>
            events.length === 0 ? (
              <Empty title="No events yet" />
            ) : (
              <ul>
                {events.map(({ event, count, users }) => (
                  <li key={event} className="flex gap-4 border-b border-line py-1.5 last:border-0">
                    <span className="min-w-0 grow truncate font-medium">{event}</span>
                    <span className="shrink-0 text-soft">
                      {numbers.count(count)} by {numbers.count(users)} users
                    </span>
                  </li>
                ))}
              </ul>
            )
          }
        </Figures>
      </Panel>
    </>
  );
}
