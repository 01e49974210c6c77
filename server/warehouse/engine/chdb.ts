/**
 * The embedded warehouse: ClickHouse inside this process. A process has ONE data folder, and closing under a
 * running query aborts the engine. So close() refuses new queries, waits for running ones, then closes.
 *
 * chDB's sessions are used directly. Behind @clickhouse/client its `Connection` turns the settings of one
 * insert into `SET`s that stay: after one insert with a token 1,000 others were silently dropped. The
 * SETTINGS clause of an INSERT, as here, ends with it. Synchronous calls are never used: they stop the event
 * loop.
 */
import { randomUUID } from "node:crypto";
import { createReadStream } from "node:fs";
import { mkdir, rm } from "node:fs/promises";
import { dirname, join } from "node:path";
import type { Asker } from "../../process/fair-turns.ts";
import { messageOf } from "../../process/message-of.ts";
import { forgetLostParts, lostParts } from "../load/lost-parts.ts";
import { migrate } from "../schema/migrations.ts";
import { columnsOfFrozen, frozenInsertSettings, neverDeduplicated } from "./insert-frozen.ts";
import { parameterAssignments } from "./parameters.ts";
import { type Engine, SessionPool, sessionOpener } from "./sessions.ts";
import { embeddedSpillSettings, removeSpilled } from "./spilling.ts";
import { embedded } from "./topology.ts";
import {
  closedError,
  type FrozenRows,
  type Parameter,
  parseRows,
  type QueryLimits,
  type StreamFormat,
  type TokenRows,
  type Warehouse,
  WarehouseError,
} from "./warehouse.ts";

export interface ChdbOptions {
  /** Created when it is absent. Temporary files go to `tmp` beside it. */
  readonly folder: string;
  /** Queries that run side by side; more wait their turn. */
  readonly readers?: number;
  /** The engine's memory limit; a query may use half of it. */
  readonly memoryBytes?: number;
  /** Brings the tables up to this migration only, as those of an older backup. */
  readonly migrations?: number;
}

const defaults = { readers: 4, memoryBytes: 1_500_000_000, maxSeconds: 30 } as const;

/** Concurrent exports. They have sessions of their own: a slow download must not hold a reader. */
const streams = 2;

/** With fewer rows in all tables a query has one thread, which also reads: what others do for it costs more
 * than it saves. A small question takes 4.3 ms in place of 5.1 with threads that read. */
const rowsForThreads = 1_000_000;

/** A query that is not needed any more is killed again after this time, until it is over. */
const stopAgainMs = 50;

/** An answer beyond this is a mistake of the query: it would be held in memory three times. */
const maxResultBytes = 256 * 1024 * 1024;

/** Opens the engine on a folder and migrates its tables.
 * @throws WarehouseError when the folder is in use or its tables come from a newer version */
export async function openChdbWarehouse(options: ChdbOptions): Promise<Warehouse> {
  await mkdir(options.folder, { recursive: true });
  const engine = await import("chdb");
  let warehouse = new ChdbWarehouse(engine, options);
  // Looked for while the folder is this process's, since another one may be inserting before.
  const lost = lostParts(options.folder);
  if (lost.length > 0) {
    await warehouse.close();
    forgetLostParts(lost);
    warehouse = new ChdbWarehouse(engine, options);
  }
  try {
    removeSpilled(options.folder);
    await migrate(warehouse, options.migrations);
    await warehouse.countRows();
  } catch (error) {
    await warehouse.close();
    throw error;
  }
  return warehouse;
}

class ChdbWarehouse implements Warehouse {
  readonly topology = embedded;
  readonly #engine: Engine;
  readonly #temporaryFolder: string;
  readonly #memoryBytes: number;
  readonly #readers: SessionPool;
  readonly #streamers: SessionPool;
  readonly #inserters: SessionPool;
  /** Kills queries whose asker has gone. */
  readonly #stoppers: SessionPool;
  /** Counts queries. The count is in each query's name, by which it can be killed. */
  #asked = 0;
  readonly #running = new Set<Promise<unknown>>();
  /** Of all tables: those at the start, and those that were inserted since. */
  #rowsOfTables = 0;
  #closed = false;

  constructor(
    engine: Engine,
    { folder, readers = defaults.readers, memoryBytes = defaults.memoryBytes }: ChdbOptions,
  ) {
    this.#engine = engine;
    this.#temporaryFolder = join(dirname(folder), "tmp");
    this.#memoryBytes = memoryBytes;
    const open = sessionOpener(engine, folder, memoryBytes);
    try {
      this.#inserters = new SessionPool(1, open);
      this.#readers = new SessionPool(readers, open);
      this.#streamers = new SessionPool(streams, open);
      this.#stoppers = new SessionPool(1, open);
    } catch (error) {
      throw warehouseError(error);
    }
  }

  async countRows(): Promise<void> {
    const [counted] = await this.rows<{ rows: number }>(
      "SELECT sum(rows) AS rows FROM system.parts WHERE active",
    );
    this.#rowsOfTables = counted?.rows ?? 0;
  }

  rows<Row>(
    sql: string,
    parameters: Record<string, Parameter> = {},
    limits: QueryLimits = {},
  ): Promise<Row[]> {
    const settings = {
      ...this.#settings(limits),
      max_result_bytes: maxResultBytes,
      // Threads that write an answer of a few rows cost more than they save.
      output_format_parallel_formatting: 0,
    };
    return this.#query(sql, settings, parameters, parseRows<Row>, limits.asker);
  }

