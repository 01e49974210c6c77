/** What is kept of checks and rebuilds, so that figures can say how far they are to be trusted. */
import type { VersionRows } from "./dead-letters.ts";

/** The last comparison of ledger, events and rollups. */
export interface CheckResult {
  readonly organization: number;
  readonly atMs: number;
  readonly tookMs: number;
  readonly differences: number;
  /** The first of them in words. */
  readonly examples: readonly string[];
}

export interface CheckStore {
  /** The last one of every organization that had one. */
  list(): Promise<readonly CheckResult[]>;
  /** Keeps the result in place of the organization's one before. Nothing is kept of an organization that does not exist. */
  keep(result: CheckResult): Promise<void>;
}

/** What the ledger knows of how fresh an organization's figures are. */
export interface LedgerFreshness {
  readonly timezone: string;
  /** Everything that was acknowledged before this instant is loaded; null when that is not known yet. */
  readonly loadedUptoMs: number | null;
  /** Since when the days are to be computed again; null when they are as they should be. */
  readonly rebuildingSinceMs: number | null;
}

/** What a rebuild is to do. */
export interface RebuildBegun {
  /** In which the days are to be. */
  readonly timezone: string;
  /** When it was asked for; another for each change of the timezone. */
  readonly askedAtMs: number;
}

export interface Populations {
  readonly users: number;
  readonly userVersions: number;
  readonly accounts: number;
  readonly accountVersions: number;
  /** What was appended to `user_versions`, to which not every version of a user is; null when it is not known,
   * because the organization is older than the count. */
  readonly versionRows: VersionRows | null;
}
