/**
 * The engine behind the test's ClickHouse server: chDB. Every request has a session of its own, because HTTP
 * has no lasting one. The server's defaults are as far as possible from the warehouse's needs. The client
 * therefore has to send every setting that it relies on.
 *
 * There is no Keeper. The engine's own parser reads statements of a cluster, and they run without the
 * cluster's words.
 */
import { randomUUID } from "node:crypto";
import { mkdirSync } from "node:fs";
import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { drainPending, Session } from "chdb";
import { until } from "../until.ts";
import { ClickHouseException, type ClickHouseQuery } from "./clickhouse-request.ts";

export interface EngineOptions {
  readonly folder: string;
  /** The cluster that the server says it belongs to. */
  readonly cluster: string | null;
  /** The answer of `version()` in place of the real one. */
  readonly version?: string;
}

const connectionArgs = [
  "--mark_cache_size=67108864",
  "--index_mark_cache_size=16777216",
  "--uncompressed_cache_size=0",
  "--max_server_memory_usage=4000000000",
  // A server reads parameters from the fields of a form. Here they are statements.
  "--max_query_size=33554432",
  "--session_timezone=Asia/Kolkata",
  "--output_format_json_quote_64bit_integers=1",
  "--output_format_json_escape_forward_slashes=1",
  "--mutations_sync=0",
  "--lightweight_deletes_sync=0",
  "--async_insert=1",
  "--deduplicate_blocks_in_dependent_materialized_views=0",
];

export class TestEngine {
  readonly #options: EngineOptions;
  readonly #running = new Set<string>();
  /** The engine ends with its last session, and beginning again takes 70 ms. */
  readonly #lasting: Session;

  constructor(options: EngineOptions) {
    mkdirSync(options.folder, { recursive: true });
    this.#options = options;
    this.#lasting = new Session(options.folder, { connectionArgs });
  }

