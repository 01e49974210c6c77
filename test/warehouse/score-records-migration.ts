/** The migration that fills columns of score records, for tests of records from before. */
import { expect } from "bun:test";
import { embedded } from "../../server/warehouse/engine/topology.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { migrationStatements } from "../../server/warehouse/schema/migrations.ts";

/** Runs its statements, also when they have run before. */
export async function fillScoreRecords(warehouse: Pick<Warehouse, "command">): Promise<void> {
  const statements = migrationStatements(embedded).filter((one) => one.includes("ALTER TABLE score_records"));
  expect(statements).toHaveLength(2);
  for (const statement of statements) await warehouse.command(statement);
}
