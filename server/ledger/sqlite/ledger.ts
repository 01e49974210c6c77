/** The ledger over one SQLite database. It passes each call to the part that implements it. */
import type { Database } from "bun:sqlite";
import { statSync } from "node:fs";
import type { Account, UserAndAccount } from "../entities.ts";
import type { Feature } from "../feature.ts";
import type { Inbox } from "../inbox.ts";
import type { Ledger, LedgerSnapshot } from "../ledger.ts";
import { LedgerStores, StoreTidy } from "../stores/stores.ts";
import type { Needs, Stored, Writes } from "../transact.ts";
import { FlushedInbox } from "./flushed-inbox.ts";
import { InboxTidy } from "./inbox-tidy.ts";
import { inboxWriter } from "./inbox-writer.ts";
import { takeSnapshot } from "./snapshot.ts";
import { SqliteDeletions } from "./write/deletions.ts";
import { SqliteErasures } from "./write/erasures.ts";
import { type Parts, Transactor } from "./write/transact.ts";

interface Sizes {
  readonly inboxMaxRetainedBytes: number;
  readonly maxHeldEventBytes: number;
}

export class SqliteLedger extends LedgerStores implements Ledger {
  readonly inbox: Inbox;
  readonly erasures: SqliteErasures;
  readonly deletions: SqliteDeletions;
  /** One group is written while the one before is synced. */
  readonly groupsAtOnce = 2;
  /** Transactions run one after another. */
  readonly locksOrganizations = false;
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #transactor: Transactor;
  readonly #inboxTidy: InboxTidy;
  readonly #storeTidy: StoreTidy;
  #tidying: Promise<void> | undefined;

  constructor(
    db: Database,
    parts: Parts,
    { inboxMaxRetainedBytes, maxHeldEventBytes }: Sizes,
    clock: () => number,
    features: readonly Feature[],
  ) {
    super(parts.engine, clock, inboxWriter(parts.inbox, parts.journal), features);
    this.#db = db;
    this.#parts = parts;
    this.#transactor = new Transactor(db, parts, clock);
    this.#inboxTidy = new InboxTidy(db, parts, inboxMaxRetainedBytes);
    this.#storeTidy = new StoreTidy(parts.engine, maxHeldEventBytes, features);
    this.inbox = new FlushedInbox(parts.inbox, parts.journal);
    this.erasures = new SqliteErasures(db, parts, this.#inboxTidy, clock, features);
    this.deletions = new SqliteDeletions(parts, this.#inboxTidy);
  }

  transact(_needs: Needs, decide: (stored: Stored) => Writes): Promise<void> {
    return this.#transactor.transact(decide);
  }

  /** A call waits until the last one has ended. */
  async tidy(nowMs: number): Promise<void> {
    this.#tidying ??= this.#tidy(nowMs).finally(() => {
      this.#tidying = undefined;
    });
    await this.#tidying;
  }

  async loadedUptoMs(): Promise<number | null> {
    return this.#parts.inbox.loadedUptoMs();
  }

  async findUser(organization: number, userId: string): Promise<UserAndAccount | undefined> {
    const user = this.#parts.users.find(organization, userId);
    if (user === undefined) return undefined;
    return { user, account: this.#parts.accounts.numbered(organization, user.account) ?? null };
  }

  async findAccount(organization: number, accountId: string): Promise<Account | undefined> {
    return this.#parts.accounts.find(organization, accountId);
  }

  async flush(): Promise<void> {
    this.#parts.journal.flush();
  }

  /** The file's number in its file system, and when it was made there (0 where that is unknown). A number may
   * be given again after its file was deleted. */
  async place(): Promise<string> {
    const { ino, birthtimeNs } = statSync(this.#db.filename, { bigint: true });
    return `file ${ino} of ${birthtimeNs}`;
  }

  async snapshot(folder: string): Promise<LedgerSnapshot> {
    await this.flush();
    return takeSnapshot(this.#db.filename, folder);
  }

  async close(): Promise<void> {
    // The earlier caller gets its failure. Here only its end matters.
    await this.#tidying?.catch(() => undefined);
    await this.#parts.journal.close();
    await this.#parts.log.close();
    this.#parts.messageIds.close();
    this.#inboxTidy.leaveNoLog();
    this.#db.close();
  }

  async #tidy(nowMs: number): Promise<void> {
    try {
      await this.#inboxTidy.deleteLoadedRows(nowMs);
      await this.#parts.messageIds.tidy(nowMs);
      for (const step of this.#storeTidy.steps(nowMs)) await step();
      await this.#inboxTidy.shrink();
    } finally {
      // It runs also after a failed deletion: on a full disk the checkpoint makes room in the log.
      this.#inboxTidy.checkpoint();
    }
  }
}
