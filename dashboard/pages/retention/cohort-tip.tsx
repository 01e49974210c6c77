/** The description of a cell of the cohort grid. */
import type { ReactElement } from "react";
import { atText } from "../../charts/cohort-model.ts";
import { useToday } from "../../parts/time.tsx";
import { counted, numbers } from "../../text/format.ts";
import { cohortTitle, type FoundCell, intervalText, missingText } from "./cohorts.ts";
import type { Choices } from "./question.ts";
import { smallCohortUsers } from "./usual-period.ts";

export function CohortTip({ found, period }: { found: FoundCell; period: Choices["period"] }): ReactElement {
  const today = useToday();
  const { group, cell } = found;
  const { share, users, cohortUsers } = cell;
  const whose = group.kind === "all" ? "" : `${group.label}, `;
  const missing = found.cohort === undefined ? undefined : missingText(found.cell, period, today);
  const title =
    found.cohort === undefined
      ? `${whose}weighted mean of ${counted(found.cell.cohorts, "cohort")}`
      : whose + cohortTitle(found.cohort, period);
  return (
    <>
      <p className="text-soft">
        {title}, {cell.period === 0 && "in "}
        {atText(cell.period, period)}
      </p>
      <p>
        <b className="font-medium">{numbers.share(share)}</b> came back: {numbers.count(users)} of{" "}
        {counted(cohortUsers, "user")}
      </p>
      <p className="text-soft">95% interval: {intervalText(cell)}</p>
      {missing !== undefined && <p className="text-watch">{missing}</p>}
      {cohortUsers < smallCohortUsers && (
        <p className="text-watch">Fewer than {smallCohortUsers} users: the share may be far off.</p>
      )}
      <p className="border-t border-line pt-1 text-soft">
        {found.cohort === undefined
          ? `Only cohorts whose ${period} is over`
          : "Click or press Enter to see the users"}
      </p>
    </>
  );
}
