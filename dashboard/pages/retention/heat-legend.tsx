/** The legend of the heat map: the meaning of its colours and marks. */
import type { ReactElement } from "react";
import { numbers } from "../../text/format.ts";
import { type Group, scaleOf, smallCohortUsers } from "./cohorts.ts";

export function HeatLegend({ groups }: { groups: readonly Group[] }): ReactElement {
  const cells = groups.flatMap(({ cohorts }) => cohorts.flatMap((cohort) => cohort.cells));
  const { low, high } = scaleOf(cells);
  return (
    <ul className="flex flex-wrap items-center gap-x-5 gap-y-1 px-4 pt-2 pb-3 text-sm text-soft">
      <li>Figures in %</li>
      <li className="flex items-center gap-1.5">
        {numbers.wholeShare(low)}
        {low > 0 && " or less"}
        <span aria-hidden="true" className="flex gap-px">
          {[0, 1, 2, 3, 4, 5, 6].map((step) => (
            <span key={step} className={`heat-${step} h-3 w-4`} />
          ))}
        </span>
        {numbers.wholeShare(high)}
        {high < 1 && " or more"}
      </li>
      <li className="flex items-center gap-1.5">
        <span aria-hidden="true" className="heat-2 hatched inline-block h-3 w-6" />
        not complete: the share may still rise
      </li>
      <li>~ fewer than {smallCohortUsers} users, which may be far off</li>
    </ul>
  );
}
