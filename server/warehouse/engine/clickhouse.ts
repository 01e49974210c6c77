/**
 * The warehouse on a ClickHouse server or cluster, by HTTP, with the queries and migrations of the embedded
 * one. Settings that are a `SET` there are in the address of each request here: requests are independent,
 * without sessions.
 */
import { promisify } from "node:util";
import { zstdCompress as zstdCompressCallback } from "node:zlib";
import { FairTurns, sharedPlaces } from "../../process/fair-turns.ts";
import { refuseUnfinishedMove } from "../copies/move-tables.ts";
import {
  ClickHouseHttp,
  type ClickHouseServer,
  parseClickHouseUrl,
  type Settings,
} from "./clickhouse-http.ts";
import { prepare } from "./clickhouse-prepare.ts";
import { columnsOfFrozen, frozenInsertSettings, neverDeduplicated } from "./insert-frozen.ts";
import { queryAsFields } from "./parameters.ts";
import { waitFor } from "./query-watch.ts";
import type { ServerWarehouse } from "./server-warehouse.ts";
import { spillSettings } from "./spilling.ts";
import { clusterSettings, onCluster, type Topology } from "./topology.ts";
import {
  closedError,
  type FrozenRows,
  type Parameter,
  parseRows,
  type QueryLimits,
  type StreamFormat,
  type TokenRows,
  WarehouseError,
} from "./warehouse.ts";

export interface ClickHouseOptions {
  /** `http(s)://user:password@host:8123/database`; the database is made when it is not there, `rekindle`
   * without a name. */
  readonly url: string;
  /** The cluster's name in the servers' configuration, for tables that are replicated on all of its nodes;
   * null or left out for a single server. */
  readonly cluster?: string | null;
  /** Queries that run side by side; more wait their turn. */
  readonly readers?: number;
  /** The server memory of a query that does not set its own limit. */
  readonly queryMemoryBytes?: number;
  /** False where another process creates and migrates the tables: then they only have to exist. */
  readonly migrates?: boolean;
  /** False when another node may lead: then no statement that changes anything is sent any more. */
  readonly mayChange?: () => boolean;
  /** The identity of the ledger whose rows it holds: a warehouse of another ledger is refused. Left out for a
   * move, which checks itself. */
  readonly ledger?: string;
  /** True for a move, which may find the rows of an unfinished one. */
  readonly isMove?: boolean;
}

/** The settings of every query. A server may have other defaults, or an administrator may have changed
 * them. */
const always = {
  session_timezone: "UTC",
  output_format_json_quote_64bit_integers: 0,
  output_format_json_escape_forward_slashes: 0,
  // Statements that change stored rows answer when they have, on every replica.
  mutations_sync: 2,
  lightweight_deletes_sync: 2,
  // An exception in the middle of an answer comes as a tagged block, in every format.
  http_write_exception_in_output_format: 0,
  // A truncated gzip would hide that block.
  enable_http_compression: 0,
} as const;

/** A query may have settings of its own, and must not write. */
const reading = { readonly: 2, cancel_http_readonly_queries_on_client_close: 1 } as const;

const defaults = { readers: 8, queryMemoryBytes: 4_000_000_000, maxSeconds: 30 } as const;

/** Concurrent exports. */
const streams = 2;
/** An answer beyond this is a mistake of the query. */
const maxResultBytes = 256 * 1024 * 1024;
/** How much longer than its own limit a query is waited for, in case nothing answers. */
const graceMs = 15_000;
/** An insert of 50,000 rows takes 0.5 s. After this time it is sent again, with its token. */
const insertPatienceMs = 300_000;
/** The engine gives up sending when a reader rests: it is a person's download. */
const readerRestsSeconds = 3_600;
/** QUERY_WAS_CANCELLED. */
const cancelledCode = 394;

const zstdCompress = promisify(zstdCompressCallback);

/** A query; without a database when none is named. */
interface Question {
  readonly sql: string;
  readonly parameters?: Record<string, Parameter>;
  readonly limits?: QueryLimits;
  readonly database?: string;
}

/** The warehouse by HTTP. */
class ClickHouseWarehouse implements ServerWarehouse {
  readonly topology: Topology;
  readonly #http: ClickHouseHttp;
  readonly #database: string;
  readonly #queryMemoryBytes: number;
  readonly #readers: FairTurns;
  readonly #streamers = new FairTurns({ places: streams, heldWhileOthersWait: streams, heldAtMost: streams });
  readonly #running = new Set<Promise<unknown>>();
  /** Ends streams when the warehouse is closed. */
  readonly #closing = new AbortController();

