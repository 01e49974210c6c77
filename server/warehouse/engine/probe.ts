/**
 * Checks whether a ClickHouse server or cluster can be the warehouse, by trying it, for administrators. Its
 * temporary tables have names of their own and are removed.
 */

import type { Probed } from "../../process/probed.ts";
import { systemTime } from "../../process/time.ts";
import { createTable, type Table } from "../schema/tables.ts";
import { type ClickHouseOptions, connectClickHouse } from "./clickhouse.ts";
import { parseClickHouseUrl } from "./clickhouse-http.ts";
import { createDatabase, isNewEnough, oldestClickHouse } from "./clickhouse-prepare.ts";
import type { ServerWarehouse } from "./server-warehouse.ts";
import { clusterSettings, onCluster } from "./topology.ts";

/** Intake computes the days; the server's clock dates its own records and their retention. */
const maxClockDifferenceMs = 5_000;

interface Probing {
  readonly warehouse: ServerWarehouse;
  readonly database: string;
}

/**
 * Checks everything that the warehouse relies on. Checks that depend on a failed one are left out. A server
 * without an answer is one finding, `answers`.
 * @throws Refusal when the address itself cannot be read
 */
export async function probeClickHouse(options: ClickHouseOptions): Promise<readonly Probed[]> {
  const { database } = parseClickHouseUrl(options.url);
  const probing = { warehouse: connectClickHouse(options), database };
  const probed: Probed[] = [];
  try {
    for (const { name, run, isNecessary = false } of checks) {
      const found = await run(probing).catch((error: unknown) => failed(name, error));
      if (found !== undefined) probed.push(found);
      if (found?.ok === false && isNecessary) break;
    }
  } finally {
    await probing.warehouse.close();
  }
  return probed;
}

interface Check {
  /** The name of the finding when the check itself fails. */
  readonly name: string;
  readonly run: (probing: Probing) => Promise<Probed | undefined>;
  /** If it fails, the other checks would fail with the same error. */
  readonly isNecessary?: boolean;
}

const checks: readonly Check[] = [
  { name: "answers", run: checkVersion, isNecessary: true },
  { name: "replicas", run: checkReplicas, isNecessary: true },
  { name: "clock", run: checkClock },
  { name: "settings", run: checkSettings },
  { name: "rights", run: checkRights },
  { name: "deduplication", run: checkDeduplication },
];

function failed(name: string, error: unknown): Probed {
  const words = error instanceof Error ? (error.message.split("\n", 1)[0] ?? "") : String(error);
  return { name, ok: false, words: words.replace(/\.$/, "") };
}

async function checkVersion({ warehouse }: Probing): Promise<Probed> {
  const [row] = await warehouse.rowsOutside<{ version: string }>("SELECT version() AS version");
  const found = row?.version ?? "unknown";
  const ok = isNewEnough(found);
  const words = ok ? found : `${found}; ${oldestClickHouse} or newer is needed: upgrade it`;
  return { name: "version", ok, words };
}

async function checkReplicas({ warehouse }: Probing): Promise<Probed | undefined> {
  const cluster = warehouse.topology.cluster;
  if (cluster === null) return undefined;
  const [row] = await warehouse.rowsOutside<{ replicas: number; shards: number }>(
    `SELECT count() AS replicas, uniqExact(shard_num) AS shards FROM system.clusters WHERE cluster = {cluster:String}`,
    { cluster },
  );
  const { replicas = 0, shards = 0 } = row ?? {};
  const name = "replicas";
  if (replicas === 0) {
    return { name, ok: false, words: `the server knows no cluster ${cluster}: see its remote_servers` };
  }
  if (shards > 1) {
    const words = `the cluster ${cluster} has ${shards} shards: the warehouse wants one, with replicas`;
    return { name, ok: false, words };
  }
  if (replicas >= 3) return { name, ok: true, words: `${replicas} in the cluster ${cluster}` };
  const waits =
    "while one is down no rows are loaded (they wait in the ledger); of three replicas two are enough";
  return { name, ok: true, words: `${replicas} in the cluster ${cluster}: ${waits}` };
}

async function checkClock({ warehouse }: Probing): Promise<Probed> {
  const { nowMs } = systemTime;
  const askedMs = nowMs();
  const [row] = await warehouse.rowsOutside<{ serverMs: number }>(
    "SELECT toUnixTimestamp64Milli(now64(3)) AS serverMs",
  );
  const halfWayMs = (nowMs() - askedMs) / 2;
  const differenceMs = (row?.serverMs ?? 0) - (askedMs + halfWayMs);
  // It was read at any moment between question and answer.
  const ok = Math.abs(differenceMs) - halfWayMs <= maxClockDifferenceMs;
  const seconds = (Math.abs(differenceMs) / 1_000).toFixed(1);
  const words = `${seconds} s ${differenceMs < 0 ? "behind" : "ahead of"} this machine's`;
  return { name: "clock", ok, words: ok ? words : `${words}: synchronize both by NTP` };
}

