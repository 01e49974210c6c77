/**
 * The ledger: the system of record. It keeps organizations, their tokens and keys, users and accounts, and the
 * inbox of rows that the warehouse has not seen yet. A write is acknowledged when its `transact` resolves,
 * because by then it is on disk.
 *
 * SQLite and PostgreSQL each implement this interface and pass the same contract suite. Neither decides
 * what a request means: `transact` loads what was asked for, hands it to a pure function, and writes what
 * that function returns.
 */
import { limits } from "../../contract/limits.ts";
import type { Actor, AuditStore } from "./audit.ts";
import type { Credentials } from "./credentials.ts";
import type { DeadLetterStore, VersionRows } from "./dead-letters.ts";
import type { Deletions } from "./deletions.ts";
import type { Erasures } from "./erasures.ts";
import type { ExclusionStore } from "./exclusions.ts";
import type { CheckStore, LedgerFreshness, RebuildBegun } from "./health.ts";
import type { Imports } from "./imports.ts";
import type { ParkingStore } from "./parking.ts";
import type { EntranceStore, PeopleStore } from "./people.ts";
import type { SaidTimes } from "./said-times.ts";
import type { SettingsStore } from "./settings.ts";
import type { LedgerSnapshot } from "./snapshot.ts";
import type { IdentityStore, SourceSettingsStore } from "./source-settings.ts";
import type { SourceStore } from "./sources.ts";
import type { Needs, Stored, Writes } from "./transaction.ts";
import type { ViewStore } from "./views.ts";
import type { WarningStore } from "./warnings.ts";

export type { MissingRows, NumberedVersion, VersionRows } from "./dead-letters.ts";
export * from "./erasures.ts";
export type { ExclusionRule, ExclusionRules } from "./exclusions.ts";
export type { CheckResult } from "./health.ts";
export type { LedgerSnapshot, SnapshotFile } from "./snapshot.ts";

/** A company that uses Rekindle. Nothing of one organization is ever seen by another. */
export interface Organization {
  readonly id: number;
  readonly name: string;
  /** IANA name, `Europe/Paris`. Days, and dates without a time, are this zone's. */
  readonly timezone: string;
  readonly requestsPerSecond: number;
  /** Of batches; null follows the requests: see `itemsPerSecond`. */
  readonly itemsPerSecondSet: number | null;
  /** Raw events of older days are deleted, and figures kept; null keeps them for ever. */
  readonly keepEventsDays: number | null;
  /** Raw events of days before this one (since 1970-01-01, in the organization's timezone) were deleted; null
   * while none were. It never moves back. */
  readonly eventsFromDay: number | null;
  readonly createdAtMs: number;
}

type Rates = Pick<Organization, "itemsPerSecondSet" | "requestsPerSecond">;

/** The items a second that an organization may send in batches: ten times its requests, unless it is set. */
export function itemsPerSecond({ itemsPerSecondSet, requestsPerSecond }: Rates): number {
  return itemsPerSecondSet ?? Math.max(limits.defaultItemsPerSecond, 10 * requestsPerSecond);
}

/** A JSON object, as parsed. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a parsed value is a JSON object: no array, no null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export interface User extends SaidTimes {
  readonly organization: number;
  readonly userId: string;
  /** Dense within the organization, from 1: the bitmaps of the warehouse are made of it. */
  readonly number: number;
  /** Null until one is said: a connected source may identify without it. */
  readonly email: string | null;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | null;
  /** Number of the account the user belongs to; 0 when none. */
  readonly account: number;
  readonly firstIdentifiedAtMs: number;
  readonly updatedAtMs: number;
  /** Counts the changes of this user, from 1. */
  readonly version: number;
}

export interface Account extends SaidTimes {
  readonly organization: number;
  readonly accountId: string;
  /** Dense within the organization, from 1. */
  readonly number: number;
  readonly name: string;
  readonly avatar: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  readonly version: number;
}

export interface UserAndAccount {
  readonly user: User;
  readonly account: Account | null;
}

/** Rows for one table of the warehouse, already serialized: one JSON array a line. */
export interface InboxRows {
  readonly table: WarehouseTable;
  /** The partition's year for events; 0 for tables without partitions. */
  readonly year: number;
  /** Version of the row's columns (see `warehouse/rows.ts`), so that old rows can be read after an upgrade. */
  readonly schema: number;
  readonly rows: number;
  readonly body: string;
}

export type WarehouseTable = "events" | "users" | "accounts" | "user_versions";

