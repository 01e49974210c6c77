/**
 * The ledger: the system of record. It keeps organizations, their tokens and keys, users and accounts, and
 * the inbox of rows that the warehouse does not have yet. A write is acknowledged when its `transact`
 * resolves, because then it is on disk.
 *
 * SQLite and PostgreSQL each implement this interface and pass the same contract suite. Neither decides about
 * requests: `transact` loads the rows that are needed, passes them to a pure function, and writes the
 * function's result.
 */

import type { AuditStore } from "./audit.ts";
import type { Account, UserAndAccount } from "./entities.ts";
import type { Deletions, Erasures } from "./erasures.ts";
import type { Feature, FeatureStores, SharedFeatureStores } from "./feature.ts";
import type { LedgerFreshness, Populations, RebuildBegun } from "./health.ts";
import type { DayCount, Inbox } from "./inbox.ts";
import type { CheckStore } from "./stores/checks.ts";
import type { CopyStore } from "./stores/copies.ts";
import type { Credentials } from "./stores/credentials.ts";
import type { ExclusionStore } from "./stores/exclusions.ts";
import type { HeldEventStore } from "./stores/held-events.ts";
import type { IdentityStore } from "./stores/identities.ts";
import type { Imports } from "./stores/imports.ts";
import type { LoginStore } from "./stores/logins.ts";
import type { MemberStore } from "./stores/members.ts";
import type { Organizations } from "./stores/organizations.ts";
import type { OutageStore } from "./stores/outages.ts";
import type { PersonDataStore } from "./stores/person-data.ts";
import type { RejectedEventStore } from "./stores/rejected-events.ts";
import type { SettingsStore } from "./stores/settings.ts";
import type { SourceStore } from "./stores/sources.ts";
import type { WarningStore } from "./stores/warnings.ts";
import type { Needs, Stored, Writes } from "./transact.ts";

export interface Ledger extends FeatureStores {
  /** What the ledger was opened with. */
  readonly features: readonly Feature[];
  readonly organizations: Organizations;
  readonly tokens: Credentials;
  readonly readKeys: Credentials;
  readonly inbox: Inbox;
  readonly rejectedEvents: RejectedEventStore;
  readonly exclusions: ExclusionStore;
  readonly outages: OutageStore;
  readonly warnings: WarningStore;
  readonly checks: CheckStore;
  readonly erasures: Erasures;
  readonly deletions: Deletions;
  readonly copies: CopyStore;
  readonly imports: Imports;
  readonly settings: SettingsStore;
  readonly audit: AuditStore;
  readonly members: MemberStore;
  readonly logins: LoginStore;
  readonly heldEvents: HeldEventStore;
  readonly personData: PersonDataStore;
  readonly sources: SourceStore;
  readonly identities: IdentityStore;

  /**
   * One durable transaction: calls `decide` with the stored rows of `needs`, and writes its result. `decide`
   * may be called again, if it read rows to which these led, or if other transactions were first. Then its
   * earlier result is discarded. When the promise resolves, everything is on disk. When it rejects, nothing
   * is, and no cache has changed. Transactions run one after another in SQLite, and concurrently in
   * PostgreSQL.
   */
  transact(needs: Needs, decide: (stored: Stored) => Writes): Promise<void>;
  /** The best number of concurrent transactions of one process: two or more. */
  readonly groupsAtOnce: number;
  /** Whether a transaction locks the organizations whose people it changes, and may throw
   * `OrganizationsHeld`. */
  readonly locksOrganizations: boolean;

  /** Deletes loaded rows after their hour and expired message ids, and keeps the write-ahead log short.
   * Called about once a second. */
  tidy(nowMs: number): Promise<void>;