  command(sql: string, parameters: Record<string, Parameter> = {}, limits: QueryLimits = {}): Promise<void> {
    const settings = { ...this.#settings(limits), ...neverDeduplicated, max_result_bytes: 0 };
    return this.#query(sql, settings, parameters, () => undefined, limits.asker);
  }

  async *stream(
    sql: string,
    format: StreamFormat,
    parameters: Record<string, Parameter> = {},
  ): AsyncIterable<Uint8Array> {
    this.#refuseWhenClosed();
    if (format === "Parquet") {
      yield* throughFile(this.#temporaryFolder, (path) =>
        this.command(
          `INSERT INTO FUNCTION file({fileOfStream:String}, 'Parquet') ${sql}`,
          { ...parameters, fileOfStream: path },
          { maxSeconds: 0 },
        ),
      );
      return;
    }
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

  insertFrozen(frozen: FrozenRows): Promise<void> {
    return this.#track(() => this.#insert(frozen.table, columnsOfFrozen(frozen), frozen));
  }

  insertInto(table: string, columns: readonly string[], rows: TokenRows): Promise<void> {
    return this.#track(() => this.#insert(table, columns, rows));
  }

  async #insert(table: string, columns: readonly string[], rows: TokenRows): Promise<void> {
    const settings = { ...frozenInsertSettings(rows), max_memory_usage: this.#memoryBytes };
    await this.#inserters.use((session) =>
      session.insert({ table, columns, values: rows.body, format: "JSONCompactEachRow", settings }),
    );
    this.#rowsOfTables += rows.rows;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#closed = true;
    const reason = closedError();
    this.#streamers.close(reason);
    await Promise.allSettled(this.#running);
    this.#readers.close(reason);
    this.#inserters.close(reason);
    this.#stoppers.close(reason);
    await this.#engine.drainPending();
  }

  #query<Result>(
    sql: string,
    settings: Settings,
    parameters: Record<string, Parameter>,
    read: (text: string) => Result,
    asker: Asker | undefined,
  ): Promise<Result> {
    return this.#track(async () => {
      this.#asked += 1;
      const name = `question-${this.#asked}`;
      const statements = `${setStatement(sql, { ...settings, log_comment: name }, parameters)}; ${sql}`;
      const over = new AbortController();
      const stop = () => void this.#stop(name, over.signal);
      const result = await this.#readers.use(async (session) => {
        asker?.signal?.throwIfAborted();
        asker?.signal?.addEventListener("abort", stop, { once: true });
        return session.queryAsync(statements, { format: "JSONEachRow" }).finally(() => {
          asker?.signal?.removeEventListener("abort", stop);
          over.abort();
        });
      }, asker);
      return read(result.text());
    });
  }

  /** Stops the query with this name, unless it is over. A reader is free at once then, and not only when the
   * query's time is up. */
  async #stop(name: string, over: AbortSignal): Promise<void> {
    const kill = `KILL QUERY WHERE Settings['log_comment'] = '${name}' ASYNC`;
    // A query that has just been handed to the engine is not among its queries yet: of 150, two were missed.
    while (!over.aborted && !this.#closed) {
      // If it fails the query's own limit ends it.
      await this.#track(() => this.#stoppers.use((session) => session.queryAsync(kill))).catch(
        () => undefined,
      );
      await Bun.sleep(stopAgainMs);
    }
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

  #settings({ maxSeconds = defaults.maxSeconds, maxBytes = this.#memoryBytes / 2 }: QueryLimits) {
    const isSmall = this.#rowsOfTables < rowsForThreads;
    return {
      max_execution_time: maxSeconds,
      max_memory_usage: Math.floor(maxBytes),
      // 0 for as many as there are cores and memory.
      max_threads: isSmall ? 1 : 0,
      local_filesystem_read_method: isSmall ? "pread" : "pread_threadpool",
      ...embeddedSpillSettings(maxBytes),
    };
  }
}

/** The engine's settings. Texts are of our own making. */
type Settings = Readonly<Record<string, number | string>>;

/** The settings and parameters of a query. All are set every time, because a `SET` stays in its session. */
function setStatement(sql: string, settings: Settings, parameters: Record<string, Parameter>): string {
  const assignments = Object.entries(settings).map(
    ([name, value]) => `${name} = ${typeof value === "number" ? value : `'${value}'`}`,
  );
  return `SET ${[...assignments, ...parameterAssignments(sql, parameters)].join(", ")}`;
}

/** ClickHouse's numbers begin with 1. */
const notFromTheEngine = 0;

function warehouseError(error: unknown): WarehouseError {
  if (error instanceof WarehouseError) return error;
  const message = messageOf(error);
  const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? notFromTheEngine);
  return new WarehouseError(code, message, { cause: error });
}

const fileChunkBytes = 256 * 1024;

/** Streams output that the engine can only write to a file. The bytes that `write` has written to the path it
 * is given, in a folder that is made when it is not there. */
async function* throughFile(
  folder: string,
  write: (path: string) => Promise<void>,
): AsyncIterable<Uint8Array> {
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${randomUUID()}.parquet`);
  try {
    await write(path);
    for await (const chunk of createReadStream(path, { highWaterMark: fileChunkBytes })) yield chunk;
  } finally {
    await rm(path, { force: true });
  }
}
