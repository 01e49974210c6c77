/** What a warehouse on a server can do beside what every warehouse can: before its database is there, and for a move. */
import type { FrozenRows, Parameter, Warehouse } from "./warehouse.ts";

/** A warehouse that may be asked before its database is there. */
export interface ServerWarehouse extends Warehouse {
  /** Runs a statement outside of the database. */
  commandOutside(sql: string): Promise<void>;
  /** Inserts blocks of ClickHouse's Native format, as many rows as there are: none is taken for a repetition of another,
   * none is merged on the way. @param names of their columns, commas between */
  insertNative(table: string, names: string, blocks: Buffer): Promise<void>;
  /** Asks outside of the database. */
  rowsOutside<Row>(sql: string, parameters?: Record<string, Parameter>): Promise<Row[]>;
  /** Whether the user has a right, `INSERT ON db.*`. Not while reading only: then nobody has any. */
  isGranted(right: string): Promise<boolean>;
  /** Inserts JSON arrays into any table as insertFrozen does into those of the warehouse. */
  insertInto(
    table: string,
    columns: readonly string[],
    rows: Pick<FrozenRows, "rows" | "body" | "token">,
  ): Promise<void>;
}