  /** Totals of acknowledged events per organization and UTC day. */
  dayCounts(organization: number): Promise<readonly DayCount[]>;
  /** When rows of the past last came in bulk, or by an import of any size, by the clock of the process that
   * stored them; null when they never did. */
  lastBulkLoadAtMs(organization: number): Promise<number | null>;
  /** The rows that imports have stored, and when the last of them was. */
  imported(organization: number): Promise<{ readonly rows: number; readonly lastAtMs: number | null }>;
  /** Notes that rows of the past came in bulk until an instant. */
  noteBulkLoad(organization: number, atMs: number): Promise<void>;
  /** The numbers of users and accounts, and the sums of their versions. */
  populations(organization: number): Promise<Populations>;
  /** All rows that were acknowledged before this instant are loaded. Null if that is not known yet. */
  loadedUptoMs(): Promise<number | null>;
  /** @throws Refusal when the organization does not exist. */
  freshness(organization: number): Promise<LedgerFreshness>;
  /** The user with this id and the account that the user belongs to. */
  findUser(organization: number, userId: string): Promise<UserAndAccount | undefined>;
  /** The account with this id. */
  findAccount(organization: number, accountId: string): Promise<Account | undefined>;

  /** When it resolves, the ledger's tables contain all rows that were acknowledged before the call. Other
   * processes can read them there. */
  flush(): Promise<void>;

  /** The whole ledger at one instant. Writes continue meanwhile.
   * @param folder for files that are copied. The caller removes it */
  snapshot(folder: string): Promise<LedgerSnapshot>;

  /** Names the storage of this ledger: a copy of its files or of its database has another name. */
  place(): Promise<string>;

  /** Organizations whose days in the warehouse were computed in an earlier timezone. */
  rebuildsPending(): Promise<readonly number[]>;
  /** Marks an organization until `rebuildDone`, so that a rebuild begins again after a crash. @throws
   * Refusal */
  rebuildBegun(organization: number): Promise<RebuildBegun>;
  /** Records that the days are as `rebuildBegun` requested. The rebuild stays pending if the timezone was
   * changed since, even if it was changed back. Rows that came in between have days of the other timezone. */
  rebuildDone(organization: number, askedAtMs: number): Promise<void>;

  close(): Promise<void>;
}

/** Calls that only the writing process uses. Some have another form for other processes, and some serve team
 * members. */
type OwnCalls =
  | "transact"
  | "groupsAtOnce"
  | "locksOrganizations"
  | "tidy"
  | "noteBulkLoad"
  | "loadedUptoMs"
  | "close"
  | "place"
  | CrossedOtherwise;
type CrossedOtherwise = "tokens" | "readKeys" | "imports" | "warnings";
type OwnStores = "members" | "logins" | "sources" | "identities" | keyof FeatureStores;

/** The ledger for the other processes of an installation. Only intake writes to it. */
export interface SharedLedger extends Omit<Ledger, OwnCalls | OwnStores>, SharedFeatureStores {
  readonly tokens: SharedCredentials;
  readonly readKeys: SharedCredentials;
  readonly warnings: Omit<WarningStore, "add">;
  readonly members: SharedMembers;
  readonly sources: Omit<SourceStore, "add">;
}

/** Without sign-in: only the process that serves team members does it. */
type SharedMembers = Omit<
  MemberStore,
  | "find"
  | "change"
  | "membershipsOf"
  | "membership"
  | "createOrganization"
  | "setRole"
  | "invitationsOfDay"
  | "revokeInvitation"
  | "addClaimLink"
>;
type SharedCredentials = Omit<Credentials, "find" | "touch">;

/** The ledger at one instant, for a backup. */
export interface LedgerSnapshot {
  /** The number of migrations of its tables. */
  readonly migration: number;
  /** Batches that were frozen and that the warehouse did not have yet. */
  readonly unfinishedBatches: number;
  /** Acknowledged events, including waiting rows. */
  readonly organizations: readonly { readonly name: string; readonly events: number }[];
  /** The caller must read them in this order. */
  readonly files: readonly SnapshotFile[];
}

export interface SnapshotFile {
  /** The path in a data folder, for example `ledger.sqlite`. */
  readonly name: string;
  /** The bytes. Undefined if the file is no longer needed. */
  read(): AsyncIterable<Uint8Array> | undefined;
}
