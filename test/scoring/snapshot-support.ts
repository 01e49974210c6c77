/** Reads stored snapshots for tests. */
import type { EntityKind, Population } from "../../server/scoring/queries/engagement-events.ts";
import { read } from "../../server/scoring/queries/query.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { recordOf } from "../../server/scoring/run/records.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";

export type Row = Record<string, unknown> & { readonly entity: number };

/** A snapshot's rows in the order of entities; written if it is not there, or not right. */
export async function rowsOf(warehouse: Warehouse, who: Population, day: number): Promise<Row[]> {
  const { entities } = await snapshotFor(warehouse, who, day);
  const rows = await read<Row>(warehouse, {
    ...entities,
    sql: `SELECT * FROM (${entities.sql}) ORDER BY entity`,
  });
  return rows.map(sortedAccounts);
}

/** The accounts of a user in the order of their numbers. */
function sortedAccounts(row: Row): Row {
  const { accountNumbers, accountIdleDays, accountPrevious28, accountVolumes28, ...rest } = row;
  if (!Array.isArray(accountNumbers)) return row;
  const columns = [accountNumbers, accountIdleDays, accountPrevious28, accountVolumes28] as unknown[][];
  const accounts = accountNumbers.map((_, index) => columns.map((column) => column[index]));
  return { ...rest, accounts: accounts.toSorted(([a], [b]) => Number(a) - Number(b)) };
}

export function snapshotRecord(warehouse: Warehouse, organization: number, kind: EntityKind, day: number) {
  return recordOf(warehouse, { organization, kind, what: "snapshot" }, day);
}
