/**
 * The warehouse on a server of ClickHouse, or on a cluster of them, by HTTP: the same queries and the same migrations as
 * in the embedded one.
 */

import { refuseUnfinishedMove } from "../copies/move-tables.ts";
import { parseClickHouseUrl } from "./clickhouse-http.ts";
import { prepare } from "./clickhouse-prepare.ts";
import { ClickHouseWarehouse } from "./clickhouse-warehouse.ts";
import type { ServerWarehouse } from "./server-warehouse.ts";

export interface ClickHouseOptions {
  /** `http(s)://user:password@host:8123/database`; the database is made when it is not there, `rekindle` without a name. */
  readonly url: string;
  /** The cluster's name in the servers' configuration, for tables that are replicated on all of its nodes; null or left
   * out for a single server. */
  readonly cluster?: string | null;
  /** Queries that run side by side; more wait their turn. */
  readonly readers?: number;
  /** What a query may hold in the server's memory, where it does not say more. */
  readonly queryMemoryBytes?: number;
  /** False where another process makes the tables and brings them up to date: then they only have to be there. */
  readonly migrates?: boolean;
  /** False when another node may lead: then no statement that changes anything is sent any more. */
  readonly mayChange?: () => boolean;
  /** The identity of the ledger whose rows it holds: a warehouse of another is refused. Left out for a move, which looks
   * itself. */
  readonly ledger?: string;
  /** True for a move, which may find what one before has left. */
  readonly isMove?: boolean;
}

/**
 * Opens the warehouse on a server and brings its tables up to date.
 * @throws Refusal when it cannot be used as it is (address, version, password, rights, ledger), WarehouseError with the code 210
 * when it cannot be reached now, and when the tables are not made yet or come from a newer version
 */
export async function openClickHouseWarehouse(options: ClickHouseOptions): Promise<ServerWarehouse> {
  const server = parseClickHouseUrl(options.url);
  const warehouse = new ClickHouseWarehouse(server, options);
  try {
    const { migrates = true, ledger } = options;
    await prepare(warehouse, { database: server.database, migrates, ledger });
    if (!options.isMove) await refuseUnfinishedMove(warehouse);
  } catch (error) {
    await warehouse.close();
    throw error;
  }
  return warehouse;
}

/** Connects, and asks nothing yet. */
export function connectClickHouse(options: ClickHouseOptions): ServerWarehouse {
  return new ClickHouseWarehouse(parseClickHouseUrl(options.url), options);
}
