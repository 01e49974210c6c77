/** The currency of the organization's sums. */
import { useRead } from "../../api/query.ts";

/** The currency that figures of revenue are in: that of the settings, else the one that most changes have.
 * Null until it is known. @param enabled whether it is asked for at all */
export function useReportingCurrency(enabled = true): string | null {
  return useRead("/api/revenue", { query: { periods: 1 }, enabled }).data?.reportingCurrency ?? null;
}
