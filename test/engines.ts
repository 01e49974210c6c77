/**
 * The engines that a test file's servers keep their data in. By default each server has its own embedded
 * engines. A file that test/run.ts runs "on PostgreSQL" has a database of PostgreSQL and one of ClickHouse
 * for each data folder. In a run "on three nodes" its servers are three processes that take requests.
 */
import { createHash } from "node:crypto";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Subprocess } from "bun";
import { openPool } from "../server/ledger/postgres/connect.ts";

/** The variables that test/run.ts sets for a file: PostgreSQL's address, the number of nodes, and a folder.
 * The folder is removed after the file. */
export const testVariables = {
  postgres: "TEST_POSTGRES",
  nodes: "TEST_NODES",
  folder: "TEST_FOLDER",
} as const;

/** The variable that test/run.ts sets for a file with `Server.shared()`: the address of the server, and its
 * engines. */
export const sharedServerVariable = "TEST_SERVER";

/** The variables that move a data folder's contents to servers. */
export interface Engines extends Record<string, string> {
  readonly DATABASE_URL: string;
  readonly CLICKHOUSE_URL: string;
  readonly DATABASE_CONNECTIONS: string;
}

const postgres = process.env[testVariables.postgres];
/** How many processes of a server take requests. */
export const nodesOfServers = Number(process.env[testVariables.nodes] ?? 1);
/** Whether this file is about a ledger on PostgreSQL. */
export const isOnPostgres = postgres !== undefined;

const made = new Map<string, Promise<Engines>>();
const known = new Map<string, Engines>();

/** The engines of a data folder, made when it has none. Undefined where the folder itself has everything. */
export async function enginesOf(dataDir: string): Promise<Engines | undefined> {
  let making = made.get(dataDir);
  if (making === undefined) {
    if (postgres === undefined) return undefined;
    clickhouse ??= startClickHouse(process.env[testVariables.folder] ?? "");
    making = clickhouse.then(({ url }) => makeEngines(postgres, url, dataDir));
    made.set(dataDir, making);
  }
  const engines = await making;
  known.set(dataDir, engines);
  return engines;
}

/** The same, of a folder that was asked for before. */
export function knownEnginesOf(dataDir: string): Engines | undefined {
  if (isOnPostgres && !known.has(dataDir)) throw new Error(`nothing has run on ${dataDir} yet`);
  return known.get(dataDir);
}

/** Says which engines another process has made for a data folder. */
export function haveEngines(dataDir: string, engines: Engines): void {
  made.set(dataDir, Promise.resolve(engines));
  known.set(dataDir, engines);
}

/** Makes a database of PostgreSQL for a data folder, and names one of ClickHouse.
 * @param server PostgreSQL's address
 * @param warehouse ClickHouse's address without a database */
export async function makeEngines(server: string, warehouse: string, dataDir: string): Promise<Engines> {
  const name = `of_${createHash("sha256").update(dataDir).digest("hex").slice(0, 16)}`;
  const sql = openPool(server, { connections: 1 });
  try {
    await sql.unsafe(`CREATE DATABASE ${name}`);
  } finally {
    await sql.end();
  }
  const address = new URL(server);
  address.pathname = `/${name}`;
  return { DATABASE_URL: address.href, CLICKHOUSE_URL: warehouse + name, DATABASE_CONNECTIONS: "4" };
}

/** ClickHouse's stand-in. It ends with the process that started it. */
export interface ClickHouse {
  /** Its address without a database. */
  readonly url: string;
  readonly process: Subprocess;
}

let clickhouse: Promise<ClickHouse> | undefined;

/** Starts ClickHouse's stand-in beside this process: a process has one chDB, and a file's own tests may need
 * theirs.
 * @param folder the folder for its data */
export async function startClickHouse(folder: string): Promise<ClickHouse> {
  const data = join(folder, "clickhouse");
  mkdirSync(data, { recursive: true });
  const child = Bun.spawn(
    [process.execPath, join(import.meta.dir, "warehouse/clickhouse-process.ts"), data],
    {
      // Its end is ours: it ends when this closes.
      stdin: "pipe",
      stdout: "pipe",
      stderr: "inherit",
    },
  );
  child.unref();
  const decoder = new TextDecoder();
  let said = "";
  for await (const chunk of child.stdout) {
    said += decoder.decode(chunk, { stream: true });
    if (said.includes("\n")) return { url: said.trim(), process: child };
  }
  throw new Error(`ClickHouse did not start: ${said}`);
}
