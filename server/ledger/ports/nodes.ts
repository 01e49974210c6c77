/** The nodes of a cluster as they know of each other: through the ledger, by the clock of its server. */

/** What a process of a node does. A command that works on the ledger by itself is one, too, while it runs. */
export type NodeRole = "intake" | "analysis" | "command";

/** A node whose heartbeat is at most some seconds old. */
export interface LiveNode {
  readonly id: string;
  readonly role: NodeRole;
  /** Where other nodes reach it; null when only its own machine does. */
  readonly url: string | null;
  /** Organizations whose live view is open there. */
  readonly watches: readonly number[];
  /** The state of the leader's work as JSON. Null for every other node. */
  readonly leaderStatus: string | null;
}

/** What a node does when something has changed that its caches may hold. */
export interface ChangeHooks {
  /** Empties the caches, at once. */
  forget(): void;
  /** Resolves when every request that was admitted before is committed, or has failed. */
  settled(): Promise<unknown>;
  /** Stores the counts that are only in memory. */
  flushCounts(): Promise<unknown>;
}
