/**
 * Connections to PostgreSQL: one pool for a process, with limits of time for all operations.
 *
 * All statements of one turn of the event loop use one round trip (batch.ts). Every statement is prepared
 * once for a connection. Values are always bound.
 */

import { Refusal } from "../../../contract/refusal.ts";
import { isDecodable } from "../../config.ts";
import type { Connection } from "./connection.ts";
import { Pool } from "./pool.ts";
import { Identifier, type Part, type Send, Statement } from "./statement.ts";

/** Sends statements: `` queries<Row[]>`SELECT …` ``. `queries("name")` is a name in a statement. */
export interface Queries {
  <Rows extends readonly object[] = Record<string, unknown>[]>(
    strings: TemplateStringsArray,
    ...parts: readonly Part[]
  ): Statement<Rows>;
  (name: string): Identifier;
}

/** The connection of a transaction. */
export interface Tx extends Queries {
  /** Runs a text of several statements that bind nothing. */
  unsafe(text: string): Promise<void>;
  readonly connection: Connection;
}

/** A pool: each statement takes a connection of its own. */
export interface Sql extends Queries {
  /** Runs a text of several statements that bind nothing. */
  unsafe(text: string): Promise<void>;
  readonly pool: Pool;
  /** Closes the pool. @param timeout seconds for the present statements */
  end(options?: { readonly timeout: number }): Promise<void>;
}

/** The oldest supported server, in PostgreSQL's form of versions. */
export const oldestPostgres = 150_000;
/** The longest wait for a new or a free connection. */
const openedWithinMs = 10_000;

export interface PoolOptions {
  /** The most connections. The server's `max_connections` has to allow this number for each node. */
  readonly connections?: number;
  /** The server cancels a statement that takes longer. */
  readonly statementTimeoutMs?: number;
}

/** Opens a pool. Nothing is sent before the first statement.
 * @param url `postgres://user:password@host:5432/database`. If a `host` parameter is a folder, it contains a
 * Unix socket
 * @throws Refusal when it is no such address */
export function openPool(url: string, options: PoolOptions = {}): Sql {
  const { connections = 8, statementTimeoutMs = 30_000 } = options;
  if (!URL.canParse(url) || !/^postgres(ql)?:$/.test(new URL(url).protocol) || !isDecodable(url)) {
    // The message leaves out the address, which may contain a password.
    throw new Refusal(
      "DATABASE_URL is no address of PostgreSQL: postgres://user:password@host:5432/database, with a % in the password as %25.",
    );
  }
  const pool = new Pool({ url, openedWithinMs, statementTimeoutMs }, connections);
  const withConnection = async <Result>(use: (connection: Connection) => Promise<Result>) => {
    const connection = await pool.take();
    try {
      return await use(connection);
    } finally {
      pool.give(connection);
    }
  };
  return Object.assign(
    queriesOf((sent) => withConnection((connection) => connection.send(sent))),
    {
      pool,
      unsafe: (text: string) => withConnection((connection) => connection.script(text)),
      end: ({ timeout } = { timeout: 5 }) => pool.end(timeout * 1_000),
    },
  );
}

/** The statements of one connection. */
export function queriesOn(connection: Connection): Tx {
  return Object.assign(
    queriesOf((sent) => connection.send(sent)),
    { connection, unsafe: (text: string) => connection.script(text) },
  );
}

function queriesOf(send: Send): Queries {
  function queries(name: string): Identifier;
  function queries<Rows extends readonly object[]>(
    strings: TemplateStringsArray,
    ...parts: readonly Part[]
  ): Statement<Rows>;
  function queries(strings: TemplateStringsArray | string, ...parts: readonly Part[]) {
    return typeof strings === "string" ? new Identifier(strings) : new Statement(strings, parts, send);
  }
  return queries;
}

/** PostgreSQL's own time. */
export async function serverNowMs(sql: Sql): Promise<number> {
  const [now] = await sql<{ ms: number }[]>`
    SELECT floor(extract(epoch FROM clock_timestamp()) * 1000)::bigint AS ms`;
  if (now === undefined) throw new Error("PostgreSQL did not say its time.");
  return now.ms;
}

/** @throws Refusal when the server is older than 15, or its text is not UTF-8. */
export async function refuseUnfitServer(sql: Sql): Promise<void> {
  const [found] = await sql<{ version: number; encoding: string }[]>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_encoding') AS encoding`;
  if (found === undefined) throw new Error("PostgreSQL did not say its version.");
  if (found.version < oldestPostgres) {
    throw new Refusal(
      `This PostgreSQL is version ${Math.floor(found.version / 10_000)}; 15 or newer is needed. Upgrade the server.`,
    );
  }
  if (found.encoding !== "UTF8") {
    throw new Refusal(
      `The database's encoding is ${found.encoding}; UTF8 is needed. Create it with: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0.`,
    );
  }
}