/** Settings that a profile or a constraint of the user may have changed. */
async function checkSettings({ warehouse }: Probing): Promise<Probed> {
  const wanted = new Map<string, string>(
    Object.entries({
      ...clusterSettings(warehouse.topology),
      session_timezone: "UTC",
      mutations_sync: 2,
      lightweight_deletes_sync: 2,
    }).map(([name, value]) => [name, String(value)]),
  );
  const found = await warehouse.rowsOutside<{ name: string; value: string }>(
    "SELECT name, value FROM system.settings WHERE name IN {names:Array(String)}",
    { names: [...wanted.keys()] },
  );
  const values = new Map(found.map(({ name, value }) => [name, value]));
  const other = [...wanted].filter(([name, value]) => values.get(name) !== value).map(([name]) => name);
  const ok = other.length === 0;
  const words = ok
    ? "can be set"
    : `the profile of this user overrides ${other.join(", ")}: remove its constraints on them`;
  return { name: "settings", ok, words };
}

const neededRights = ["SELECT", "INSERT", "ALTER", "CREATE TABLE", "CREATE VIEW", "DROP TABLE", "DROP VIEW"];

async function checkRights({ warehouse, database }: Probing): Promise<Probed> {
  const wanted = neededRights.map((right) => [right, `${right} ON \`${database}\`.*`] as const);
  const everywhere =
    warehouse.topology.cluster === null ? [] : (["CLUSTER", "SYSTEM SYNC REPLICA", "REMOTE"] as const);
  const grants = [...wanted, ...everywhere.map((right) => [right, `${right} ON *.*`] as const)];
  const missing: string[] = [];
  for (const [right, grant] of grants) {
    if (!(await warehouse.isGranted(grant))) missing.push(right);
  }
  const ok = missing.length === 0;
  const words = ok
    ? `has all needed rights on ${database}`
    : `this user lacks ${missing.join(", ")} on ${database}: GRANT them`;
  return { name: "rights", ok, words };
}

/** Sends a row twice under one token, and an equal row under another token. The table and the view behind it
 * must have 2 rows, on every replica. */
async function checkDeduplication({ warehouse, database }: Probing): Promise<Probed> {
  await createDatabase(warehouse, database);
  const { topology } = warehouse;
  const name = `probe_${crypto.randomUUID().slice(0, 8)}`;
  const table = (suffix: string): Table => ({
    name: `${name}${suffix}`,
    engine: { family: "MergeTree", arguments: "" },
    columns: ["a UInt32"],
    orderBy: "a",
  });
  const drop = (what: string) => warehouse.command(`DROP ${what}${onCluster(topology)} SYNC`);
  try {
    await warehouse.command(createTable(table(""), topology));
    await warehouse.command(createTable(table("_rollup"), topology));
    await warehouse.command(
      `CREATE MATERIALIZED VIEW ${name}_view${onCluster(topology)} TO ${name}_rollup AS SELECT a FROM ${name}`,
    );
    for (const token of ["first", "first", "second"]) {
      await warehouse.insertInto(name, ["a"], { rows: 1, body: Buffer.from("[1]\n"), token });
    }
    return await judgeRows(warehouse, name);
  } finally {
    for (const what of [
      `VIEW IF EXISTS ${name}_view`,
      `TABLE IF EXISTS ${name}_rollup`,
      `TABLE IF EXISTS ${name}`,
    ]) {
      await drop(what).catch(() => undefined);
    }
  }
}

async function judgeRows(warehouse: ServerWarehouse, name: string): Promise<Probed> {
  const [row] = await warehouse.rows<{ stored: number; counted: number }>(
    `SELECT (SELECT count() FROM ${name}) AS stored, (SELECT count() FROM ${name}_rollup) AS counted`,
  );
  const { stored = 0, counted = 0 } = row ?? {};
  const ok = stored === 2 && counted === 2;
  const words = ok
    ? "rows that are sent twice under one token are stored once"
    : `of a row that was sent twice under one token and once under another, ${stored} are stored and ${counted} counted, ` +
      "not 2 and 2: rows that are sent again after a failure would count twice or be lost";
  return { name: "deduplication", ok, words };
}
