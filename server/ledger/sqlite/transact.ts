/**
 * The one way by which requests change the ledger: a pure function decides with what it looks up, and what
 * it returns is written, in ONE transaction of SQLite.
 *
 * Invariant: memory follows the disk. The cache of known users, the table of message ids and the inbox's
 * totals are told after the commit, so that a transaction that failed is remembered by nobody.
 */
import type { Database } from "bun:sqlite";
import type { Message, Stored, Writes } from "../transaction.ts";
import type { AddedPopulations, Counts } from "./counts.ts";
import type { SqliteImports } from "./imports.ts";
import type { SqliteInbox } from "./inbox.ts";
import type { MessageIdHash } from "./message-id-table.ts";
import { HashedMessage, LookedUp, type Sources } from "./stored.ts";
import { inTransaction } from "./transaction.ts";
import type { WriteAheadLog } from "./write-ahead-log.ts";

/** The parts of the ledger that a transaction reads and writes. */
export interface Parts extends Sources {
  readonly counts: Counts;
  readonly inbox: SqliteInbox;
  readonly imports: SqliteImports;
  readonly log: WriteAheadLog;
}

interface Written {
  readonly stored: LookedUp;
  readonly writes: Writes;
  readonly hashes: readonly MessageIdHash[];
  readonly messageIdSequence: number | undefined;
}

export class Transactor {
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #clock: () => number;

  constructor(db: Database, parts: Parts, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#clock = clock;
  }

  /** When it resolves everything is on disk; when deciding or writing fails nothing is, and no memory knows
   * of it. When only the sync fails the outcome is unknown, and every later transaction fails too. */
  async transact(decide: (stored: Stored) => Writes): Promise<void> {
    const { log } = this.#parts;
    const written = log.unsynced(() => inTransaction(this.#db, () => this.#decideAndWrite(decide)));
    this.#remember(written);
    // Also for a group that wrote nothing: what it found may be a commit that is not synced yet.
    await log.synced();
  }

  #decideAndWrite(decide: (stored: Stored) => Writes): Written {
    // The first inbox id that this transaction writes: it grows for ever and costs no page of its own. A
    // transaction that writes no rows leaves it as it was, and has made no event ids of it either.
    const transaction = this.#parts.inbox.newestInboxId + 1;
    const stored = new LookedUp(this.#parts, transaction, this.#clock());
    const writes = decide(stored);
    const hashes = writes.messages.map(hashOf);
    if (changesPeople(writes)) this.#writePeople(writes, stored);
    this.#parts.inbox.append(writes.inbox);
    for (const count of writes.dayCounts) this.#parts.counts.addDay(count);
    if (writes.importProgress !== undefined) {
      this.#parts.imports.advance(writes.importProgress, writes.nowMs);
    }
    const messageIdSequence =
      hashes.length === 0 ? undefined : this.#parts.messageIds.write(hashes, writes.nowMs);
    return { stored, writes, hashes, messageIdSequence };
  }

  #writePeople({ users, accounts, versionRows }: Writes, stored: LookedUp): void {
    const added = new Map<number, { -readonly [Total in keyof AddedPopulations]: number }>();
    const totalsOf = (organization: number) => {
      const totals = added.get(organization) ?? {
        users: 0,
        userVersions: 0,
        accounts: 0,
        accountVersions: 0,
      };
      added.set(organization, totals);
      return totals;
    };
    for (const account of accounts) {
      const previous = stored.account(account.organization, account.accountId);
      this.#parts.accounts.write(account, previous);
      const totals = totalsOf(account.organization);
      if (previous === undefined) totals.accounts += 1;
      totals.accountVersions += account.version - (previous?.version ?? 0);
    }
    for (const user of users) {
      const previous = stored.user(user.organization, user.userId);
      this.#parts.users.write(user, previous);
      const totals = totalsOf(user.organization);
      if (previous === undefined) totals.users += 1;
      totals.userVersions += user.version - (previous?.version ?? 0);
    }
    for (const [organization, totals] of added) this.#parts.counts.addPopulations(organization, totals);
    for (const { organization, ...rows } of versionRows) {
      this.#parts.counts.addVersionRows(organization, rows);
    }
  }

  #remember({ stored, writes, hashes, messageIdSequence }: Written): void {
    const { knownUsers, inbox, messageIds } = this.#parts;
    for (const { organization, userId, known } of stored.found) {
      knownUsers.remember(organization, userId, known);
    }
    for (const { organization, userId, number, account } of writes.users) {
      knownUsers.remember(organization, userId, { number, account });
    }
    inbox.appended(writes.inbox);
    if (messageIdSequence !== undefined) messageIds.remember(hashes, writes.nowMs, messageIdSequence);
  }
}

function hashOf(message: Message): MessageIdHash {
  if (message instanceof HashedMessage) return message.hash;
  throw new Error("A message was written that this ledger did not look up.");
}

function changesPeople({ users, accounts, versionRows }: Writes): boolean {
  return users.length + accounts.length + versionRows.length > 0;
}
