/**
 * The only path by which requests change the ledger. A pure function decides with its look-ups, and its
 * result is written as a whole. Events of known users go to the journal. Changes of a user, an account, an
 * import or held events go to SQLite, in ONE transaction.
 *
 * Invariant: in-memory caches change only after the write. These are the cache of known users, the table of
 * message ids and the inbox's totals. So no cache contains a failed transaction.
 */
import type { Database } from "bun:sqlite";
import { addedPopulations } from "../../rules/added-populations.ts";
import type { EventLabel } from "../../rules/held-events.ts";
import type { LastingId, MessageIdHash } from "../../rules/message-id-hash.ts";
import { advanceImport } from "../../stores/imports.ts";
import type { Message, Stored, Writes } from "../../transact.ts";
import type { SqliteInbox } from "../inbox.ts";
import type { Journal } from "../journal.ts";
import { bytesOf } from "../message-ids.ts";
import type { SqliteEngine } from "../store-engine.ts";
import { inTransaction } from "../sync-transaction.ts";
import type { WriteAheadLog } from "../write-ahead-log.ts";
import type { Counts } from "./counts.ts";
import { HashedMessage, LookedUp, type Sources } from "./stored.ts";

/** The parts of the ledger that a transaction reads and writes. */
export interface Parts extends Sources {
  readonly engine: SqliteEngine;
  readonly counts: Counts;
  readonly inbox: SqliteInbox;
  readonly log: WriteAheadLog;
  readonly journal: Journal;
}

export class Transactor {
  readonly #db: Database;
  readonly #parts: Parts;
  readonly #clock: () => number;
  /** The sync of the last commit of SQLite, until it has ended. */
  #committing: Promise<void> | undefined;

  constructor(db: Database, parts: Parts, clock: () => number) {
    this.#db = db;
    this.#parts = parts;
    this.#clock = clock;
  }

  /** When it resolves, all writes are on disk. If the decision or the write fails, nothing is, and no cache
   * has changed. If only the sync fails, the outcome is unknown, and every later transaction fails, too. */
  async transact(decide: (stored: Stored) => Writes): Promise<void> {
    const { journal, log, inbox } = this.#parts;
    journal.refuseFailed();
    log.refuseFailed();
    // It always grows and costs no page of its own. A transaction without rows does not change it, but has
    // made no event ids with it.
    const transaction = inbox.newestInboxId + 1;
    const stored = new LookedUp(this.#parts, transaction, this.#clock());
    const writes = decide(stored);
    const messages = writes.messages.map(hashed);
    const hashes = messages.map(({ hash }) => hash);
    const lasting = messages.flatMap(({ newForGood }) => newForGood ?? []);
    const messageIds = bytesOf(hashes);
    const isDone =
      isNothing(writes) ||
      (isEventsOnly(writes) &&
        lasting.length === 0 &&
        journal.append({
          firstInboxId: transaction,
          inbox: writes.inbox,
          dayCounts: writes.dayCounts,
          messageIds,
          nowMs: writes.nowMs,
        }));
    const sequence = isDone ? undefined : this.#commit(writes, stored, { messageIds, lasting });
    this.#remember(stored, writes, hashes, sequence);
    // A group without writes waits, too: the rows that it read may be written and not synced yet.
    const committing = this.#committing;
    if (isDone) await journal.synced();
    await committing;
  }

  /** Runs all writes in one transaction of SQLite. It is synced when `#committing` resolves.
   * @returns the sequence of its message ids. */
  #commit(writes: Writes, stored: LookedUp, { messageIds, lasting }: Ids): number | undefined {
    const { log, journal, inbox, counts, engine, heldEvents, messageIds: ids, lastingIds } = this.#parts;
    let labels: readonly EventLabel[] = [];
    journal.flush();
    const sequence = log.unsynced(() =>
      inTransaction(this.#db, () => {
        if (changesPeople(writes)) this.#writePeople(writes, stored);
        for (const id of lasting) lastingIds.write(id);
        if (writes.heldEvents !== undefined) labels = heldEvents.write(writes.heldEvents, writes.nowMs);
        inbox.append(writes.inbox);
        for (const count of writes.dayCounts) counts.addDay(count);
        if (writes.importProgress !== undefined) {
          engine.now(advanceImport(writes.importProgress, writes.nowMs));
        }
        for (const entry of writes.audit ?? []) engine.now(engine.audit.add(entry));
        return messageIds.length === 0 ? undefined : ids.write(messageIds, writes.nowMs);
      }),
    );
    heldEvents.eventLabels.remember(labels);
    const committing = log.synced().finally(() => {
      if (this.#committing === committing) this.#committing = undefined;
    });
    // The callers that await it get the failure. Without such a caller it must not be an unhandled rejection.
    committing.catch(() => undefined);
    this.#committing = committing;
    return sequence;
  }

  #writePeople(writes: Writes, stored: LookedUp): void {
    const { accounts, users, heldEvents, counts } = this.#parts;
    for (const account of writes.accounts) {
      accounts.write(account, stored.account(account.organization, account.accountId));
    }
    for (const user of writes.users) {
      const previous = stored.user(user.organization, user.userId);
      users.write(user, previous);
      if (previous === undefined || previous.email !== user.email) {
        heldEvents.identified(user.organization, user.userId, user.email);
      }
    }
    for (const [organization, totals] of addedPopulations(writes, stored)) {
      counts.addPopulations(organization, totals);
    }
    for (const { organization, ...rows } of writes.versionRows) counts.addVersionRows(organization, rows);
    for (const { organization, ...rows } of writes.accountVersionRows ?? []) {
      counts.addAccountVersionRows(organization, rows);
    }
  }

  #remember(
    stored: LookedUp,
    writes: Writes,
    hashes: readonly MessageIdHash[],
    sequence: number | undefined,
  ): void {
    const { knownUsers, inbox, messageIds } = this.#parts;
    for (const { organization, userId, known } of stored.found) {
      knownUsers.remember(organization, userId, known);
    }
    for (const { organization, userId, number, account } of writes.users) {
      knownUsers.remember(organization, userId, { number, account });
    }
    inbox.appended(writes.inbox);
    messageIds.remember(hashes, writes.nowMs);
    if (sequence !== undefined) messageIds.written(sequence);
  }
}

/** The message ids of a transaction. */
interface Ids {
  /** Hashes of all of them, as they are stored for 24 hours. */
  readonly messageIds: Uint8Array;
  /** Those that are remembered for good from now on. */
  readonly lasting: readonly LastingId[];
}

function hashed(message: Message): HashedMessage {
  if (message instanceof HashedMessage) return message;
  throw new Error("A message was written that this ledger did not look up.");
}

/** Whether the journal can take the writes. It numbers groups by their rows. */
function isEventsOnly(writes: Writes): boolean {
  return writes.inbox.length > 0 && !changesMore(writes);
}

function isNothing(writes: Writes): boolean {
  const { inbox, messages, dayCounts } = writes;
  return inbox.length + messages.length + dayCounts.length === 0 && !changesMore(writes);
}

function changesMore(writes: Writes): boolean {
  const { heldEvents, importProgress, audit } = writes;
  return changesPeople(writes) || [heldEvents, importProgress, audit].some((part) => part !== undefined);
}

function changesPeople({ users, accounts, versionRows, accountVersionRows = [] }: Writes): boolean {
  return users.length + accounts.length + versionRows.length + accountVersionRows.length > 0;
}
