/** Read keys: what other programs read figures with. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";

export function KeySettings(): ReactElement {
  const asked = useRead("/api/read-keys");
  return (
    <>
      <PageHeader title="Read keys" />
      <Panel>
        <Figures of={asked}>
          {({ readKeys }) =>
            readKeys.length === 0 ? (
              <Empty title="No read key yet" />
            ) : (
              <ul>
                {readKeys.map((one) => (
                  <li
                    key={one.id}
                    className="flex justify-between gap-4 border-b border-line py-1.5 last:border-0"
                  >
                    <span className="truncate">
                      {one.name} …{one.lastFour}
                    </span>
                    <span className="shrink-0 text-soft">
                      used <Ago instant={one.lastUsedAt} />
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
