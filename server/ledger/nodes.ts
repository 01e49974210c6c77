/** The nodes of a cluster. They find each other through the ledger, by the clock of its server. */

/** The role of a process. A command that works on the ledger by itself is also a node while it runs. */
export type NodeRole = "intake" | "analysis" | "command";

/** A node whose heartbeat is at most some seconds old. */
export interface LiveNode {
  readonly id: string;
  readonly role: NodeRole;
  /** Its address for other nodes. Null if only its own machine can reach it. */
  readonly url: string | null;
  /** Organizations whose live view is open on this node. */
  readonly watches: readonly number[];
  /** The state of the leader's work as JSON. Null for every other node. */
  readonly leaderStatus: string | null;
}

/** The reactions of a node to a change that its caches may contain. */
export interface ChangeHooks {
  /** Empties the caches, at once. */
  forget(): void;
  /** Resolves when every request that was admitted before is committed, or has failed. */
  settled(): Promise<unknown>;
  /** Writes the counts in memory down. */
  flushCounts(): Promise<unknown>;
}
