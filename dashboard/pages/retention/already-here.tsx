/** Cohorts of users who joined before the data begins, and whether they count. */
import type { ReactElement } from "react";
import { Button } from "../../parts/form/button.tsx";
import { counted } from "../../text/format.ts";
import { cohortTitle, type Group } from "./cohorts.ts";
import { useChoices } from "./question.ts";

export function AlreadyHere({ groups }: { groups: readonly Group[] }): ReactElement | null {
  const [{ period, alreadyHere }, change] = useChoices();
  const cohorts = groups.flatMap((group) => group.cohorts.filter((cohort) => cohort.isAlreadyHere));
  if (cohorts.length === 0) return null;
  const days = [...new Set(cohorts.map(({ day }) => day))].sort();
  const users = cohorts.reduce((sum, cohort) => sum + cohort.users, 0);
  const isCounted = alreadyHere === "counted";
  const names = days.map((day) => cohortTitle(day, period)).join(", ");
  return (
    <p className="flex flex-wrap items-center gap-x-3 gap-y-1 border-t border-line px-4 py-2 text-sm text-soft">
      <span className="max-w-[80ch]">
        {names}: {counted(users, "user")} {users === 1 ? "is" : "are"} in the first data. Most of them
        probably joined earlier, so they are{" "}
        {isCounted
          ? "no newcomers, but count in means, projections and comparisons."
          : "left out of means, projections and comparisons."}
      </span>
      <Button isSmall onClick={() => change({ alreadyHere: isCounted ? "leftOut" : "counted" })}>
        {isCounted ? "Exclude them" : "Include them"}
      </Button>
    </p>
  );
}
