/** What the ledger says that the warehouse has to have. */

import type { DayCount, MissingRows, Populations, SharedLedger } from "../../ledger/ledger.ts";

/** What the ledger says it acknowledged. */
export interface Acknowledged {
  readonly dayCounts: readonly DayCount[];
  readonly populations: Populations;
  /** Rows that the warehouse cannot have; none when left out. */
  readonly missing?: MissingRows;
  /** The first day whose raw events are all there; null: every day's. What lies before cannot be compared. */
  readonly eventsFromDay?: number | null;
}

/** What the ledger says of an organization. */
export async function acknowledgedOf(
  ledger: Pick<SharedLedger, "dayCounts" | "populations" | "deadLetters" | "organizations">,
  id: number,
): Promise<Acknowledged> {
  const [dayCounts, populations, missing, organization] = await Promise.all([
    ledger.dayCounts(id),
    ledger.populations(id),
    ledger.deadLetters.missing(id),
    ledger.organizations.find(id),
  ]);
  return { dayCounts, populations, missing, eventsFromDay: organization?.eventsFromDay ?? null };
}
