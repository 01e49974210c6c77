/** The churn horizon: after how many silent days a user has churned, with what the data says of it. */
import type { ReactElement } from "react";
import type { Settings } from "../../../contract/settings.ts";
import type { Reads } from "../../api/paths.ts";
import { useRead } from "../../api/query.ts";
import { Button } from "../../parts/form/button.tsx";
import { Panel } from "../../parts/panel.tsx";
import { classes } from "../../text/classes.ts";
import { numbers } from "../../text/format.ts";
import type { SectionProps } from "./scores.tsx";

const horizons = [7, 14, 28, 56, 84] as const satisfies readonly Settings["churnHorizonDays"][];

type Intervals = Reads["/api/usage-intervals"]["answer"];

export function Horizon({ draft, errorOf }: SectionProps): ReactElement {
  const { data: intervals, error } = useRead("/api/usage-intervals");
  const chosen = draft.values.churnHorizonDays;
  const advised = intervals?.advisedChurnHorizonDays ?? null;
  return (
    <Panel title="Churn horizon" note="Who does nothing for this many days counts as churned.">
      <fieldset className="grid gap-3">
        <legend className="sr-only">Churn horizon</legend>
        <div className="grid gap-px overflow-hidden rounded border border-edge bg-line sm:grid-cols-5">
          {horizons.map((days) => (
            <label
              key={days}
              className={classes(
                "relative flex flex-wrap items-baseline justify-between gap-x-3 px-3 py-2.5 sm:grid sm:content-start sm:gap-0.5 focus-within:z-[1] focus-within:outline-2 focus-within:outline-ember",
                days === chosen ? "bg-ember-wash" : "bg-raised hover:bg-sunk",
              )}
            >
              <span className="flex items-center gap-2">
                <input
                  type="radio"
                  name="churnHorizonDays"
                  value={days}
                  checked={days === chosen}
                  onChange={() => draft.set({ churnHorizonDays: days })}
                  className="accent-ember outline-none"
                />
                <span className="font-medium">{days} days</span>
                {days === advised && <span className="text-sm text-ember">advised</span>}
              </span>
              <span className={classes("text-sm", days === chosen ? "text-ink" : "text-soft")}>
                {sharesText(intervals, days)}
              </span>
            </label>
          ))}
        </div>
        {errorOf("churnHorizonDays") !== undefined && (
          <p role="alert" className="text-sm text-at-risk">
            {errorOf("churnHorizonDays")}
          </p>
        )}
        <div className="flex flex-wrap items-center gap-x-3 gap-y-2 text-sm text-soft">
          <p>{error === null ? advice(intervals) : "The data cannot be asked for advice at this moment."}</p>
          {advised !== null && advised !== chosen && (
            <Button isSmall onClick={() => draft.set({ churnHorizonDays: advised })}>
              Take {advised} days
            </Button>
          )}
        </div>
      </fieldset>
    </Panel>
  );
}

/** How many of the gaps between visits are no longer than a horizon. */
function sharesText(intervals: Intervals | undefined, days: number): string {
  if (intervals === undefined) return "…";
  if (intervals.gaps === 0) return "no data yet";
  const covered = intervals.intervals.findLast((one) => one.days <= days)?.cumulativeShare ?? 0;
  return `${numbers.share(covered)} of gaps are no longer`;
}

function advice(intervals: Intervals | undefined): string {
  if (intervals === undefined) return "Asking the data …";
  const { gaps, percentiles, advisedChurnHorizonDays: advised } = intervals;
  if (advised === null) {
    return `The data advises a horizon once users came back 100 times; so far ${numbers.count(gaps)} times in 26 weeks.`;
  }
  return `Of ${numbers.count(gaps)} gaps between two active days of the same user in 26 weeks, nine of ten are at most ${percentiles.p90} days long. The data advises ${advised} days.`;
}
