/**
 * The ledger: the system of record. It keeps organizations, their tokens and keys, users and accounts, and the
 * inbox of rows that the warehouse has not seen yet. A write is acknowledged when its `transact` resolves,
 * because by then it is on disk.
 *
 * SQLite and PostgreSQL each implement this interface and pass the same contract suite. Neither decides
 * what a request means: `transact` loads what was asked for, hands it to a pure function, and writes what
 * that function returns.
 */
import type { AuditStore } from "./audit.ts";
import type { Credentials } from "./credentials.ts";
import type { DeadLetterStore } from "./dead-letters.ts";
import type { UserAndAccount } from "./entities.ts";
import type { Deletions, Erasures } from "./erasures.ts";
import type { ExclusionStore } from "./exclusions.ts";
import type { CheckStore, LedgerFreshness, Populations, RebuildBegun } from "./health.ts";
import type { Imports } from "./imports.ts";
import type { DayCount, Inbox } from "./inbox.ts";
import type { LoginStore, MemberStore } from "./members.ts";
import type { Organizations } from "./organizations.ts";
import type { ParkingStore } from "./parking.ts";
import type { SettingsStore } from "./settings.ts";
import type { IdentityStore, SourceSettingsStore } from "./source-settings.ts";
import type { SourceStore } from "./sources.ts";
import type { Needs, Stored, Writes } from "./transact.ts";
import type { ViewStore } from "./views.ts";
import type { WarningStore } from "./warnings.ts";

export interface Ledger {
  readonly organizations: Organizations;
  readonly tokens: Credentials;
  readonly readKeys: Credentials;
  readonly inbox: Inbox;
  readonly deadLetters: DeadLetterStore;
  readonly exclusions: ExclusionStore;
  readonly warnings: WarningStore;
  readonly checks: CheckStore;
  readonly erasures: Erasures;
  readonly deletions: Deletions;
  readonly imports: Imports;
  readonly settings: SettingsStore;
  readonly audit: AuditStore;
  readonly members: MemberStore;
  readonly logins: LoginStore;
  readonly views: ViewStore;
  readonly parking: ParkingStore;
  readonly sources: SourceStore;
  readonly sourceSettings: SourceSettingsStore;
  readonly identities: IdentityStore;

  /**
   * One durable transaction: calls `decide` with what is stored of `needs`, writes what it returns. It may be called
   * again, when it asked for what these led to, or others were first: what it returned before is forgotten.
   * When the promise resolves everything is on disk; when it rejects nothing is, and no cache remembers it.
   * In SQLite transactions run one after another, in PostgreSQL beside each other.
   */
  transact(needs: Needs, decide: (stored: Stored) => Writes): Promise<void>;
  /** How many transactions of one process are worth having under way at once: two or more. */
  readonly groupsAtOnce: number;
  /** Whether a transaction locks the organizations whose people it changes, and may throw `OrganizationsHeld`. */
  readonly locksOrganizations: boolean;

  /** Deletes what is no longer needed: loaded rows past their hour, forgotten message ids; keeps the
   * write-ahead log short. Called about once a second. */
  tidy(nowMs: number): Promise<void>;

  /** Totals per organization and UTC day of what was acknowledged. */
  dayCounts(organization: number): Promise<readonly DayCount[]>;
  /** How many users and accounts there are, and the sums of their versions. */
  populations(organization: number): Promise<Populations>;
  /** Everything that was acknowledged before this instant is loaded; null when that is not known yet. */
  loadedUptoMs(): Promise<number | null>;
  /** @throws Refusal when the organization does not exist. */
  freshness(organization: number): Promise<LedgerFreshness>;
  /** The user with this id and the account that the user belongs to. */
  findUser(organization: number, userId: string): Promise<UserAndAccount | undefined>;

  /** When it resolves, whoever reads the ledger's tables beside its process finds all that was acknowledged before. */
  flush(): Promise<void>;

  /** The whole ledger at one instant; writes go on meanwhile.
   * @param folder for what has to be copied, which is the caller's to remove */
  snapshot(folder: string): Promise<LedgerSnapshot>;

  /** Organizations whose days in the warehouse were computed in a timezone that they no longer have. */
  rebuildsPending(): Promise<readonly number[]>;
  /** Marks an organization until `rebuildDone`, so that a rebuild that a crash ends is begun again. @throws Refusal */
  rebuildBegun(organization: number): Promise<RebuildBegun>;
  /** The days are as `rebuildBegun` said. It stays pending when the timezone was changed since, be it back: what came in
   * between has days of another. */
  rebuildDone(organization: number, askedAtMs: number): Promise<void>;

  close(): Promise<void>;
}

/** What is only for the process that writes: its own calls, what is asked in another form, and what serves people. */
type OwnCalls =
  | "transact"
  | "groupsAtOnce"
  | "locksOrganizations"
  | "tidy"
  | "loadedUptoMs"
  | "close"
  | CrossedOtherwise;
type CrossedOtherwise = "tokens" | "readKeys" | "imports" | "warnings";
type OwnStores = "members" | "logins" | "views" | "sources" | "sourceSettings" | "identities";

/** What the other processes of an installation may ask of the ledger; only intake writes to it. */
export interface SharedLedger extends Omit<Ledger, OwnCalls | OwnStores> {
  readonly tokens: SharedCredentials;
  readonly readKeys: SharedCredentials;
  readonly warnings: Omit<WarningStore, "add">;
  readonly members: SharedMembers;
  readonly sources: Omit<SourceStore, "add">;
}

/** Nobody signs in but through the process that serves people. */
type SharedMembers = Omit<
  MemberStore,
  | "find"
  | "change"
  | "membershipsOf"
  | "membership"
  | "createOrganization"
  | "setRole"
  | "revokeInvitation"
  | "addClaimLink"
>;
type SharedCredentials = Omit<Credentials, "find" | "touch">;

/** The ledger as it was at one instant, to be kept in a backup. */
export interface LedgerSnapshot {
  /** How many migrations its tables have had. */
  readonly migration: number;
  /** Batches that were frozen and not in the warehouse yet. */
  readonly unfinishedBatches: number;
  /** What was acknowledged, waiting rows included. */
  readonly organizations: readonly { readonly name: string; readonly events: number }[];
  /** To be read in this order. */
  readonly files: readonly SnapshotFile[];
}

export interface SnapshotFile {
  /** The path in a data folder, `ledger.sqlite` say. */
  readonly name: string;
  /** The bytes; undefined when the file is no longer needed. */
  read(): AsyncIterable<Uint8Array> | undefined;
}