/** How many events of one UTC day were acknowledged; what `doctor` compares the warehouse with. */
export interface DayCount {
  readonly organization: number;
  /** Days since 1970-01-01, UTC. */
  readonly utcDay: number;
  readonly events: number;
  /** Sum, modulo 2^32, of the last 32 bits of every event's id. */
  readonly checksum: number;
}

/** Rows of one table that are sent to the warehouse together, named by a number that is never used again. */
export interface FrozenBatch {
  readonly number: number;
  readonly table: WarehouseTable;
  readonly year: number;
  readonly schema: number;
  readonly rows: number;
  readonly bytes: number;
  /** The batch's rows are the inbox's in (afterInboxId, uptoInboxId] with its table, year and schema. */
  readonly afterInboxId: number;
  readonly uptoInboxId: number;
}

/** A row that the warehouse will not take, kept with the reason. */
export interface DeadLetter {
  readonly table: WarehouseTable;
  readonly row: string;
  readonly reason: string;
}

/** What the loader may do. It is served across the process boundary, so every answer is plain data. */
export interface Inbox {
  /** Freezes what waits, at most `maxRows` rows and some tens of megabytes, and returns all frozen batches
   * that are not finished, oldest first. Freezing and moving the position are one commit. */
  freeze(maxRows: number): Promise<readonly FrozenBatch[]>;
  /** The rows of a frozen batch: newline-delimited JSON arrays in inbox order, the same bytes every time. */
  read(batch: FrozenBatch): Promise<Buffer>;
  /** The batch is in the warehouse, but for its dead letters. Finishing twice changes nothing.
   * @throws Refusal when the dead letters are full: the batch stays, and so do its rows. */
  finish(batchNumber: number, deadLetters: readonly DeadLetter[]): Promise<void>;
  /** What waits, frozen or not: rows and bytes, and the inbox id of the newest row ever written. */
  backlog(): Promise<Backlog>;
}

export interface Backlog {
  readonly rows: number;
  readonly bytes: number;
  readonly newestInboxId: number;
  /** Every row up to this inbox id is in the warehouse. */
  readonly loadedUptoInboxId: number;
}

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
  readonly people: PeopleStore;
  readonly entrance: EntranceStore;
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
type OwnStores = "people" | "entrance" | "views" | "sources" | "sourceSettings" | "identities";

/** What the other processes of an installation may ask of the ledger; only intake writes to it. */
export interface SharedLedger extends Omit<Ledger, OwnCalls | OwnStores> {
  readonly tokens: SharedCredentials;
  readonly readKeys: SharedCredentials;
  readonly warnings: Omit<WarningStore, "add">;
  readonly people: SharedPeople;
  readonly sources: Omit<SourceStore, "add">;
}

/** Nobody signs in but through the process that serves people. */
type SharedPeople = Omit<
  PeopleStore,
  "find" | "change" | "membershipsOf" | "membership" | "found" | "setRole" | "uninvite" | "addClaimLink"
>;
type SharedCredentials = Omit<Credentials, "find" | "touch">;

export interface Populations {
  readonly users: number;
  readonly userVersions: number;
  readonly accounts: number;
  readonly accountVersions: number;
  /** What was appended to `user_versions`, to which not every version of a user is; null when it is not known,
   * because the organization is older than the count. */
  readonly versionRows: VersionRows | null;
}

/** What can be changed of an organization; what is not given stays. */
export type OrganizationChange = Partial<
  Pick<Organization, "name" | "timezone" | "requestsPerSecond" | "itemsPerSecondSet" | "keepEventsDays">
>;

/** What members and the command line change, and its entry in the audit log, are one commit. */
export interface Organizations {
  list(): Promise<readonly Organization[]>;
  /** Undefined when there is none with this id. */
  find(id: number): Promise<Organization | undefined>;
  /** @throws Refusal when the name is taken. */
  create(organization: { name: string; timezone: string; nowMs: number }, by: Actor): Promise<Organization>;
  /** Changes what is given. A new timezone marks the organization for a rebuild of its days.
   * @throws Refusal when the new name is taken or the organization does not exist. */
  set(id: number, change: OrganizationChange, by: Actor, nowMs: number): Promise<Organization>;
  /** Raw events before this day are going to be deleted: to be said before the first one is. */
  eventsDropped(id: number, beforeDay: number): Promise<void>;
}

/** Something that was asked for cannot be done, and the message says why in words for a person. */
export class Refusal extends Error {
  override readonly name = "Refusal";
}
