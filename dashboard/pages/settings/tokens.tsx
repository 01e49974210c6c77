/** Project tokens: what applications send with. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { Ago } from "../../parts/time.tsx";

export function TokenSettings(): ReactElement {
  const asked = useRead("/api/tokens");
  return (
    <>
      <PageHeader title="Project tokens" />
      <Panel>
        <Figures of={asked}>
          {({ tokens }) =>
            tokens.length === 0 ? (
              <Empty title="No token yet" />
            ) : (
              <ul>
                {tokens.map((one) => (
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