  /** The answer's bytes. @throws ClickHouseException */
  async *run(query: ClickHouseQuery): AsyncIterable<Buffer> {
    if (this.#running.has(query.queryId)) {
      throw new ClickHouseException(
        216,
        "QUERY_WITH_SAME_ID_IS_ALREADY_RUNNING",
        `Query with id = ${query.queryId}`,
      );
    }
    this.#running.add(query.queryId);
    const session = new Session(this.#options.folder, { connectionArgs });
    try {
      await this.#parse(session, query);
      const sql = this.#translated(query.sql);
      await session.queryAsync(setStatement(query));
      await session.queryAsync(`USE \`${query.database}\``);
      // `readonly` is set last, because it forbids further changes of settings.
      if (query.settings.has("readonly"))
        await session.queryAsync(`SET readonly = ${query.settings.get("readonly")}`);
      yield* answer(session, sql, query, this.#options.folder);
    } catch (error) {
      throw exceptionOf(error);
    } finally {
      this.#running.delete(query.queryId);
      session.close();
    }
  }

  /** Stops a query, until it is over. */
  async stop(queryId: string): Promise<void> {
    const session = new Session(this.#options.folder, { connectionArgs });
    await until("the query is stopped", async () => {
      await session.queryAsync(`KILL QUERY WHERE Settings['log_comment'] = ${literal(queryId)} ASYNC`);
      return !this.#running.has(queryId);
    });
    session.close();
  }

  /** Waits for what runs in the engine. */
  async close(): Promise<void> {
    this.#lasting.close();
    await drainPending();
  }

  /** Refuses what the engine's parser refuses, and what a cluster would not do on all of its replicas. */
  async #parse(session: Session, { sql, data }: ClickHouseQuery): Promise<void> {
    const { cluster } = this.#options;
    if (data !== undefined || cluster === null) return;
    await session.queryAsync("SET param_sql = {sql}".replace("{sql}", literal(escapedTabs(sql))));
    await session.queryAsync("SELECT formatQuery({sql:String})");
    const needsCluster = /^\s*(CREATE|DROP) |\bMODIFY SETTING\b/;
    if (needsCluster.test(sql) && !sql.includes(` ON CLUSTER '${cluster}'`)) {
      throw new ClickHouseException(80, "INCORRECT_QUERY", `It would be done on one replica only: ${sql}`);
    }
  }

  #translated(sql: string): string {
    const { cluster, version } = this.#options;
    let text = sql;
    if (version !== undefined) text = text.replace("version()", literal(version));
    // chDB gives queries ids of its own. Ours is in the comment of its log.
    if (/^KILL QUERY|system\.processes/.test(text))
      text = text.replace("query_id =", "Settings['log_comment'] =");
    if (cluster === null) return text;
    if (text.startsWith("SYSTEM SYNC REPLICA")) return "SELECT 1";
    return text
      .replaceAll(` ON CLUSTER '${cluster}'`, "")
      .replace(/\bReplicated(\w*MergeTree)\b/, "$1")
      .replace(
        /\breplicated_deduplication_window = (\d+),\s+replicated_deduplication_window_seconds = \d+/,
        "non_replicated_deduplication_window = $1",
      )
      .replace(
        "clusterAllReplicas({cluster:String}, system.processes)",
        "(SELECT * FROM system.processes WHERE {cluster:String} != '')",
      );
  }
}

async function* answer(
  session: Session,
  sql: string,
  { data, format }: ClickHouseQuery,
  folder: string,
): AsyncIterable<Buffer> {
  if (data !== undefined) {
    const [, table, columns, rows] = /^INSERT INTO (\w+) \((.+)\) FORMAT (\w+)$/.exec(sql) ?? [];
    if (table === undefined || columns === undefined || !/^(JSONCompactEachRow|Native)$/.test(rows ?? "")) {
      throw new ClickHouseException(62, "SYNTAX_ERROR", `This server takes no such insert: ${sql}`);
    }
    if (rows === "Native") await insertNative(session, { table, columns, data, folder });
    else
      await session.insert({
        table,
        columns: columns.split(", "),
        values: data,
        format: "JSONCompactEachRow",
      });
  } else if (!/^\s*(SELECT|WITH)\b/.test(sql)) {
    yield Buffer.from((await session.queryAsync(sql, { format })).text());
  } else if (format === "Parquet") {
    yield await asFile(session, sql, folder);
  } else {
    yield* asStream(session, sql, format);
  }
}

/** chDB writes the header of CSV in front of every chunk. */
async function* asStream(session: Session, sql: string, format: string): AsyncIterable<Buffer> {
  let header: Buffer | undefined;
  for await (const chunk of session.queryStream(sql, { format })) {
    const raw = chunk.raw();
    const bytes = Buffer.from(raw.buffer, raw.byteOffset, raw.byteLength);
    const start = header !== undefined && format === "CSVWithNames" ? header.length : 0;
    header ??= Buffer.from(bytes.subarray(0, bytes.indexOf("\n") + 1));
    yield Buffer.from(bytes.subarray(start));
  }
}

/** chDB inserts Native from files only. */
async function insertNative(
  session: Session,
  {
    table,
    columns,
    data,
    folder,
  }: { readonly table: string; readonly columns: string; readonly data: Buffer; readonly folder: string },
): Promise<void> {
  const path = join(folder, `${randomUUID()}.native`);
  try {
    await writeFile(path, data);
    await session.queryAsync(
      `INSERT INTO ${table} (${columns}) SELECT ${columns} FROM file(${literal(path)}, 'Native')`,
    );
  } finally {
    await rm(path, { force: true });
  }
}

/** chDB writes Parquet to files only. */
async function asFile(session: Session, sql: string, folder: string): Promise<Buffer> {
  const path = join(folder, `${randomUUID()}.parquet`);
  try {
    await session.queryAsync(`INSERT INTO FUNCTION file(${literal(path)}, 'Parquet') ${sql}`);
    return await readFile(path);
  } finally {
    await rm(path, { force: true });
  }
}

function setStatement({ settings, parameters, queryId }: ClickHouseQuery): string {
  const given = [...settings, ...parameters].filter(([name]) => name !== "readonly");
  const assignments = [...given, ["log_comment", queryId] as const].map(
    ([name, value]) => `${name} = ${literal(value)}`,
  );
  return `SET ${assignments.join(", ")}`;
}

function literal(text: string): string {
  return `'${text.replace(/[\\']/g, "\\$&")}'`;
}

function escapedTabs(text: string): string {
  return text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\t", "\\t");
}

function exceptionOf(error: unknown): ClickHouseException {
  if (error instanceof ClickHouseException) return error;
  const message = error instanceof Error ? error.message : String(error);
  const code = Number(/^Code: (\d+)\./.exec(message)?.[1] ?? 0);
  const exception = new ClickHouseException(code, "", "");
  exception.message = message;
  return exception;
}
