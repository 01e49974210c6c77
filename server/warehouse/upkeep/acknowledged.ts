/** The ledger's counts, which the warehouse has to match. */

import type { DayCount, MissingRows, Populations, SharedLedger } from "../../ledger/ledger.ts";

/** The counts of everything that the ledger acknowledged. */
export interface Acknowledged {
  readonly dayCounts: readonly DayCount[];
  readonly populations: Populations;
  /** Rows that the warehouse cannot have; none when left out. */
  readonly missing?: MissingRows;
  /** The first day whose raw events are complete; null: all days. Earlier days cannot be compared. */
  readonly eventsFromDay?: number | null;
}

/** The ledger's counts of an organization. */
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
