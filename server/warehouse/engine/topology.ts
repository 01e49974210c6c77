/**
 * Where the tables lie: on one server (or in this process), or on every replica of a cluster. The engine of a table and
 * the window of its tokens are the only difference in what a table is; everything that makes DDL asks here.
 *
 * In a cluster, tables are replicated with the engine's default paths. What a replicated table passes on by itself
 * (columns, keys, projections, mutations, moved partitions) is said to one replica; what it does not (that it
 * exists at all, its settings) is said ON CLUSTER.
 */

export interface Topology {
  /** The name under `remote_servers` in the servers' configuration; null for a single server. */
  readonly cluster: string | null;
  /** In this process, whose files the engine reads and writes, and where every database is ours. */
  readonly isEmbedded: boolean;
}

export const embedded: Topology = { cluster: null, isEmbedded: true };

export interface Engine {
  readonly family: "MergeTree" | "ReplacingMergeTree" | "SummingMergeTree" | "AggregatingMergeTree";
  readonly arguments: string;
}

/** ` ON CLUSTER 'name'`, to stand behind a table's or a database's name; nothing for a single server. */
export function onCluster({ cluster }: Topology): string {
  return cluster === null ? "" : ` ON CLUSTER '${cluster.replace(/[\\']/g, "\\$&")}'`;
}

/** What stands behind `ENGINE =`. */
export function engineClause({ cluster }: Topology, { family, arguments: text }: Engine): string {
  return `${cluster === null ? "" : "Replicated"}${family}(${text})`;
}

/** A token is forgotten after this many blocks: a batch is sent again after at most a few. */
const deduplicationWindowBlocks = 10_000;
/** A batch that is in the tables may wait to be finished, and be sent again, for as long as nobody repairs what is
 * broken. Replicas forget tokens after an hour unless they are told otherwise: half a year. */
const deduplicationWindowSeconds = 15_552_000;

/** The table settings by which tokens are remembered. */
export function deduplicationWindow({ cluster }: Topology): string {
  if (cluster === null) return `non_replicated_deduplication_window = ${deduplicationWindowBlocks}`;
  return `replicated_deduplication_window = ${deduplicationWindowBlocks},
      replicated_deduplication_window_seconds = ${deduplicationWindowSeconds}`;
}

/** How long a statement may take on all replicas; the tables' own work (mutations) is not said ON CLUSTER. */
const distributedDdlSeconds = 180;

/**
 * What every query is given in a cluster. An insert is answered when a majority of the replicas has it, and a replica
 * that lacks something which such an insert has stored refuses to answer (code 289): so what the loader has finished
 * is never missing in a figure, whichever replica is asked, and it survives the loss of one. For that the engine
 * wants quorums one after another, which the loader's inserts are.
 */
export function clusterSettings({ cluster }: Topology): Readonly<Record<string, number | string>> {
  if (cluster === null) return {};
  return {
    insert_quorum: "auto",
    insert_quorum_parallel: 0,
    select_sequential_consistency: 1,
    // Two blocks of one INSERT … SELECT at once would each refuse the other's quorum.
    max_insert_threads: 1,
    alter_sync: 2,
    distributed_ddl_task_timeout: distributedDdlSeconds,
    distributed_ddl_output_mode: "throw",
  };
}
