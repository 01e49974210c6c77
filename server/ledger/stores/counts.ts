/** Reads the counts with which `doctor` compares the warehouse. Changes them off the request path, inside the
 * caller's transaction. */

import { records } from "../dialect.ts";
import type { Populations } from "../health.ts";
import type { DayCount } from "../inbox.ts";
import type { VersionRows } from "../rules/rejected-event-facts.ts";
import { integer, nullable, perEngine, RowOf, run, select, type Work } from "../sql.ts";

const dayRow = new RowOf<DayCount>({
  organization: integer(),
  utcDay: integer(),
  events: integer("CAST(sum(events) AS bigint)"),
  checksum: integer("CAST(sum(checksum) % 4294967296 AS bigint)"),
});
const totals = {
  users: integer(),
  userVersions: integer(),
  accounts: integer(),
  accountVersions: integer(),
};
type Totals = { readonly [Name in keyof typeof totals]: number };
interface StoredVersionRows {
  rows: number | null;
  versions: number | null;
  accountRows: number;
  accountRowSum: number;
}
const populationsRow = new RowOf<Totals & StoredVersionRows>({
  ...totals,
  accountRows: integer("account_version_rows"),
  accountRowSum: integer("account_version_row_sum"),
  rows: nullable(integer("version_rows")),
  versions: nullable(integer("version_row_sum")),
});
const nobody = {
  users: 0,
  userVersions: 0,
  accounts: 0,
  accountVersions: 0,
  rows: 0,
  versions: 0,
  accountRows: 0,
  accountRowSum: 0,
};

/** The days of an organization, with the sums of all writers. */
export function dayCountsOf(organization: number) {
  return select(dayRow)`
    FROM day_counts WHERE organization = ${organization} GROUP BY organization, utc_day ORDER BY utc_day`;
}

/** Users and accounts of an organization, with their versions. */
export function* populationsOf(organization: number): Work<Populations> {
  const [stored] = yield* select(populationsRow)`FROM populations WHERE organization = ${organization}`;
  const { rows, versions, accountRows, accountRowSum, ...totals } = stored ?? nobody;
  return {
    ...totals,
    versionRows: rows === null || versions === null ? null : { rows, versions },
    accountVersionRows: { rows: accountRows, versions: accountRowSum },
  };
}

/** On PostgreSQL, writers have slots of a day's counts. Any slot is right here, because no request waits. */
const slot = {
  column: perEngine({ sqlite: "", postgres: ", slot" }),
  value: perEngine({ sqlite: "", postgres: ", 0" }),
};

/** Adds to the days, or subtracts negative numbers. */
export function addDayCounts(dayCounts: readonly DayCount[]) {
  const given = records(dayCounts, {
    organization: "bigint",
    utcDay: "bigint",
    events: "bigint",
    checksum: "bigint",
  });
  return run`
    INSERT INTO day_counts AS stored (organization, utc_day${slot.column}, events, checksum)
    SELECT organization, "utcDay"${slot.value}, sum(events), sum(checksum) % 4294967296 FROM ${given}
    GROUP BY organization, "utcDay" ORDER BY organization, "utcDay"
    ON CONFLICT (organization, utc_day${slot.column}) DO UPDATE SET
      events = stored.events + excluded.events, checksum = (stored.checksum + excluded.checksum) % 4294967296`;
}

/** Adds to the count of an organization's rows of `user_versions`, or subtracts negative numbers. An unknown
 * count is NULL and stays NULL. */
export function addVersionRows(organization: number, { rows, versions }: VersionRows) {
  return run`
    UPDATE populations SET version_rows = version_rows + ${rows}, version_row_sum = version_row_sum + ${versions}
    WHERE organization = ${organization}`;
}

/** Adds to the counted rows of `account_versions`, or subtracts negative numbers. Their count is always
 * known. */
export function addAccountVersionRows(organization: number, { rows, versions }: VersionRows) {
  return run`
    UPDATE populations SET account_version_rows = account_version_rows + ${rows},
      account_version_row_sum = account_version_row_sum + ${versions}
    WHERE organization = ${organization}`;
}
