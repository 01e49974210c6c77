/** One account and its members. */
import { Link, useParams } from "@tanstack/react-router";
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Stat, Stats } from "../../parts/stat.tsx";
import { Figures } from "../../parts/states.tsx";
import { DayAgo } from "../../parts/time.tsx";
import { numbers } from "../../text/format.ts";

export function AccountPage(): ReactElement {
  const { organization, accountId } = useParams({ from: "/o/$organization/accounts/$accountId" });
  const account = useRead("/api/accounts/:accountId", { path: { accountId } });
  return (
    <>
      <PageHeader title={account.data?.name || accountId}>
        <Freshness of={account.data?.freshness} />
      </PageHeader>
      <Figures of={account}>
        {({ members, activeMembers, lastSeenDay, users }) => (
          <div className="grid gap-5">
            <Stats>
              <Stat label="Members" value={numbers.count(members)} />
              <Stat label="Active in 28 days" value={numbers.count(activeMembers)} />
              <Stat label="Last seen" value={<DayAgo day={lastSeenDay} />} />
            </Stats>
            <Panel title="Members">
              <ul>
                {users.map(({ userId, name, email, lastSeenDay: day }) => (
                  <li
                    key={userId}
                    className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0"
                  >
                    <Link
                      to="/o/$organization/users/$userId"
                      params={{ organization, userId }}
                      className="truncate"
                    >
                      {name ?? email}
                    </Link>
                    <span className="shrink-0 text-soft">
                      <DayAgo day={day} />
                    </span>
                  </li>
                ))}
              </ul>
            </Panel>
          </div>
        )}
      </Figures>
    </>
  );
}
