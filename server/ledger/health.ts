/** Results of checks and rebuilds. Pages show them beside the figures. */
import type { VersionRows } from "./rules/rejected-event-facts.ts";

/** The ledger's part of the freshness of an organization's figures. */
export interface LedgerFreshness {
  readonly timezone: string;
  /** All rows that were acknowledged before this instant are loaded. Null if that is not known yet. */
  readonly loadedUptoMs: number | null;
  /** The start of the pending rebuild of the days. Null if none is pending. */
  readonly rebuildingSinceMs: number | null;
}

/** The task of a rebuild. */
export interface RebuildBegun {
  /** The timezone of the new days. */
  readonly timezone: string;
  /** The time of the request. Each change of the timezone has another one. */
  readonly askedAtMs: number;
}

export interface Populations {
  readonly users: number;
  readonly userVersions: number;
  readonly accounts: number;
  readonly accountVersions: number;
  /** The rows that were appended to `user_versions`. It does not get every version of a user. Null if the
   * organization is older than this count. */
  readonly versionRows: VersionRows | null;
  /** The rows that were appended to `account_versions`. */
  readonly accountVersionRows: VersionRows;
}
