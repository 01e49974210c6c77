/**
 * The embedded warehouse: ClickHouse inside this process. A process has ONE data folder, and closing under
 * a running query aborts the engine: so close() refuses new queries, waits for running ones, then closes.
 *
 * chDB's sessions are used directly. Behind @clickhouse/client its `Connection` turns the settings of one
 * insert into `SET`s that stay, and after one insert with a token 1,000 others were silently dropped; the
 * SETTINGS clause of an INSERT, as here, ends with it. Never the synchronous calls: they stop the event loop.
 */
import { mkdir } from "node:fs/promises";
import { migrate } from "./migrations.ts";
import { parameterAssignments } from "./parameters.ts";
import { columns } from "./rows.ts";
import { type Engine, SessionPool, sessionOpener } from "./sessions.ts";
import {
  type FrozenRows,
  type Parameter,
  type QueryLimits,
  type StreamFormat,
  type Warehouse,
  WarehouseError,
} from "./warehouse.ts";

export interface ChdbOptions {
  /** Made when it is not there. */
  readonly folder: string;
  /** Queries that run side by side; more wait their turn. */
  readonly readers?: number;
  /** What the engine may hold in memory; a query may take half of it. */
  readonly memoryBytes?: number;
  /** Brings the tables up to this migration only, as those of an older backup. */
  readonly migrations?: number;
}

const defaults = { readers: 4, memoryBytes: 1_500_000_000, maxSeconds: 30 } as const;

/** Exports beside each other. They have sessions of their own: a slow download must not hold a reader. */
const streams = 2;

/** An answer beyond this is a mistake of the query: it would be held in memory three times. */
const maxResultBytes = 256 * 1024 * 1024;

/** Opens the engine on a folder and brings its tables up to date.
 * @throws WarehouseError when the folder is in use or its tables come from a newer version */
export async function openChdbWarehouse(options: ChdbOptions): Promise<Warehouse> {
  await mkdir(options.folder, { recursive: true });
  const warehouse = new ChdbWarehouse(await import("chdb"), options);
  try {
    await migrate(warehouse, options.migrations);
  } catch (error) {
    await warehouse.close();
    throw error;
  }
  return warehouse;
}

class ChdbWarehouse implements Warehouse {
  readonly #engine: Engine;
  readonly #memoryBytes: number;
  readonly #readers: SessionPool;
  readonly #streamers: SessionPool;
  readonly #inserters: SessionPool;
  readonly #running = new Set<Promise<unknown>>();
  #closed = false;

  constructor(
    engine: Engine,
    { folder, readers = defaults.readers, memoryBytes = defaults.memoryBytes }: ChdbOptions,
  ) {
    this.#engine = engine;
    this.#memoryBytes = memoryBytes;
    const open = sessionOpener(engine, folder, memoryBytes);
    try {
      this.#inserters = new SessionPool(1, open);
      this.#readers = new SessionPool(readers, open);
      this.#streamers = new SessionPool(streams, open);
    } catch (error) {
      throw warehouseError(error);
    }
  }

