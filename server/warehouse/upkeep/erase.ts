/**
 * Erases one user from every table. The engine lists the tables with a column `user` or a bitmap of users, so that a
 * table that is added later is not forgotten.
 *
 * Uses mutations, not lightweight deletes, which only hide rows until some merge. A mutation rewrites the parts
 * without the rows, and the old parts leave the disk 8 minutes later. The user's bit is removed from stored bitmaps:
 * that needs no raw events and may be repeated after a crash.
 *
 * Everything of the user has to be loaded before, and nothing may come after: drain the inbox first.
 */
import type { FoundInWarehouse } from "../../ledger/ledger.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { eventCounts } from "./event-counts.ts";

interface WarehouseUser {
  readonly organization: number;
  /** The user's number. */
  readonly user: number;
}

/** Counts a user's rows, which the ledger records before they are deleted here. */
export async function findUser(
  warehouse: Warehouse,
  { organization, user }: WarehouseUser,
): Promise<FoundInWarehouse> {
  const dayCounts = await eventCounts(warehouse, organization, user);
  const [row] = await warehouse.rows<Omit<FoundInWarehouse, "dayCounts">>(
    `SELECT count() AS versions, sum(version) AS versionSum,
       (SELECT uniqExact(day) FROM user_event_days
        WHERE organization = {organization:UInt32} AND user = {user:UInt32}) AS days
     FROM user_versions WHERE organization = {organization:UInt32} AND user = {user:UInt32}`,
    { organization, user },
    noLimitOfTime,
  );
  return { dayCounts, versions: row?.versions ?? 0, versionSum: row?.versionSum ?? 0, days: row?.days ?? 0 };
}

/** Deletes a user from every table. */
export async function eraseUser(warehouse: Warehouse, { organization, user }: WarehouseUser): Promise<void> {
  for (const { table, column, isBitmap, isReplacing } of await columnsOfUsers(warehouse)) {
    const sql = isBitmap ? takeBit(table, column, isReplacing) : deleteRows(table);
    await warehouse.command(sql, { organization, user }, noLimitOfTime);
  }
}

interface ColumnOfUsers {
  readonly table: string;
  readonly column: string;
  readonly isBitmap: boolean;
  /** Whether of rows with the same key the newest counts. */
  readonly isReplacing: boolean;
}

function columnsOfUsers(warehouse: Warehouse): Promise<ColumnOfUsers[]> {
  return warehouse.rows<ColumnOfUsers>(`
    SELECT table, columns.name AS column, type = 'AggregateFunction(groupBitmap, UInt32)' AS isBitmap,
      engine LIKE '%ReplacingMergeTree' AS isReplacing
    FROM system.columns AS columns
    INNER JOIN system.tables AS tables ON tables.database = columns.database AND tables.name = columns.table
    WHERE columns.database = currentDatabase() AND (columns.name = 'user' OR isBitmap) AND engine LIKE '%MergeTree'
    ORDER BY table`);
}

function deleteRows(table: string): string {
  return `ALTER TABLE ${table} DELETE
    WHERE organization = {organization:UInt32} AND user = {user:UInt32}`;
}

/** A row of this user alone is deleted, because an event's name may be a person's name. A row that replaced another
 * one stays, even if empty, or the replaced row would count again. */
function takeBit(table: string, column: string, isReplacing: boolean): string {
  const hasUser = `organization = {organization:UInt32} AND bitmapContains(${column}, toUInt32({user:UInt32}))`;
  const deleted = isReplacing ? "" : `DELETE WHERE ${hasUser} AND bitmapCardinality(${column}) = 1,`;
  return `ALTER TABLE ${table} ${deleted}
    UPDATE ${column} = bitmapAndnot(${column}, bitmapBuild([toUInt32({user:UInt32})])) WHERE ${hasUser}`;
}
