/** Who comes back, by cohort. */
import type { ReactElement } from "react";
import type { Reads } from "../../api/paths.ts";
import { useRead } from "../../api/query.ts";
import { Freshness } from "../../parts/freshness.tsx";
import { heatClass } from "../../parts/heat.ts";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Scrollable } from "../../parts/scrollable.tsx";
import { Empty, Figures, Loading } from "../../parts/states.tsx";
import { classes } from "../../text/classes.ts";
import { dayText, numbers } from "../../text/format.ts";

type Cells = Reads["/api/retention"]["answer"]["cells"];
const periods = 13;

export function RetentionPage(): ReactElement {
  const retention = useRead("/api/retention", { query: { periods } });
  return (
    <>
      <PageHeader title="Retention">
        <Freshness of={retention.data?.freshness} />
      </PageHeader>
      <Panel
        title="Weekly cohorts"
        note="Of the users whose first event was in a week, the share who were active in each week after"
        isFlush
      >
        <Figures
          of={retention}
          loading={
            <div className="p-4">
              <Loading rows={14} />
            </div>
          }
          empty={{ when: ({ cells }) => cells.length === 0, show: <Empty title="No cohorts yet" /> }}
        >
          {({ cells }) => <Cohorts cells={cells} />}
        </Figures>
      </Panel>
    </>
  );
}

function Cohorts({ cells }: { cells: Cells }): ReactElement {
  const cohorts = [...Map.groupBy(cells, ({ cohortDay }) => cohortDay)];
  const most = Math.max(0.01, ...cells.filter(({ period }) => period > 0).map(({ share }) => share));
  return (
    <Scrollable label="Weekly cohorts, as a table" className="overflow-x-auto px-4 pb-4">
      <table className="border-separate border-spacing-px">
        <thead>
          <tr className="text-sm text-soft">
            <th scope="col" className="sticky left-0 bg-surface pr-3 text-left font-medium">
              Week of
            </th>
            <th scope="col" className="px-2 text-right font-medium">
              Users
            </th>
            {Array.from({ length: periods }, (_, period) => period).map((period) => (
              <th key={period} scope="col" className="px-2 text-right font-medium">
                {period}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {cohorts.map(([day, row]) => (
            <tr key={day}>
              <th
                scope="row"
                className="sticky left-0 bg-surface pr-3 text-left font-normal whitespace-nowrap"
              >
                {dayText(day, "short")}
              </th>
              <td className="px-2 text-right">{numbers.count(row[0]?.cohortUsers)}</td>
              {row.map(({ period, share, isComplete }) => (
                <td
                  key={period}
                  className={classes(
                    "px-2 py-1 text-right text-sm",
                    heatClass(share, period === 0 ? 1 : most),
                  )}
                >
                  {numbers.wholeShare(share)}
                  {!isComplete && <span title="The week is not over">*</span>}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scrollable>
  );
}
