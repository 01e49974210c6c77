/**
 * The warehouse: events, users and accounts as columns, and the rollups that answer most questions. One small
 * interface hides the engine: queries are the same for ClickHouse in this process (chDB) and on a server.
 */
import type { WarehouseTable } from "../../ledger/inbox.ts";
import type { Asker } from "../../process/fair-turns.ts";
import type { Topology } from "./topology.ts";

/** A value that is bound to a `{name:Type}` placeholder of a query; never pasted into its text. */
export type Parameter = string | number | bigint | boolean | readonly Parameter[];

export interface QueryLimits {
  readonly maxSeconds?: number;
  readonly maxBytes?: number;
  /** The owner of the query; left out for the service's own work. When its signal is aborted the query leaves
   * the queue, or is killed. */
  readonly asker?: Asker;
}

/** `TabSeparatedRaw` writes values as they are: for one column that is a whole line. `Native` is the engine's
 * own. */
export type StreamFormat = "JSONEachRow" | "CSVWithNames" | "TabSeparatedRaw" | "Native" | "Parquet";

/** Of a statement that only its own work ends: a mutation of 20 million events takes a minute. */
export const noLimitOfTime: QueryLimits = { maxSeconds: 0 };

/** Newline-delimited JSON arrays. */
export interface TokenRows {
  readonly rows: number;
  readonly body: Buffer;
  /** Names these rows for ever. */
  readonly token: string;
}

export interface FrozenRows extends TokenRows {
  readonly table: WarehouseTable;
  readonly schema: number;
}

export interface Warehouse {
  /** Where the tables are. */
  readonly topology: Topology;

  /** Runs a query and returns its rows; 64-bit integers arrive as numbers while they are below 2^53.
   * @throws WarehouseError */
  rows<Row>(sql: string, parameters?: Record<string, Parameter>, limits?: QueryLimits): Promise<Row[]>;

  /** Runs a query whose result is too large for memory: chunks of bytes in the given format. */
  stream(
    sql: string,
    format: StreamFormat,
    parameters?: Record<string, Parameter>,
  ): AsyncIterable<Uint8Array>;

  /** Runs a statement that returns nothing: DDL, INSERT … SELECT. */
  command(sql: string, parameters?: Record<string, Parameter>, limits?: QueryLimits): Promise<void>;

  /**
   * Inserts frozen rows (newline-delimited JSON arrays) as one block. The same token with the same rows is
   * stored once, however often it is sent. So a token must name rows that never change.
   */
  insertFrozen(rows: FrozenRows): Promise<void>;

  /** Inserts JSON arrays into any table as insertFrozen does into those of the ledger. */
  insertInto(table: string, columns: readonly string[], rows: TokenRows): Promise<void>;

  /** Waits for running queries, then closes. Closing under a running query aborts the engine. */
  close(): Promise<void>;
}

/** An error of the engine with ClickHouse's own number for it. */
export class WarehouseError extends Error {
  override readonly name = "WarehouseError";
  readonly code: number;

  constructor(code: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

/** Wraps a Warehouse so that queries are queued and cancelled per asker. */
export function askedBy(asker: Asker, warehouse: Warehouse): Warehouse {
  return {
    topology: warehouse.topology,
    rows: <Row>(...[sql, parameters, limits]: Parameters<Warehouse["rows"]>) =>
      warehouse.rows<Row>(sql, parameters, { ...limits, asker }),
    command: (sql, parameters, limits) => warehouse.command(sql, parameters, { ...limits, asker }),
    stream: (...query) => warehouse.stream(...query),
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
  };
}

/** The error of any call on a closed warehouse. ClickHouse's own codes begin with 1. */
export function closedError(): WarehouseError {
  return new WarehouseError(0, "The warehouse is closed");
}

/** The rows of an answer in `JSONEachRow`. */
export function parseRows<Row>(text: string): Row[] {
  const rows: Row[] = [];
  for (const line of text.split("\n")) if (line !== "") rows.push(JSON.parse(line));
  return rows;
}
