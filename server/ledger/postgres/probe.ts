/** The checks of `rekindle doctor` for PostgreSQL: risks of lost data and of failed requests. They change
 * nothing. */
import type { Probed } from "../../process/probed.ts";
import { oldestPostgres, type Sql } from "./connect.ts";
import { probeOldTransactions } from "./old-transactions.ts";

export interface ProbeOptions {
  /** The most connections of each process. */
  readonly connections: number;
  /** The live nodes, with their roles. */
  readonly nodes: readonly LivingNode[];
  /** This machine's clock. */
  readonly nowMs: () => number;
  /** The warning lists transactions that are open for longer. */
  readonly oldTransactionMs?: number;
}

/** A process with a heartbeat in the last ten seconds. */
export interface LivingNode {
  readonly role: string;
  readonly version: string;
  /** Its NODE_URL. */
  readonly url: string | null;
}

interface Found {
  readonly version: number;
  readonly versionText: string;
  readonly encoding: string;
  readonly recovering: boolean;
  readonly readOnly: string;
  readonly fsync: string;
  readonly fullPageWrites: string;
  readonly synchronousCommit: string;
  readonly autovacuum: string;
  readonly timezone: string;
  readonly mayConnect: number;
  readonly mayCreate: boolean;
  /** The number of tables whose owner's rights this user lacks. */
  readonly foreignTables: number;
  readonly transactionsAge: number;
  readonly clockMs: number;
}

/** Each node uses its own clock for its own time limits, and PostgreSQL's clock for leases and heartbeats. */
const maxClockDifferenceMs = 2_000;
/** PostgreSQL rejects writes at 2.1 billion. Autovacuum begins at 0.2. */
const maxTransactionsAge = 1_000_000_000;
/** Of Rekindle's own transactions, only those of a move and of an upgrade take longer. */
const oldTransactionMs = 5 * 60_000;

/** Checks the server, the database and the rights of the user. @throws Error when PostgreSQL does not
 * answer */
export async function probePostgres(sql: Sql, options: ProbeOptions): Promise<readonly Probed[]> {
  // The first statement opens the connection. So this time is no part of the measured round trip.
  await sql`SELECT 1`;
  const askedMs = options.nowMs();
  const found = await look(sql);
  const answeredMs = options.nowMs();
  return [
    ofVersion(found),
    ofEncoding(found),
    ofWriting(found),
    ofDisk(found),
    ofCommit(found),
    ofVacuum(found),
    await probeOldTransactions(sql, options.oldTransactionMs ?? oldTransactionMs),
    ofConnections(found, options),
    ofClock(found, askedMs, answeredMs),
    ofRights(found),
    ofNodes(options),
    ofTraffic(options),
  ];
}

/** The live nodes, by PostgreSQL's clock. None before the tables are created. */
export async function livingNodes(sql: Sql): Promise<readonly LivingNode[]> {
  const [table] = await sql<{ isThere: boolean }[]>`SELECT to_regclass('nodes') IS NOT NULL AS "isThere"`;
  if (!table?.isThere) return [];
  return [
    ...(await sql<LivingNode[]>`
      SELECT role, version, url FROM nodes WHERE heartbeat > clock_timestamp() - interval '10 s' ORDER BY role, version`),
  ];
}

async function look(sql: Sql): Promise<Found> {
  const [found] = await sql<Found[]>`
    SELECT current_setting('server_version_num')::int AS version, current_setting('server_version') AS "versionText",
      current_setting('server_encoding') AS encoding, pg_is_in_recovery() AS recovering,
      current_setting('transaction_read_only') AS "readOnly", current_setting('fsync') AS fsync,
      current_setting('full_page_writes') AS "fullPageWrites",
      current_setting('synchronous_commit') AS "synchronousCommit", current_setting('autovacuum') AS autovacuum,
      current_setting('TimeZone') AS timezone,
      least(
        current_setting('max_connections')::int - current_setting('superuser_reserved_connections')::int
          - coalesce(current_setting('reserved_connections', true), '0')::int,
        (SELECT nullif(rolconnlimit, -1) FROM pg_roles WHERE rolname = current_user),
        (SELECT nullif(datconnlimit, -1) FROM pg_database WHERE datname = current_database())
      ) AS "mayConnect",
      has_schema_privilege(current_schema(), 'CREATE') AS "mayCreate",
      (SELECT count(*) FROM pg_class WHERE relkind IN ('r', 'S') AND relnamespace = current_schema()::regnamespace
        AND NOT pg_has_role(relowner, 'USAGE')) AS "foreignTables",
      (SELECT age(datfrozenxid) FROM pg_database WHERE datname = current_database()) AS "transactionsAge",
      (extract(epoch FROM clock_timestamp()) * 1000)::bigint AS "clockMs"`;
  if (found === undefined) throw new Error("PostgreSQL did not return its settings.");
  return found;
}

const passed = (name: string, words: string): Probed => ({ name, ok: true, words });
const failed = (name: string, words: string): Probed => ({ name, ok: false, words });

function ofVersion({ version, versionText }: Found): Probed {
  if (version >= oldestPostgres) return passed("version", versionText);
  return failed("version", `${versionText}: Rekindle needs 15 or newer; upgrade PostgreSQL`);
}

function ofEncoding({ encoding }: Found): Probed {
  if (encoding === "UTF8") return passed("encoding", encoding);
  return failed("encoding", `${encoding}: create the database with ENCODING 'UTF8'`);
}

