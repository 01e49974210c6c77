/** Says until when a user or an account is a control of a hold-out. */
import type { ReactElement } from "react";
import { Badge } from "../../parts/figure/health.tsx";
import { dayText } from "../../text/format.ts";

/** Nothing for others. @param until the last day */
export function ControlBadge({ until }: { until: string | null }): ReactElement | null {
  if (until === null) return null;
  return (
    <span
      className="ml-2 shrink-0"
      title="A hold-out compares with it: do not work on it before this day is over"
    >
      <Badge>{`Control until ${dayText(until, "short")}`}</Badge>
    </span>
  );
}