  constructor(server: ClickHouseServer, options: ClickHouseOptions) {
    this.topology = { cluster: options.cluster ?? null, isEmbedded: false };
    this.#http = new ClickHouseHttp(server, options.mayChange);
    this.#database = server.database;
    this.#queryMemoryBytes = options.queryMemoryBytes ?? defaults.queryMemoryBytes;
    this.#readers = new FairTurns(sharedPlaces(options.readers ?? defaults.readers));
  }

  rows<Row>(
    sql: string,
    parameters: Record<string, Parameter> = {},
    limits: QueryLimits = {},
  ): Promise<Row[]> {
    return this.#track(() => this.#rows<Row>({ sql, parameters, limits, database: this.#database }));
  }

  rowsOutside<Row>(sql: string, parameters: Record<string, Parameter> = {}): Promise<Row[]> {
    return this.#track(() => this.#rows<Row>({ sql, parameters }));
  }

  command(sql: string, parameters: Record<string, Parameter> = {}, limits: QueryLimits = {}): Promise<void> {
    return this.#track(() => this.#command({ sql, parameters, limits, database: this.#database }));
  }

  isGranted(right: string): Promise<boolean> {
    return this.#track(async () => {
      const settings = { default_format: "TabSeparated" };
      return (await this.#inTurn({ sql: `CHECK GRANT ${right}` }, settings, true)).trim() === "1";
    });
  }

  commandOutside(sql: string): Promise<void> {
    return this.#track(() => this.#command({ sql }));
  }

  async *stream(
    sql: string,
    format: StreamFormat,
    parameters: Record<string, Parameter> = {},
  ): AsyncIterable<Uint8Array> {
    this.#refuseWhenClosed();
    await this.#streamers.take(undefined);
    // Leaving early ends the connection, and so the query.
    const left = new AbortController();
    try {
      yield* this.#http.ask({
        ...queryAsFields(sql, parameters),
        // How long a stream takes is up to its reader: no limit of time.
        settings: {
          ...this.#settings({ maxSeconds: 0 }),
          ...reading,
          default_format: format,
          http_send_timeout: readerRestsSeconds,
        },
        database: this.#database,
        queryId: newQueryId(),
        mayRepeat: true,
        signal: AbortSignal.any([left.signal, this.#closing.signal]),
      });
    } finally {
      left.abort();
      this.#streamers.giveBack(undefined);
    }
  }

  insertFrozen(frozen: FrozenRows): Promise<void> {
    return this.#track(() => this.#insertArrays(frozen.table, columnsOfFrozen(frozen), frozen));
  }

  insertInto(table: string, columns: readonly string[], rows: TokenRows): Promise<void> {
    return this.#track(() => this.#insertArrays(table, columns, rows));
  }

  insertNative(table: string, names: string, blocks: Buffer): Promise<void> {
    const settings = { ...neverDeduplicated, async_insert: 0, optimize_on_insert: 0, max_execution_time: 0 };
    const sql = `INSERT INTO ${table} (${names}) FORMAT Native`;
    return this.#track(() => this.#insert(sql, settings, blocks, false));
  }

  async close(): Promise<void> {
    if (this.#closing.signal.aborted) return;
    const reason = closedError();
    this.#closing.abort(reason);
    this.#streamers.refuseWaiting(reason);
    await Promise.allSettled(this.#running);
    this.#http.close();
  }

  async #insert(sql: string, settings: Settings, body: Buffer, mayRepeat: boolean): Promise<void> {
    await this.#drain({
      sql,
      settings: { ...this.#settings({}), ...settings, wait_end_of_query: 1 },
      database: this.#database,
      queryId: newQueryId(),
      body: await zstdCompress(body),
      mayRepeat,
      signal: AbortSignal.timeout(insertPatienceMs),
    });
  }

  async #rows<Row>(question: Question): Promise<Row[]> {
    const settings = { ...reading, max_result_bytes: maxResultBytes, default_format: "JSONEachRow" };
    return parseRows(await this.#inTurn(question, settings, true));
  }

  async #command(question: Question): Promise<void> {
    const settings = { ...neverDeduplicated, max_result_bytes: 0, wait_end_of_query: 1 };
    await this.#inTurn(question, settings, false);
  }

  /** A repetition does no harm: it has its token. */
  #insertArrays(table: string, columns: readonly string[], { rows, body, token }: TokenRows): Promise<void> {
    const sql = `INSERT INTO ${table} (${columns.join(", ")}) FORMAT JSONCompactEachRow`;
    return this.#insert(sql, frozenInsertSettings({ rows, token }), body, true);
  }

  /** Runs a query at the asker's turn, and kills it when the asker has gone. */
  async #inTurn(question: Question, settings: Settings, mayRepeat: boolean): Promise<string> {
    const { limits = {}, database } = question;
    const form = queryAsFields(question.sql, question.parameters);
    const { asker, maxSeconds = defaults.maxSeconds } = limits;
    await this.#readers.take(asker);
    const queryId = newQueryId();
    const patienceMs = maxSeconds === 0 ? undefined : maxSeconds * 1_000 + graceMs;
    const waiting = waitFor(patienceMs, () => this.#isRunning(queryId));
    const stop = () => {
      this.#kill(queryId);
      waiting.abort(
        new WarehouseError(cancelledCode, "The query was stopped: its answer is not needed any more"),
      );
    };
    try {
      asker?.signal?.throwIfAborted();
      asker?.signal?.addEventListener("abort", stop, { once: true });
      return await this.#drain({
        ...form,
        queryId,
        mayRepeat,
        signal: waiting.signal,
        settings: { ...this.#settings(limits), ...settings },
        ...(database !== undefined && { database }),
      });
    } finally {
      asker?.signal?.removeEventListener("abort", stop);
      waiting.end();
      this.#readers.giveBack(asker);
    }
  }

  async #drain(request: Parameters<ClickHouseHttp["ask"]>[0]): Promise<string> {
    const chunks: Uint8Array[] = [];
    for await (const chunk of this.#http.ask(request)) chunks.push(chunk);
    return Buffer.concat(chunks).toString();
  }

  /** Stops a query, wherever it runs; nothing when it is over. */
  #kill(queryId: string): void {
    const kill = this.#drain({
      sql: `KILL QUERY${onCluster(this.topology)} WHERE query_id = '${queryId}' ASYNC`,
      settings: { max_execution_time: defaults.maxSeconds },
      queryId: newQueryId(),
      mayRepeat: true,
      signal: AbortSignal.timeout(graceMs),
    });
    this.#running.add(kill);
    // If it fails the query's own limit ends it.
    kill.catch(() => undefined).finally(() => this.#running.delete(kill));
  }

  async #isRunning(queryId: string): Promise<boolean> {
    const { cluster } = this.topology;
    const sql = `SELECT count() > 0 FROM ${cluster === null ? "system.processes" : "clusterAllReplicas({cluster:String}, system.processes)"}
      WHERE query_id = {queryId:String}`;
    const answer = await this.#drain({
      ...queryAsFields(sql, { queryId, ...(cluster !== null && { cluster }) }),
      settings: { ...reading, max_execution_time: defaults.maxSeconds, skip_unavailable_shards: 1 },
      queryId: newQueryId(),
      mayRepeat: true,
      signal: AbortSignal.timeout(graceMs),
    });
    return answer.trim() === "1";
  }

  async #track<Result>(start: () => Promise<Result>): Promise<Result> {
    this.#refuseWhenClosed();
    const work = start();
    this.#running.add(work);
    try {
      return await work;
    } finally {
      this.#running.delete(work);
    }
  }

  #refuseWhenClosed(): void {
    if (this.#closing.signal.aborted) throw closedError();
  }

  #settings({ maxSeconds = defaults.maxSeconds, maxBytes = this.#queryMemoryBytes }: QueryLimits): Settings {
    return {
      ...always,
      ...clusterSettings(this.topology),
      max_execution_time: maxSeconds,
      max_memory_usage: Math.floor(maxBytes),
      ...spillSettings(maxBytes),
    };
  }
}

function newQueryId(): string {
  return `rekindle-${crypto.randomUUID()}`;
}

/**
 * Opens the warehouse on a server and migrates its tables.
 * @throws Refusal when it cannot be used as it is (address, version, password, rights, ledger)
 * @throws WarehouseError with the code 210 when it cannot be reached now; with another when the tables are
 * absent or of a newer version
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

/** Makes a client, without a request. */
export function connectClickHouse(options: ClickHouseOptions): ServerWarehouse {
  return new ClickHouseWarehouse(parseClickHouseUrl(options.url), options);
}
