/**
 * Deletes an organization from every table; the engine lists the tables. Everything of the organization has
 * to be loaded before, and the ledger refuses anything after.
 */
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";

/** Deletes every row of an organization. */
export async function deleteOrganization(warehouse: Warehouse, organization: number): Promise<void> {
  const tables = await warehouse.rows<{ table: string }>(`
    SELECT columns.table AS table FROM system.columns AS columns
    INNER JOIN system.tables AS tables ON tables.database = columns.database AND tables.name = columns.table
    WHERE columns.database = currentDatabase() AND columns.name = 'organization' AND engine LIKE '%MergeTree'
    ORDER BY table`);
  for (const { table } of tables) {
    await warehouse.command(
      `ALTER TABLE ${table} DELETE WHERE organization = {organization:UInt32}`,
      { organization },
      noLimitOfTime,
    );
  }
}
