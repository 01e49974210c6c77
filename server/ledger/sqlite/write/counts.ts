/**
 * Counts with which `doctor` compares the warehouse: events per organization and UTC day with a checksum, and
 * the numbers of users and accounts. They are running totals, written in the transaction that they count. A
 * scan of a million users would block every request for half a second.
 */
import type { Database } from "bun:sqlite";
import type { DayCount } from "../../inbox.ts";
import type { AddedPopulations } from "../../rules/added-populations.ts";
import type { VersionRows } from "../../rules/rejected-event-facts.ts";

function prepare(db: Database) {
  return {
    addDay: db.prepare(
      `INSERT INTO day_counts (organization, utc_day, events, checksum) VALUES (?, ?, ?, ? % 4294967296)
       ON CONFLICT DO UPDATE SET
         events = events + excluded.events,
         checksum = (checksum + excluded.checksum) % 4294967296`,
    ),
    addPopulations: db.prepare(
      `INSERT INTO populations
         (organization, users, user_versions, accounts, account_versions, version_rows, version_row_sum)
       VALUES (?, ?, ?, ?, ?, 0, 0)
       ON CONFLICT DO UPDATE SET
         users = users + excluded.users,
         user_versions = user_versions + excluded.user_versions,
         accounts = accounts + excluded.accounts,
         account_versions = account_versions + excluded.account_versions`,
    ),
    // Without a row there are no users. An unknown count is NULL and stays NULL.
    addVersionRows: db.prepare(
      `UPDATE populations SET version_rows = version_rows + ?, version_row_sum = version_row_sum + ?
       WHERE organization = ?`,
    ),
    addAccountVersionRows: db.prepare(
      `UPDATE populations SET account_version_rows = account_version_rows + ?,
         account_version_row_sum = account_version_row_sum + ?
       WHERE organization = ?`,
    ),
  };
}

export class Counts {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  addDay(count: DayCount): void {
    this.#statements.addDay.run(count.organization, count.utcDay, count.events, count.checksum);
  }

  addPopulations(organization: number, added: AddedPopulations): void {
    const { users, userVersions, accounts, accountVersions } = added;
    this.#statements.addPopulations.run(organization, users, userVersions, accounts, accountVersions);
  }

  /** Adds the numbers, or subtracts negative ones. The organization's users have to be counted first. */
  addVersionRows(organization: number, { rows, versions }: VersionRows): void {
    this.#statements.addVersionRows.run(rows, versions, organization);
  }

  /** Adds to the counted rows of `account_versions`, or subtracts negative numbers. */
  addAccountVersionRows(organization: number, { rows, versions }: VersionRows): void {
    this.#statements.addAccountVersionRows.run(rows, versions, organization);
  }
}
