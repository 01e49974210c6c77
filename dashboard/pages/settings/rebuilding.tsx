/** The progress of days that are computed again, e.g. after a new timezone. */
import type { ReactElement } from "react";
import { useRead } from "../../api/query.ts";
import { numbers } from "../../text/format.ts";

const oftenMs = 1_500;
const seldomMs = 15_000;

/** A bar while days are computed again, and nothing otherwise. @param isExpected asks often: a change was
 * just saved */
export function Rebuilding({ isExpected }: { isExpected: boolean }): ReactElement | null {
  // The smallest question whose answer contains the freshness of figures.
  const { data } = useRead("/api/events", {
    query: { limit: 1 },
    everyMs: isExpected ? oftenMs : seldomMs,
  });
  const rebuilding = data?.freshness.rebuilding ?? null;
  if (rebuilding === null) return null;
  const percent = Math.round(rebuilding.progress * 100);
  return (
    <div role="status" className="grid gap-2 rounded border border-watch/50 bg-watch-wash px-4 py-3">
      <p>
        <b className="font-medium">Days are being computed again</b>:{" "}
        {numbers.wholeShare(rebuilding.progress)} done. Until then figures may be of the old days; events are
        taken meanwhile.
      </p>
      <progress aria-label="Days computed again" max={100} value={percent} className="h-1.5 w-full" />
    </div>
  );
}
