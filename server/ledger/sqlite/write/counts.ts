/**
 * Counts with which `doctor` compares the warehouse: events per organization and UTC day with a checksum, and the
 * numbers of users and accounts. They are running totals, written in the transaction that they count. A scan of a
 * million users would block every request for half a second.
 */
import type { Database } from "bun:sqlite";
import type { Populations } from "../../ports/health.ts";
import type { DayCount } from "../../ports/inbox.ts";
import type { VersionRows } from "../../ports/rejected-events.ts";
import type { AddedPopulations } from "../../rules/added-populations.ts";

interface DayCountRow {
  readonly utc_day: number;
  readonly events: number;
  readonly checksum: number;
}

interface PopulationsRow {
  readonly users: number;
  readonly user_versions: number;
  readonly accounts: number;
  readonly account_versions: number;
  readonly version_rows: number | null;
  readonly version_row_sum: number | null;
}

const nobody: Populations = {
  users: 0,
  userVersions: 0,
  accounts: 0,
  accountVersions: 0,
  versionRows: { rows: 0, versions: 0 },
};

function prepare(db: Database) {
  return {
    addDay: db.prepare(
      `INSERT INTO day_counts (organization, utc_day, events, checksum) VALUES (?, ?, ?, ? % 4294967296)
       ON CONFLICT DO UPDATE SET
         events = events + excluded.events,
         checksum = (checksum + excluded.checksum) % 4294967296`,
    ),
    days: db.prepare<DayCountRow, [number]>(
      "SELECT utc_day, events, checksum FROM day_counts WHERE organization = ? ORDER BY utc_day",
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
    populations: db.prepare<PopulationsRow, [number]>(
      `SELECT users, user_versions, accounts, account_versions, version_rows, version_row_sum
       FROM populations WHERE organization = ?`,
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

  days(organization: number): readonly DayCount[] {
    return this.#statements.days
      .all(organization)
      .map(({ utc_day, events, checksum }) => ({ organization, utcDay: utc_day, events, checksum }));
  }

  addPopulations(organization: number, added: AddedPopulations): void {
    const { users, userVersions, accounts, accountVersions } = added;
    this.#statements.addPopulations.run(organization, users, userVersions, accounts, accountVersions);
  }

  /** Adds the numbers, or subtracts negative ones. The organization's users have to be counted first. */
  addVersionRows(organization: number, { rows, versions }: VersionRows): void {
    this.#statements.addVersionRows.run(rows, versions, organization);
  }

  populations(organization: number): Populations {
    const row = this.#statements.populations.get(organization);
    if (row === null) return nobody;
    return {
      users: row.users,
      userVersions: row.user_versions,
      accounts: row.accounts,
      accountVersions: row.account_versions,
      versionRows:
        row.version_rows === null || row.version_row_sum === null
          ? null
          : { rows: row.version_rows, versions: row.version_row_sum },
    };
  }
}
