/** Who may come in. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";

export function MemberSettings(): ReactElement {
  const asked = useRead("/api/members");
  return (
    <>
      <PageHeader title="Members" />
      <Panel>
        <Figures of={asked}>
          {({ members }) =>
            members.length === 0 ? (
              <Empty title="No members" />
            ) : (
              <ul>
                {members.map((one) => (
                  <li
                    key={one.id}
                    className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0"
                  >
                    <span className="truncate">
                      {one.name}, {one.email}
                    </span>
                    <span className="shrink-0 text-soft">{one.role}</span>
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
