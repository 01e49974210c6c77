/**
 * The table of nodes, and the number of the last change of data that nodes cache: tokens, keys,
 * organizations, erased users. Triggers add one in the commit of every change.
 */
import type { LiveNode, NodeRole } from "../nodes.ts";
import type { Sql } from "./connect.ts";

/** A node with an older heartbeat counts as dead. */
export const liveSeconds = 10;
/**
 * The longest time in which a node that counts as dead can still commit. It begins no write 8 s after its
 * last heartbeat. The server ends a transaction whose statements take longer than 30 s.
 */
const overSeconds = 60;

/**
 * `asked` is the number of requests to store the counts in memory: see `countsFlushed`.
 *
 * The row of `changes` is locked at the end of the transaction (deferred), so that its holder waits for no
 * other lock. `last_used_at_ms` of tokens is written every minute, and does not count as a change.
 */
export const nodeTables = `
  CREATE TABLE nodes (
    id uuid PRIMARY KEY,
    role text NOT NULL CHECK (role IN ('intake', 'analysis', 'command')),
    url text,
    version text NOT NULL,
    started timestamptz NOT NULL DEFAULT clock_timestamp(),
    heartbeat timestamptz NOT NULL,
    settled_version bigint NOT NULL,
    written_down bigint NOT NULL,
    watches text NOT NULL DEFAULT '[]',
    leader_says text
  ) WITH (fillfactor = 50);

  CREATE TABLE node_key (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    key text NOT NULL
  );
  INSERT INTO node_key VALUES (1, replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''));

  CREATE TABLE changes (
    only_row integer PRIMARY KEY CHECK (only_row = 1),
    version bigint NOT NULL,
    asked bigint NOT NULL
  );
  INSERT INTO changes VALUES (1, 1, 0);

  CREATE FUNCTION note_change() RETURNS trigger LANGUAGE plpgsql AS
    'BEGIN UPDATE changes SET version = version + 1; RETURN NULL; END';
  CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR DELETE OR UPDATE OF revoked_at_ms ON tokens
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change();
  CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR DELETE OR UPDATE OF revoked_at_ms ON read_keys
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change();
  CREATE CONSTRAINT TRIGGER noted AFTER INSERT OR DELETE OR UPDATE OF
    name, timezone, requests_per_second, items_per_second, keep_events_days, events_from_day ON organizations
    DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION note_change();
`;

/** The content of a heartbeat. */
export interface Beat {
  readonly id: string;
  readonly role: NodeRole;
  readonly url: string | null;
  readonly version: string;
  /** All requests that it admitted before it read this change are committed. */
  readonly settledVersion: number;
  /** All counts from before this request for counts are stored. */
  readonly countsFlushed: number;
  readonly leaderStatus: string | null;
  readonly watches: readonly number[];
}

/** Writes a node's heartbeat. */
export async function beat(sql: Sql, node: Beat): Promise<void> {
  const { id, role, url, version, settledVersion, countsFlushed, leaderStatus } = node;
  const watches = JSON.stringify(node.watches);
  await sql`
    INSERT INTO nodes (id, role, url, version, heartbeat, settled_version, written_down, leader_says, watches)
    VALUES (${id}, ${role}, ${url}, ${version}, clock_timestamp(), ${settledVersion}, ${countsFlushed}, ${leaderStatus},
      ${watches})
    ON CONFLICT (id) DO UPDATE SET heartbeat = clock_timestamp(), settled_version = excluded.settled_version,
      written_down = excluded.written_down, leader_says = excluded.leader_says, watches = excluded.watches`;
}

/** Deletes a node that leaves, and nodes whose last heartbeat is an hour old. */
export async function forgetNode(sql: Sql, id: string): Promise<void> {
  await sql`DELETE FROM nodes WHERE id = ${id} OR heartbeat < clock_timestamp() - interval '1 hour'`;
}

export interface Look {
  /** The number of the last change. */
  readonly version: number;
  /** The number of the last request for counts. */
  readonly asked: number;
  /** The number of the ledger's migration steps. */
  readonly form: number;
  readonly nodes: readonly LiveNode[];
}

/** Reads the number of the last change, the ledger's form and the live nodes, in one statement. */
export async function look(sql: Sql): Promise<Look> {
  const rows = await sql<LookRow[]>`
    SELECT changes.version, changes.asked, (SELECT steps FROM ledger_form) AS form,
      nodes.id, nodes.role, nodes.url, nodes.leader_says AS "leaderStatus", nodes.watches
    FROM changes LEFT JOIN nodes ON nodes.heartbeat > clock_timestamp() - make_interval(secs => ${liveSeconds})
    ORDER BY nodes.started, nodes.id`;
  const [first] = rows;
  if (first === undefined) throw new Error("The ledger in PostgreSQL has lost its number of changes.");
  const nodes = rows.flatMap(({ id, role, url, leaderStatus, watches }) =>
    id === null || role === null
      ? []
      : [{ id, role, url, leaderStatus, watches: JSON.parse(watches ?? "[]") as number[] }],
  );
  return { version: first.version, form: first.form, asked: first.asked, nodes };
}

/** All columns of the node are null if there is no live node. */
interface LookRow {
  readonly version: number;
  readonly asked: number;
  readonly form: number;
  readonly id: string | null;
  readonly role: NodeRole | null;
  readonly url: string | null;
  readonly leaderStatus: string | null;
  readonly watches: string | null;
}

/** Nodes that may still write requests from before they read the last change. */
export async function unsettled(sql: Sql): Promise<readonly string[]> {
  const rows = await sql<{ id: string }[]>`
    SELECT nodes.id::text AS id FROM nodes JOIN changes ON nodes.settled_version < changes.version
    WHERE role IN ('intake', 'command') AND heartbeat > clock_timestamp() - make_interval(secs => ${overSeconds})
    ORDER BY nodes.started`;
  return rows.map(({ id }) => id);
}

/** The longest wait for counts. A killed node still counts as live for some seconds, and stores nothing any
 * more. */
const countsWaitMs = 5_000;
const countsPollMs = 50;

/** Resolves when every live intake node has stored the counts in its memory, or after 5 s. */
export async function countsFlushedEverywhere(sql: Sql): Promise<void> {
  const [changed] = await sql<{ asked: number }[]>`UPDATE changes SET asked = asked + 1 RETURNING asked`;
  const asked = changed?.asked ?? 0;
  const endMs = performance.now() + countsWaitMs;
  const isMissing = async () => {
    const rows = await sql`
      SELECT 1 AS one FROM nodes WHERE role = 'intake' AND written_down < ${asked}
        AND heartbeat > clock_timestamp() - make_interval(secs => ${liveSeconds}) LIMIT 1`;
    return rows.length > 0;
  };
  while (performance.now() < endMs && (await isMissing())) await Bun.sleep(countsPollMs);
}

/** The secret for requests between nodes. */
export async function nodeKey(sql: Sql): Promise<string> {
  const [row] = await sql<{ key: string }[]>`SELECT key FROM node_key`;
  if (row === undefined) throw new Error("The ledger in PostgreSQL has lost the key of its nodes.");
  return row.key;
}
