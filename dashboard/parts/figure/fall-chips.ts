/** Filters by a fall in words, and the values without them. */
import { counted } from "../../text/format.ts";

interface Falls {
  readonly usageFellPercent?: number | undefined;
  readonly healthFellPoints?: number | undefined;
  readonly healthFellDays?: number | undefined;
}

/** Of use and of health; those that are not set among them. */
export function fallChips({
  usageFellPercent: percent,
  healthFellPoints: points,
  healthFellDays: days = 28,
}: Falls) {
  return [
    {
      isSet: percent !== undefined,
      text: `Use fell by at least ${percent}% in 4 weeks`,
      without: { usageFellPercent: undefined },
    },
    {
      isSet: points !== undefined,
      text: `Health fell by at least ${counted(points ?? 0, "point")} in ${counted(days, "day")}`,
      without: { healthFellPoints: undefined, healthFellDays: undefined },
    },
  ];
}
