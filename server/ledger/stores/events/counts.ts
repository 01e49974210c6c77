/** Changes of the counts with which `doctor` compares the warehouse, off the request path and inside the caller's
 * transaction. */
import type { DayCount } from "../../ports/inbox.ts";
import type { VersionRows } from "../../ports/rejected-events.ts";
import { records } from "../engine/dialect.ts";
import { perEngine, run } from "../engine/sql.ts";

/** On PostgreSQL, writers have slots of a day's counts. Any slot is right here, because no request waits. */
const slot = {
  column: perEngine({ sqlite: "", postgres: ", slot" }),
  value: perEngine({ sqlite: "", postgres: ", 0" }),
};

/** Adds to the days, or subtracts negative numbers. */
export function addDayCounts(dayCounts: readonly DayCount[]) {
  const given = records(dayCounts, {
    ...{ organization: "bigint", utcDay: "bigint", events: "bigint", checksum: "bigint" },
  });
  return run`
    INSERT INTO day_counts AS stored (organization, utc_day${slot.column}, events, checksum)
    SELECT organization, "utcDay"${slot.value}, sum(events), sum(checksum) % 4294967296 FROM ${given}
    GROUP BY organization, "utcDay" ORDER BY organization, "utcDay"
    ON CONFLICT (organization, utc_day${slot.column}) DO UPDATE SET
      events = stored.events + excluded.events, checksum = (stored.checksum + excluded.checksum) % 4294967296`;
}

/** Adds to the count of an organization's rows of `user_versions`, or subtracts negative numbers. An unknown count is NULL
 * and stays NULL. */
export function addVersionRows(organization: number, { rows, versions }: VersionRows) {
  return run`
    UPDATE populations SET version_rows = version_rows + ${rows}, version_row_sum = version_row_sum + ${versions}
    WHERE organization = ${organization}`;
}