function ofWriting({ recovering, readOnly }: Found): Probed {
  const name = "accepts writes";
  if (recovering) return failed(name, "no, it is a standby: set DATABASE_URL to the primary's address");
  if (readOnly === "on") return failed(name, "no, default_transaction_read_only is on: set it to off");
  return passed(name, "yes");
}

function ofDisk({ fsync, fullPageWrites }: Found): Probed {
  const name = "survives a power failure";
  const settings = { fsync, full_page_writes: fullPageWrites };
  const off = Object.entries(settings).flatMap(([setting, value]) => (value === "on" ? [] : [setting]));
  if (off.length === 0) return passed(name, "fsync is on");
  const [are, them] = off.length === 1 ? ["is", "it"] : ["are", "them"];
  return failed(
    name,
    `${off.join(" and ")} ${are} off: a power failure can destroy the database; set ${them} to on`,
  );
}

/** The service sets `synchronous_commit` on each connection. A pool in between (PgBouncer) may drop the
 * setting. */
function ofCommit({ synchronousCommit }: Found): Probed {
  const name = "synchronous_commit";
  if (["on", "local", "remote_apply", "remote_write"].includes(synchronousCommit)) {
    return passed(name, synchronousCommit);
  }
  const risk = "acknowledged requests may be lost; set synchronous_commit to on for this user";
  return failed(name, `${synchronousCommit}: ${risk}`);
}

function ofVacuum({ autovacuum, transactionsAge }: Found): Probed {
  const name = "autovacuum";
  const millions = Math.round(transactionsAge / 1_000_000);
  if (autovacuum !== "on") {
    return failed(name, "off: tables grow, and in the end PostgreSQL rejects all writes; set it to on");
  }
  if (transactionsAge > maxTransactionsAge) {
    return failed(name, `behind by ${millions} million transactions: run VACUUM (FREEZE) at a quiet time`);
  }
  return passed(name, `on, the oldest row is ${millions} million transactions old`);
}

/** Each process has two more connections, for its heartbeats (node.ts). */
const connectionsOfNode = 2;

/** During a rolling restart there is one more process: the new one starts before the old one has left. */
function ofConnections({ mayConnect }: Found, { connections, nodes }: ProbeOptions): Probed {
  const name = "connections";
  const each = connections + connectionsOfNode;
  const needed = (nodes.length + 1) * each;
  const processes = `${nodes.length} processes, and one more during a restart`;
  const sum = `${processes}, use ${each} each (DATABASE_CONNECTIONS and ${connectionsOfNode}): ${needed}`;
  if (needed <= mayConnect) return passed(name, `${sum} of ${mayConnect}`);
  const advice = "raise max_connections or the limit of the user or database, or lower DATABASE_CONNECTIONS";
  return failed(name, `${sum}, and ${mayConnect} are allowed: ${advice}`);
}

function ofNodes({ nodes }: ProbeOptions): Probed {
  const name = "nodes";
  if (nodes.length === 0) return passed(name, "none is running");
  const count = (role: string) => nodes.filter((node) => node.role === role).length;
  const versions = [...new Set(nodes.map(({ version }) => version))].join(" and ");
  const words = `${count("intake")} with the role intake, ${count("analysis")} with analysis, version ${versions}`;
  if (count("analysis") > 0) return passed(name, words);
  return failed(name, `${words}: start one with --role analysis, because no other node loads events`);
}

/** Requests between nodes contain figures, people and the nodes' key. */
function ofTraffic({ nodes }: ProbeOptions): Probed {
  const name = "traffic between nodes";
  const urls = [...new Set(nodes.flatMap(({ url }) => (url === null ? [] : [url])))];
  const open = urls.filter((url) => !/^(https:|http:\/\/(localhost|127\.[\d.]+|\[::1\])(:|$))/.test(url));
  if (open.length === 0) return passed(name, "within one machine, or over https");
  const words =
    `${open.join(" and ")} over http: others in the network can read figures and the nodes' key; ` +
    "set NODE_URL to https with NODE_TLS_CERT and NODE_TLS_KEY, or use a private network";
  return { name, ok: true, warns: true, words };
}

function ofClock({ clockMs, timezone }: Found, askedMs: number, answeredMs: number): Probed {
  const halfWayMs = (answeredMs - askedMs) / 2;
  const differenceMs = clockMs - (askedMs + halfWayMs);
  const seconds = (Math.abs(differenceMs) / 1_000).toFixed(1);
  const words = `${seconds} s ${differenceMs < 0 ? "behind" : "ahead of"} this machine's, sessions in ${timezone}`;
  // The server read its clock at an unknown moment between request and answer.
  if (Math.abs(differenceMs) - halfWayMs <= maxClockDifferenceMs) return passed("clock", words);
  return failed("clock", `${words}: synchronize both clocks by NTP`);
}

function ofRights({ mayCreate, foreignTables }: Found): Probed {
  const name = "rights";
  if (!mayCreate) {
    const grant = "GRANT CREATE ON SCHEMA public TO it, or make it the owner of the database";
    return failed(name, `this user cannot create tables: ${grant}`);
  }
  if (foreignTables === 0) return passed(name, "can create and drop tables");
  return failed(
    name,
    `${foreignTables} tables belong to another user: REASSIGN OWNED BY that user TO this one`,
  );
}
