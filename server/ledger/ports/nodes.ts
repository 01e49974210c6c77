/** The nodes of a cluster as they know of each other: through the ledger, by the clock of its server. */

/** What a process of a node does. A command that works on the ledger by itself is one, too, while it runs. */
export type NodeRole = "intake" | "analysis" | "command";

/** A node that was heard of within the last seconds. */
export interface LiveNode {
  readonly id: string;
  readonly role: NodeRole;
  /** Where other nodes reach it; null when only its own machine does. */
  readonly url: string | null;
  /** Organizations whose live view somebody has open there. */
  readonly watches: readonly number[];
  /** What the leader says of its work, as JSON; null of all others. */
  readonly leaderSays: string | null;
}

/** What a node does when something has changed that it may remember. */
export interface ChangeHooks {
  /** Forgets it, at once. */
  forget(): void;
  /** Resolves when all that was admitted before is committed, or has failed. */
  settled(): Promise<unknown>;
  /** Writes down what was only counted so far. */
  writeDown(): Promise<unknown>;
}
