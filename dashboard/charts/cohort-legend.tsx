/** The legend of a cohort grid: the meaning of its colours and marks. */
import type { ReactElement } from "react";
import { numbers } from "../text/format.ts";
import type { Scale } from "./cohort-model.ts";

interface GridLegendProps {
  readonly scale: Scale;
  /** The figure of an incomplete cell: "the share may still rise". */
  readonly incomplete: string;
  /** The sentence about small cohorts. */
  readonly small: string;
}

export function GridLegend({ scale: { low, high }, incomplete, small }: GridLegendProps): ReactElement {
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
        {high !== 1 && " or more"}
      </li>
      <li className="flex items-center gap-1.5">
        <span aria-hidden="true" className="heat-2 hatched inline-block h-3 w-6" />
        not complete: {incomplete}
      </li>
      <li>~ {small}</li>
    </ul>
  );
}
