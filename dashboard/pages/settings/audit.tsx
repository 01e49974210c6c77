/** What was changed, and by whom. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";

export function AuditSettings(): ReactElement {
  const asked = useRead("/api/audit-log");
  return (
    <>
      <PageHeader title="Audit log" />
      <Panel>
        <Figures of={asked}>
          {({ entries }) =>
            entries.length === 0 ? (
              <Empty title="Nothing was changed yet" />
            ) : (
              <ul>
                {entries.map((one) => (
                  <li
                    key={one.id}
                    className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0"
                  >
                    <span className="truncate">
                      {one.person?.name ?? "Rekindle"}: {one.summary}
                    </span>
                    <span className="shrink-0 text-soft">
                      <Ago instant={one.at} />
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
