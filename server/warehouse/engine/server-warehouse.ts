/** The additional operations of a warehouse on a server: before its database exists, and for a move. */
import type { Parameter, Warehouse } from "./warehouse.ts";

/** A warehouse that can be used before its database exists. */
export interface ServerWarehouse extends Warehouse {
  /** Runs a statement outside of the database. */
  commandOutside(sql: string): Promise<void>;
  /** Inserts blocks of ClickHouse's Native format. All rows are stored, without deduplication and without
   * merging.
   * @param names of their columns, separated by commas */
  insertNative(table: string, names: string, blocks: Buffer): Promise<void>;
  /** Runs a query outside of the database. */
  rowsOutside<Row>(sql: string, parameters?: Record<string, Parameter>): Promise<Row[]>;
  /** Whether the user has a right, `INSERT ON db.*`. Read-only mode must be off: it hides all rights. */
  isGranted(right: string): Promise<boolean>;
}
