/** How good the predictions are. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures } from "../../parts/states.tsx";
import { numbers } from "../../text/format.ts";

export function ModelPage(): ReactElement {
  const asked = useRead("/api/model");
  return (
    <>
      <PageHeader title="Model">
        <Freshness of={asked.data?.freshness} />
      </PageHeader>
      <Panel>
        <Figures of={asked}>
          {({ why, horizonDays, baseRate, isProven }) => (
            <div className="grid gap-2">
              <p>{why}</p>
              <p className="text-soft">
                Risk is that of no activity within {horizonDays} days. Share that churned in the back-test:{" "}
                {numbers.share(baseRate)}.{" "}
                {isProven ? "Proven on this organization." : "Not yet proven on this organization."}
              </p>
            </div>
          )}
        </Figures>
      </Panel>
    </>
  );
}
