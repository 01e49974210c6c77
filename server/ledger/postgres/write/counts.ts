/** Counts with which `doctor` compares the warehouse: see sqlite/write/counts.ts. transact.ts writes them. */

import type { DayCount } from "../../inbox.ts";
import type { VersionRows } from "../../rules/rejected-event-facts.ts";
import type { Tx } from "../connect.ts";

/** Adds to the days in the caller's transaction, or subtracts negative numbers.
 * @param slot the writer's own, so that it waits for no other commit */
export function addDayCounts(tx: Tx, dayCounts: readonly DayCount[], slot: number) {
  return tx`
    INSERT INTO day_counts AS stored (organization, utc_day, slot, events, checksum)
    SELECT organization, "utcDay", ${slot}::integer, sum(events), sum(checksum) % 4294967296
    FROM json_to_recordset(${JSON.stringify(dayCounts)}::text::json)
      AS given (organization bigint, "utcDay" integer, events bigint, checksum bigint)
    GROUP BY organization, "utcDay" ORDER BY organization, "utcDay"
    ON CONFLICT (organization, utc_day, slot) DO UPDATE SET
      events = stored.events + excluded.events,
      checksum = (stored.checksum + excluded.checksum) % 4294967296`;
}

/** Adds to the count of an organization's rows of `user_versions` in the caller's transaction, or subtracts
 * negative numbers. An unknown count is NULL and stays NULL. */
export function addVersionRows(tx: Tx, organization: number, { rows, versions }: VersionRows) {
  return tx`
    UPDATE populations SET version_rows = version_rows + ${rows}, version_row_sum = version_row_sum + ${versions}
    WHERE organization = ${organization}`;
}

/** Adds to the counted rows of `account_versions`, or subtracts negative numbers. Their count is always
 * known. */
export function addAccountVersionRows(tx: Tx, organization: number, { rows, versions }: VersionRows) {
  return tx`
    UPDATE populations SET account_version_rows = account_version_rows + ${rows},
      account_version_row_sum = account_version_row_sum + ${versions}
    WHERE organization = ${organization}`;
}
