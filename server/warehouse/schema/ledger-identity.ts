/**
 * Which ledger a warehouse belongs to. A ledger numbers its batches, organizations and users from 1. The rows
 * of a second ledger would be taken for repetitions and dropped silently.
 */

import { onCluster } from "../engine/topology.ts";
import { otherLedger, Unusable } from "../engine/unavailable.ts";
import { type Warehouse, WarehouseError } from "../engine/warehouse.ts";
import { createTable, type Table } from "./tables.ts";

const ledgerIdentity: Table = {
  name: "ledger_identity",
  engine: { family: "MergeTree", arguments: "" },
  columns: ["identity String", "at DateTime64(3, 'UTC')"],
  orderBy: "identity",
};

/** UNKNOWN_DATABASE */
const unknownDatabaseCode = 81;

/** @throws Refusal when the warehouse belongs to another ledger; one that belongs to none yet is not
 * refused */
export async function refuseOtherLedger(warehouse: Warehouse, identity: string): Promise<void> {
  const found = await identitiesIn(warehouse);
  if (found.some((known) => known !== identity)) throw new Unusable(otherLedger, otherLedger);
}

/** Writes down that the warehouse belongs to a ledger, when it belongs to none.
 * @throws Refusal when another was faster */
export async function claimForLedger(warehouse: Warehouse, identity: string): Promise<void> {
  if ((await identitiesIn(warehouse)).length > 0) return;
  await writeIdentity(warehouse, identity);
  await refuseOtherLedger(warehouse, identity);
}

/** Writes down that the warehouse belongs to the ledger of a move. It may replace the ledger of an unfinished
 * move. */
export async function claimForMove(warehouse: Warehouse, identity: string): Promise<void> {
  await warehouse.command(`DROP TABLE IF EXISTS ${ledgerIdentity.name}${onCluster(warehouse.topology)} SYNC`);
  await writeIdentity(warehouse, identity);
}

async function writeIdentity(warehouse: Warehouse, identity: string): Promise<void> {
  await warehouse.command(createTable(ledgerIdentity, warehouse.topology));
  await warehouse.command(`INSERT INTO ${ledgerIdentity.name} SELECT {identity:String}, now64(3)`, {
    identity,
  });
}

async function identitiesIn(warehouse: Warehouse): Promise<readonly string[]> {
  try {
    const [table] = await warehouse.rows<{ result: number }>(`EXISTS TABLE ${ledgerIdentity.name}`);
    if (table?.result !== 1) return [];
  } catch (error) {
    if (error instanceof WarehouseError && error.code === unknownDatabaseCode) return [];
    throw error;
  }
  const rows = await warehouse.rows<{ identity: string }>(`SELECT identity FROM ${ledgerIdentity.name}`);
  return rows.map(({ identity }) => identity);
}
