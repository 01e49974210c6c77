/**
 * Erases users from every table, many in one mutation of each. The engine lists the tables with a column
 * `user`, an array or a bitmap of users, so that a table that is added later is not forgotten.
 *
 * Uses mutations, not lightweight deletes, which only hide rows until some merge. A mutation rewrites the
 * parts without the rows, and the old parts leave the disk 8 minutes later. It rewrites a part once for all
 * users that it names. The users' bits are removed from stored bitmaps: that needs no raw events and may be
 * repeated after a crash.
 *
 * Everything of the users has to be loaded before, and nothing may come after: drain the inbox first.
 */
import type { FoundInWarehouse } from "../../ledger/erasures.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { usersOfRow } from "../schema/billing-tables.ts";
import { eventCountsOf } from "./event-counts.ts";
import { markAccountSnapshotsStale } from "./stale-snapshots.ts";

export interface WarehouseUser {
  readonly organization: number;
  /** The user's number. */
  readonly user: number;
}

/** In one query: 100 users with events on each day of 20 years are 730,000 rows. */
const usersOfQuery = 100;

/** Counts the rows of an organization's users, by their numbers, which the ledger records before they are
 * deleted here. */
export async function findUsers(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
): Promise<ReadonlyMap<number, FoundInWarehouse>> {
  const found = new Map<number, FoundInWarehouse>();
  for (let from = 0; from < users.length; from += usersOfQuery) {
    const some = users.slice(from, from + usersOfQuery);
    for (const [user, rows] of await findSome(warehouse, organization, some)) found.set(user, rows);
  }
  return found;
}

async function findSome(
  warehouse: Warehouse,
  organization: number,
  users: readonly number[],
): Promise<readonly (readonly [number, FoundInWarehouse])[]> {
  const ofUsers = `organization = {organization:UInt32} AND user IN {users:Array(UInt32)}`;
  const dayCounts = await eventCountsOf(warehouse, organization, users);
  const versions = await warehouse.rows<{ user: number; versions: number; versionSum: number }>(
    `SELECT user, count() AS versions, sum(version) AS versionSum
     FROM user_versions WHERE ${ofUsers} GROUP BY user`,
    { organization, users },
    noLimitOfTime,
  );
  const days = await warehouse.rows<{ user: number; days: number }>(
    `SELECT user, uniqExact(day) AS days FROM user_event_days WHERE ${ofUsers} GROUP BY user`,
    { organization, users },
    noLimitOfTime,
  );
  const accounts = await warehouse.rows<{ user: number; accounts: number[] }>(
    `SELECT user, arraySort(groupUniqArray(account)) AS accounts
     FROM (
       SELECT user, account FROM user_event_days WHERE ${ofUsers}
       UNION ALL SELECT user, account FROM billing_events WHERE ${ofUsers}
       UNION ALL SELECT user, account FROM users FINAL WHERE ${ofUsers})
     WHERE account != 0 GROUP BY user`,
    { organization, users },
    noLimitOfTime,
  );
  const accountsOf = new Map(accounts.map((row) => [row.user, row.accounts]));
  const versionsOf = new Map(versions.map(({ user, ...sums }) => [user, sums]));
  const daysOf = new Map(days.map((row) => [row.user, row.days]));
  return users.map((user) => {
    const { versions: rows, versionSum } = versionsOf.get(user) ?? { versions: 0, versionSum: 0 };
    const found = { versions: rows, versionSum, days: daysOf.get(user) ?? 0 };
    const counts = { dayCounts: dayCounts.get(user) ?? [], accounts: accountsOf.get(user) ?? [] };
    return [user, { ...found, ...counts }];
  });
}

/** The counts of a user without rows. */
export const noRows: FoundInWarehouse = { dayCounts: [], versions: 0, versionSum: 0, days: 0 };

/** Deletes users, of any organizations, from every table. */
export async function eraseUsers(warehouse: Warehouse, users: readonly WarehouseUser[]): Promise<void> {
  if (users.length === 0) return;
  const byOrganization = [...Map.groupBy(users, ({ organization }) => organization)];
  const parameters = Object.fromEntries(
    byOrganization.flatMap(([organization, some], index) => [
      [`organization${index}`, organization],
      [`users${index}`, some.map(({ user }) => user)],
    ]),
  );
  for (const { table, column, isBitmap, isReplacing } of await columnsOfUsers(warehouse)) {
    const commands = byOrganization.map((_, index) =>
      isBitmap ? takeBits(column, isReplacing, index) : deleteRows(column, index),
    );
    await warehouse.command(`ALTER TABLE ${table} ${commands.join(", ")}`, parameters, noLimitOfTime);
  }
  await markAccountSnapshotsStale(
    warehouse,
    byOrganization.map(([organization]) => organization),
  );
}

/** A column that says of which users a row is. */
export interface ColumnOfUsers {
  readonly table: string;
  readonly column: string;
  readonly isBitmap: boolean;
  /** Whether of rows with the same key the newest counts. */
  readonly isReplacing: boolean;
  /** Whether rows with the same key are merged, so that they are read with FINAL. */
  readonly isMerging: boolean;
  /** The columns by which rows are stored, between commas. */
  readonly sortingKey: string;
}

/** The columns of users in all tables, as the engine lists them. */
export function columnsOfUsers(warehouse: Warehouse): Promise<ColumnOfUsers[]> {
  return warehouse.rows<ColumnOfUsers>(`
    SELECT table, columns.name AS column, type = 'AggregateFunction(groupBitmap, UInt32)' AS isBitmap,
      engine LIKE '%ReplacingMergeTree' AS isReplacing,
      match(engine, 'Replacing|Aggregating|Summing') AS isMerging, sorting_key AS sortingKey
    FROM system.columns AS columns
    INNER JOIN system.tables AS tables ON tables.database = columns.database AND tables.name = columns.table
    WHERE columns.database = currentDatabase() AND (columns.name IN ('user', '${usersOfRow}') OR isBitmap)
      AND engine LIKE '%MergeTree'
    ORDER BY table`);
}

/** @param index of the organization among the statement's parameters */
function deleteRows(column: string, index: number): string {
  const users = `{users${index}:Array(UInt32)}`;
  const hasUser = column === usersOfRow ? `hasAny(${column}, ${users})` : `${column} IN ${users}`;
  return `DELETE WHERE organization = {organization${index}:UInt32} AND ${hasUser}`;
}

/** A row of these users alone is deleted, because an event's name may be a person's name. A row that replaced
 * another one stays, even if empty, or the replaced row would count again. */
function takeBits(column: string, isReplacing: boolean, index: number): string {
  const erased = `bitmapBuild({users${index}:Array(UInt32)})`;
  const hasUser = `organization = {organization${index}:UInt32} AND bitmapHasAny(${column}, ${erased})`;
  const deleted = isReplacing ? "" : `DELETE WHERE ${hasUser} AND bitmapHasAll(${erased}, ${column}),`;
  return `${deleted} UPDATE ${column} = bitmapAndnot(${column}, ${erased}) WHERE ${hasUser}`;
}