  rows<Row>(
    sql: string,
    parameters: Record<string, Parameter> = {},
    limits: QueryLimits = {},
  ): Promise<Row[]> {
    const settings = { ...this.#settings(limits), max_result_bytes: maxResultBytes };
    return this.#query(sql, settings, parameters, parseLines<Row>);
  }

  command(sql: string, parameters: Record<string, Parameter> = {}, limits: QueryLimits = {}): Promise<void> {
    const settings = { ...this.#settings(limits), max_result_bytes: 0 };
    return this.#query(sql, settings, parameters, () => undefined);
  }

  async *stream(
    sql: string,
    format: StreamFormat,
    parameters: Record<string, Parameter> = {},
  ): AsyncIterable<Uint8Array> {
    this.#refuseWhenClosed();
    const session = await this.#streamers.acquire();
    let complete = false;
    try {
      // How long a stream takes is up to its reader: no limit of time.
      const settings = { ...this.#settings({ maxSeconds: 0 }), max_result_bytes: 0 };
      await session.queryAsync(setStatement(sql, settings, parameters));
      let header: Buffer | undefined;
      for await (const chunk of session.queryStream(sql, { format })) {
        const raw = chunk.raw();
        const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
        // The engine writes the header in front of every chunk.
        const start: number = header !== undefined && format === "CSVWithNames" ? header.length : 0;
        header ??= bytes.subarray(0, bytes.indexOf("\n") + 1);
        if (bytes.length > start) yield bytes.subarray(start);
      }
      // A closed engine ends a stream as if it were complete.
      this.#refuseWhenClosed();
      complete = true;
    } catch (error) {
      throw warehouseError(error);
    } finally {
      if (!this.#closed) this.#streamers.release(session, complete);
    }
  }

  insertFrozen({ table, schema, rows, body, token }: FrozenRows): Promise<void> {
    return this.#track(async () => {
      const names = columns[table][schema - 1];
      if (names === undefined) throw new TypeError(`Rows of ${table} have the unknown schema ${schema}`);
      if (token === "") throw new TypeError("Frozen rows need a token");
      const lines = countLines(body);
      if (lines !== rows) throw new TypeError(`${rows} rows of ${table} were promised, ${lines} came`);
      const settings = { ...this.#insertSettings(rows), insert_deduplication_token: token };
      await this.#inserters.use((session) =>
        session.insert({ table, columns: names, values: body, format: "JSONCompactEachRow", settings }),
      );
    });
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const reason = closedError();
    this.#streamers.close(reason);
    await Promise.allSettled(this.#running);
    this.#readers.close(reason);
    this.#inserters.close(reason);
    await this.#engine.drainPending();
  }

  #query<Result>(
    sql: string,
    settings: Record<string, number>,
    parameters: Record<string, Parameter>,
    read: (text: string) => Result,
  ): Promise<Result> {
    return this.#track(async () => {
      const statements = `${setStatement(sql, settings, parameters)}; ${sql}`;
      const result = await this.#readers.use((session) =>
        session.queryAsync(statements, { format: "JSONEachRow" }),
      );
      return read(result.text());
    });
  }

  async #track<Result>(start: () => Promise<Result>): Promise<Result> {
    this.#refuseWhenClosed();
    const work = start();
    this.#running.add(work);
    try {
      return await work;
    } catch (error) {
      throw warehouseError(error);
    } finally {
      this.#running.delete(work);
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closed) throw closedError();
  }

  #settings({
    maxSeconds = defaults.maxSeconds,
    maxBytes = this.#memoryBytes / 2,
    groupsInOrder,
  }: QueryLimits) {
    return {
      max_execution_time: maxSeconds,
      max_memory_usage: Math.floor(maxBytes),
      optimize_aggregation_in_order: groupsInOrder ? 1 : 0,
    };
  }

  #insertSettings(rows: number) {
    return {
      async_insert: 0,
      insert_deduplicate: 1,
      deduplicate_blocks_in_dependent_materialized_views: 1,
      // One block, whatever its size: then a row that cannot be read means that nothing was written.
      input_format_parallel_parsing: 0,
      max_insert_block_size: rows,
      max_insert_block_size_bytes: 0,
      input_format_null_as_default: 0,
      max_execution_time: 0,
      max_memory_usage: this.#memoryBytes,
    };
  }
}

/** What is set before a query, whole every time, because a `SET` stays in its session. */
function setStatement(
  sql: string,
  settings: Record<string, number>,
  parameters: Record<string, Parameter>,
): string {
  const assignments = Object.entries(settings).map(([name, value]) => `${name} = ${value}`);
  return `SET ${[...assignments, ...parameterAssignments(sql, parameters)].join(", ")}`;
}

function parseLines<Row>(text: string): Row[] {
  const rows: Row[] = [];
  for (const line of text.split("\n")) if (line !== "") rows.push(JSON.parse(line));
  return rows;
}

function countLines(body: Buffer): number {
  let lines = 0;
  for (let at = body.indexOf(10); at !== -1; at = body.indexOf(10, at + 1)) lines += 1;
  return lines;
}

function closedError(): WarehouseError {
  return new WarehouseError(notFromTheEngine, "The warehouse is closed");
}

/** ClickHouse's numbers begin with 1. */
const notFromTheEngine = 0;

function warehouseError(error: unknown): WarehouseError {
  if (error instanceof WarehouseError) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? notFromTheEngine);
  return new WarehouseError(code, message, { cause: error });
}
