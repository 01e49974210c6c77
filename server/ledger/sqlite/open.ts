/**
 * The ledger in one SQLite file. One process at a time opens it (intake, or the command line while no server
 * runs) and is its only writer. The analysis process also reads frozen rows (inbox-reader.ts).
 */
import { Database } from "bun:sqlite";
import { dirname, join } from "node:path";
import { limits } from "../../../contract/limits.ts";
import { systemTime } from "../../process/time.ts";
import type { Feature } from "../feature.ts";
import type { Ledger } from "../ledger.ts";
import { defaultRejectedEventLimits, type RejectedEventLimits } from "../rules/rejected-event-facts.ts";
import { SqliteInbox } from "./inbox.ts";
import { Journal } from "./journal.ts";
import { LastingIds } from "./lasting-ids.ts";
import { SqliteLedger } from "./ledger.ts";
import { MessageIds } from "./message-ids.ts";
import { migrate } from "./migrations/migrations.ts";
import { refuseUnfinishedRestore } from "./restoring.ts";
import { SqliteEngine } from "./store-engine.ts";
import { openingTrouble } from "./trouble.ts";
import { Accounts } from "./write/accounts.ts";
import { Counts } from "./write/counts.ts";
import { SqliteHeldEvents } from "./write/held-events.ts";
import { KnownOrganizations } from "./write/known-organizations.ts";
import { KnownUsers } from "./write/known-users.ts";
import { Tombstones } from "./write/tombstones.ts";
import { Users } from "./write/users.ts";
import { WriteAheadLog } from "./write-ahead-log.ts";

export interface SqliteLedgerOptions {
  /** The database. Runs of message ids are beside it in the folder `message-ids`. */
  readonly file: string;
  /** Loaded rows are kept for an hour, up to this many bytes. */
  readonly inboxMaxRetainedBytes?: number;
  /** The most users whose numbers are kept in memory, about 150 bytes each. */
  readonly knownUsersCapacity?: number;
  /** The most message ids of the table in memory (16 bytes each, in at most 2^20 slots). */
  readonly messageIdsPerRun?: number;
  /** Half the bytes of the journal, a file of events that SQLite does not have yet. The file is overwritten
   * from its start. */
  readonly journalHalfBytes?: number;
  readonly rejectedEventLimits?: RejectedEventLimits;
  /** The most bytes of one organization's held events. */
  readonly maxHeldEventBytes?: number;
  /** The most links of one organization to users who are not identified. */
  readonly maxWaitingLinks?: number;
  readonly clock?: () => number;
  readonly features: readonly Feature[];
}

const defaults = {
  inboxMaxRetainedBytes: 256 * 1024 * 1024,
  knownUsersCapacity: 262_144,
  // 2^20 slots are three quarters full at 786,432. Below that there has to be room for one more commit.
  messageIdsPerRun: 750_000,
  // Half a second at 40,000 events a second. After this time the half has to be durable in SQLite.
  journalHalfBytes: 4 * 1024 * 1024,
  maxHeldEventBytes: limits.heldEventBytesOfOrganization,
  maxWaitingLinks: limits.linksOfOrganization,
  rejectedEventLimits: defaultRejectedEventLimits,
  clock: systemTime.nowMs,
};

/**
 * Opens the ledger, or creates it, and runs the migrations.
 * @throws Refusal when the file is damaged, cannot be read or written, or was written by a newer version,
 * message ids of the last day are missing, or a restore into its folder was not finished.
 */
export async function openSqliteLedger(options: SqliteLedgerOptions): Promise<Ledger> {
  const { file, clock, features, ...sizes } = { ...defaults, ...options };
  refuseUnfinishedRestore(dirname(file));
  let db: Database | undefined;
  try {
    db = openDatabase(file, features);
    const log = WriteAheadLog.open(db, file);
    const engine = new SqliteEngine(db, log);
    const store = {
      engine,
      organizations: new KnownOrganizations(engine),
      users: new Users(db),
      accounts: new Accounts(db),
      knownUsers: new KnownUsers(sizes.knownUsersCapacity),
      messageIds: new MessageIds(db, join(dirname(file), "message-ids"), sizes.messageIdsPerRun, clock()),
      lastingIds: new LastingIds(db),
      tombstones: new Tombstones(db),
      heldEvents: new SqliteHeldEvents(db, engine, sizes.maxWaitingLinks),
      counts: new Counts(db),
      inbox: new SqliteInbox(db, clock, engine, sizes.rejectedEventLimits),
      log,
    };
    const parts = {
      ...store,
      journal: await Journal.open(db, `${file}-journaled`, sizes.journalHalfBytes, store),
    };
    return new SqliteLedger(db, parts, sizes, clock, features);
  } catch (error) {
    db?.close();
    throw openingTrouble(file, error) ?? error;
  }
}

function openDatabase(file: string, features: readonly Feature[]): Database {
  const db = new Database(file, { create: true, strict: true });
  try {
    db.run("PRAGMA busy_timeout = 5000");
    // It must be set before the first table: afterwards only a full VACUUM could change it. It makes a
    // commit's log a page longer (20 µs). After a long backlog, the warehouse can use the freed disk space.
    db.run("PRAGMA auto_vacuum = INCREMENTAL");
    db.run("PRAGMA journal_mode = WAL");
    db.run("PRAGMA synchronous = FULL");
    db.run("PRAGMA foreign_keys = ON");
    // Deleted rows are zeroed in pages that are written anyway, so it costs no time. Freed pages keep their
    // content until an erasure frees their disk space.
    db.run("PRAGMA secure_delete = FAST");
    // `tidy` makes the checkpoints. A commit makes one only after 64 MB of log without a checkpoint.
    db.run("PRAGMA wal_autocheckpoint = 16384");
    db.run(`PRAGMA journal_size_limit = ${16 * 1024 * 1024}`);
    db.run("PRAGMA cache_size = -32768");
    migrate(db, features);
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
