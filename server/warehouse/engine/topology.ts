/**
 * Where the tables are: on one server (or in this process), or on every replica of a cluster. Only a table's
 * engine and the window of its tokens differ, and all DDL uses the functions here.
 *
 * In a cluster, tables are replicated with the engine's default paths. Changes that a replicated table
 * distributes itself (columns, keys, projections, mutations, moved partitions) go to one replica. Others
 * (creating a table, its settings) run ON CLUSTER.
 */

export interface Topology {
  /** The name under `remote_servers` in the servers' configuration; null for a single server. */
  readonly cluster: string | null;
  /** True in this process: the engine uses its files, and every database is ours. */
  readonly isEmbedded: boolean;
}

export const embedded: Topology = { cluster: null, isEmbedded: true };

export interface Engine {
  readonly family: "MergeTree" | "ReplacingMergeTree" | "SummingMergeTree" | "AggregatingMergeTree";
  readonly arguments: string;
}

/** ` ON CLUSTER 'name'`, to follow a table's or a database's name; empty for a single server. */
export function onCluster({ cluster }: Topology): string {
  return cluster === null ? "" : ` ON CLUSTER '${cluster.replace(/[\\']/g, "\\$&")}'`;
}

/** The text after `ENGINE =`. */
export function engineClause({ cluster }: Topology, { family, arguments: text }: Engine): string {
  return `${cluster === null ? "" : "Replicated"}${family}(${text})`;
}

/** A token is forgotten after this many blocks: a batch is sent again after at most a few. */
const deduplicationWindowBlocks = 10_000;
/** A batch that is in the tables may have to be sent again for as long as a failure is not repaired. Replicas
 * forget tokens after an hour by default: this is half a year. */
const deduplicationWindowSeconds = 15_552_000;

/** The table settings by which tokens are remembered. */
export function deduplicationWindow({ cluster }: Topology): string {
  if (cluster === null) return `non_replicated_deduplication_window = ${deduplicationWindowBlocks}`;
  return `replicated_deduplication_window = ${deduplicationWindowBlocks},
      replicated_deduplication_window_seconds = ${deduplicationWindowSeconds}`;
}

/** How long a statement may take on all replicas. Mutations do not run ON CLUSTER. */
const distributedDdlSeconds = 180;

/**
 * The settings of every query in a cluster. An insert is answered when a majority of the replicas has it. A
 * replica that lacks rows of such an insert refuses queries (code 289). So a figure includes every batch that
 * the loader has finished, on any replica, and the rows survive the loss of one replica. The engine requires
 * such inserts one after another, as the loader sends them.
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
