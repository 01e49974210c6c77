/** The ledger's interface over one SQLite database: each question goes to the part that answers it. */
import type { Database } from "bun:sqlite";
import type {
  DayCount,
  DeadLetter,
  Ledger,
  LedgerSnapshot,
  Needs,
  Populations,
  Stored,
  UserAndAccount,
  Writes,
} from "../ledger.ts";
import { SqliteCredentials } from "./credentials.ts";
import { DeadLetters } from "./dead-letters.ts";
import { SqliteErasures } from "./erasures.ts";
import type { SqliteImports } from "./imports.ts";
import type { SqliteInbox } from "./inbox.ts";
import { InboxTidy } from "./inbox-tidy.ts";
import { SqliteOrganizations } from "./organizations.ts";
import { takeSnapshot } from "./snapshot.ts";
import { type Parts, Transactor } from "./transact.ts";

export class SqliteLedger implements Ledger {
  readonly organizations: SqliteOrganizations;
  readonly tokens: SqliteCredentials;
  readonly readKeys: SqliteCredentials;
  readonly inbox: SqliteInbox;
  readonly erasures: SqliteErasures;
  readonly imports: SqliteImports;
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #transactor: Transactor;
  readonly #deadLetters: DeadLetters;
  readonly #inboxTidy: InboxTidy;
  #tidying: Promise<void> | undefined;

  constructor(db: Database, parts: Parts, inboxMaxRetainedBytes: number, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#transactor = new Transactor(db, parts, clock);
    this.#deadLetters = new DeadLetters(db);
    this.#inboxTidy = new InboxTidy(db, parts.inbox, inboxMaxRetainedBytes);
    this.organizations = new SqliteOrganizations(db);
    this.tokens = new SqliteCredentials(db, this.organizations, "tokens");
    this.readKeys = new SqliteCredentials(db, this.organizations, "read_keys");
    this.inbox = parts.inbox;
    this.erasures = new SqliteErasures(db, parts, this.#inboxTidy, clock);
    this.imports = parts.imports;
  }

  transact(_needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    return this.#transactor.transact(decide);
  }

  /** A call while the last one still works waits for that one. */
  async tidy(nowMs: number): Promise<void> {
    this.#tidying ??= this.#tidy(nowMs).finally(() => {
      this.#tidying = undefined;
    });
    await this.#tidying;
  }

  async dayCounts(organization: number): Promise<readonly DayCount[]> {
    return this.#parts.counts.days(organization);
  }

  async populations(organization: number): Promise<Populations> {
    return this.#parts.counts.populations(organization);
  }

  async findUser(organization: number, userId: string): Promise<UserAndAccount | undefined> {
    const user = this.#parts.users.find(organization, userId);
    if (user === undefined) return undefined;
    return { user, account: this.#parts.accounts.numbered(organization, user.account) ?? null };
  }

  async deadLetters(
    limit: number,
  ): Promise<readonly (DeadLetter & { readonly id: number; readonly atMs: number })[]> {
    return this.#deadLetters.newest(limit);
  }

  async deadLetterCount(): Promise<number> {
    return this.#deadLetters.count();
  }

  snapshot(folder: string): Promise<LedgerSnapshot> {
    return takeSnapshot(this.#db.filename, folder);
  }

  async rebuildsPending(): Promise<readonly number[]> {
    return this.organizations.rebuildsPending();
  }

  async rebuildBegun(organization: number): Promise<void> {
    await this.organizations.rebuildBegun(organization);
  }

  async rebuildDone(organization: number, timezone: string): Promise<void> {
    await this.organizations.rebuildDone(organization, timezone);
  }

  async close(): Promise<void> {
    // Whoever called `tidy` hears of its failure; here only its end matters.
    await this.#tidying?.catch(() => undefined);
    await this.#parts.log.close();
    this.#parts.messageIds.close();
    this.#db.close();
  }

  async #tidy(nowMs: number): Promise<void> {
    try {
      await this.#inboxTidy.deleteLoadedRows(nowMs);
      await this.#parts.messageIds.tidy(nowMs);
      await this.#inboxTidy.shrink();
    } finally {
      // Also when deleting failed: on a full disk it is the checkpoint that makes room in the log.
      this.#inboxTidy.checkpoint();
    }
  }
}
