/** The first steps: which events have come, and how to send the next one. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Code } from "../../parts/copy.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";

const everyMs = 3_000;

export function StartPage(): ReactElement {
  const users = useRead("/api/users", { query: { limit: 1 }, everyMs });
  const events = useRead("/api/events", { query: { limit: 1_000 }, everyMs });
  const command = `curl -X POST ${location.origin}/identify -H "Authorization: Basic $TOKEN" -H 'Content-Type: application/json' -d '{"userId":"u1","email":"ada@example.com"}'`;
  return (
    <>
      <PageHeader title="Start">Tell Rekindle who your users are, then what they do.</PageHeader>
      <div className="grid gap-5">
        <Panel title="What has come so far">
          <Figures of={users}>
            {({ total }) => (
              <p>
                {numbers.count(total)} users
                {events.data !== undefined && `, ${numbers.count(events.data.events.length)} kinds of events`}
              </p>
            )}
          </Figures>
        </Panel>
        <Panel title="Identify a user">
          <Code label="Command" text={command} />
        </Panel>
      </div>
    </>
  );
}
