/** Says until when a user or an account is in a control group. */
import type { ReactElement } from "react";
import { Badge } from "../../parts/figure/health.tsx";
import { dayText } from "../../text/format.ts";

/** Nothing for others. @param until the last day */
export function ControlBadge({ until }: { until: string | null }): ReactElement | null {
  if (until === null) return null;
  return (
    <span className="ml-2 shrink-0" title="In a control group: do not contact them before this day is over">
      <Badge>{`Control until ${dayText(until, "short")}`}</Badge>
    </span>
  );
}
