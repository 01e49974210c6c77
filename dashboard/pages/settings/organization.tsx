/** Name, timezone and limits. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Figures } from "../../parts/states.tsx";
import { dayText } from "../../text/format.ts";

export function OrganizationSettings(): ReactElement {
  const asked = useRead("/api/organization");
  return (
    <>
      <PageHeader title="Organization" />
      <Panel>
        <Figures of={asked}>
          {({ name, timezone, today }) => (
            <p>
              {name}: days of {timezone}, where it is {dayText(today, "long")}
            </p>
          )}
        </Figures>
      </Panel>
    </>
  );
}
