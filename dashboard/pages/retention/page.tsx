/** Who comes back, by cohort. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { heatClass } from "../../parts/heat.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { classes } from "../../text/classes.ts";
import { dayText, numbers } from "../../text/format.ts";

type Cohorts = Reads["/api/retention"]["answer"]["cohorts"];
const periods = 13;

export function RetentionPage(): ReactElement {
  const retention = useRead("/api/retention", { query: { periods } });
  return (
    <>
      <PageHeader title="Retention">
        <Freshness of={retention.data?.freshness} />
      </PageHeader>
      <Panel title="Weekly cohorts" note="Of the users whose first event was in a week, the share active in each week after" isFlush>
        <Figures
          of={retention}
          loading={<div className="p-4"><Loading rows={14} /></div>}
          empty={{ when: ({ cohorts }) => cohorts.length === 0, show: <Empty title="No cohorts yet" /> }}
        >
          {({ cohorts }) => <Cohort cohorts={cohorts} />}
        </Figures>
      </Panel>
    </>
  );
}
