/**
 * Groups of events that are acknowledged before SQLite has them. A commit of SQLite took 82 µs for a group of
 * 24 events, 58 of them for the seven pages of the log that each commit writes. An append to the journal
 * takes 8. One commit of SQLite writes many waiting groups.
 *
 *   appended and synced (acknowledged) → waiting, in memory → written into SQLite → resting, once SQLite's own log
 *   is synced. Then its space in the file is free
 *
 * Invariants. Inbox ids grow from group to group and from here to SQLite, so that after a crash the newest
 * one in SQLite shows which groups are missing. Reads of the inbox, the counts of days or the message ids in
 * SQLite flush the journal first. A group that SQLite rejects stays, and no group is appended until SQLite
 * has it.
 */
import type { Database } from "bun:sqlite";
import type { DayCount, InboxRows } from "../inbox.ts";
import type { SqliteInbox } from "./inbox.ts";
import { endedBody } from "./inbox-read.ts";
import { JournalFile, readRecords } from "./journal-file.ts";
import { decodeGroup, type EventGroup, encodeGroup } from "./journal-record.ts";
import { hashesIn, type MessageIds } from "./message-ids.ts";
import { inTransaction } from "./sync-transaction.ts";
import type { Counts } from "./write/counts.ts";
import type { WriteAheadLog } from "./write-ahead-log.ts";

/** The longest wait of a group. A commit for 100 ms of groups would cost nearly as much for each group. */
const flushAfterMs = 25;
/** To write these takes 2 ms, in which no request is answered. */
const maxWaitingRows = 2_000;
/** The pause after SQLite failed to write groups, for example on a full disk. */
const retryAfterMs = 1_000;

/** The destination of groups. */
export interface JournalTarget {
  readonly inbox: SqliteInbox;
  readonly counts: Counts;
  readonly messageIds: MessageIds;
  readonly log: WriteAheadLog;
}

export class Journal {
  readonly #db: Database;
  readonly #file: JournalFile;
  readonly #target: JournalTarget;
  readonly #space: Buffer;
  #waiting: EventGroup[] = [];
  #waitingRows = 0;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #isStuck = false;
  #isClosed = false;
  /** Groups up to this inbox id are in SQLite. */
  #flushedUpto = 0;
  /** Groups up to this inbox id are in SQLite, and its log is synced. */
  #restingUpto = 0;
  #isComingToRest = false;

  private constructor(db: Database, file: JournalFile, halfBytes: number, target: JournalTarget) {
    this.#db = db;
    this.#file = file;
    this.#space = Buffer.allocUnsafe(halfBytes);
    this.#target = target;
  }

  /** Opens the journal at `path`. First it writes the groups that a crash left there into SQLite.
   * @param halfBytes of each half of the file. A larger group goes to SQLite. */
  static async open(db: Database, path: string, halfBytes: number, target: JournalTarget): Promise<Journal> {
    const missing = groupsAfter(readRecords(path).map(decodeGroup), target.inbox.newestInboxId);
    for (const { messageIds, nowMs } of missing) target.messageIds.remember(hashesIn(messageIds), nowMs);
    writeGroups(db, missing, target);
    for (const { inbox } of missing) target.inbox.appended(inbox);
    // It also syncs groups that SQLite already had. The file must not be overwritten before they are on disk.
    target.log.syncNow();
    return new Journal(db, await JournalFile.open(path, halfBytes), halfBytes, target);
  }

  /**
   * Appends a group. The caller has called `refuseFailed`, and acknowledges the group after `synced`.
   * @returns false when there is no room, or SQLite rejects writes. Then the caller writes it to SQLite,
   * after a `flush`.
   */
  append(group: EventGroup): boolean {
    if (this.#isStuck) return false;
    const record = encodeGroup(group, this.#space);
    if (record === undefined) return false;
    if (!this.#file.append(record, lastInboxId(group), this.#restingUpto)) return false;
    this.#waiting.push(group);
    for (const { rows } of group.inbox) this.#waitingRows += rows;
    this.#flushAfter(this.#waitingRows < maxWaitingRows ? flushAfterMs : 0);
    return true;
  }

  /** @throws the error of an earlier sync, or an error after `close`: no write is allowed any more. */
  refuseFailed(): void {
    if (this.#isClosed) throw new Error("the ledger is closed");
    this.#file.refuseFailed();
  }

  /** Resolves when every group that was appended before the call is on disk. */
  synced(): Promise<void> {
    return this.#file.synced();
  }

  /** Writes the waiting groups into SQLite.
   * @throws Error when SQLite fails. The groups stay, and the journal tries again. */
  flush(): void {
    const last = this.#waiting.at(-1);
    if (last !== undefined) {
      this.#write();
      this.#flushedUpto = lastInboxId(last);
      this.#waiting = [];
      this.#waitingRows = 0;
      this.#stopTimer();
    }
    this.#bringToRest();
  }

  /** Overwrites the file, so that no group can be read from it. */
  erase(): void {
    this.flush();
    this.#target.log.syncNow();
    this.#file.erase();
  }

  /** Flushes, and removes the file. Then the database alone is the complete ledger, for administrators who
   * copy it. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stopTimer();
    try {
      this.flush();
      this.#target.log.syncNow();
    } catch {
      // It fails on a full disk, for example. The groups stay in the file, and the next start reads them.
      await this.#file.close();
      return;
    }
    await this.#file.remove();
  }

  #flushAfter(ms: number): void {
    if (this.#timer !== undefined && ms > 0) return;
    this.#stopTimer();
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      try {
        this.flush();
      } catch {
        // The next write or read throws the error.
        this.#flushAfter(retryAfterMs);
      }
    }, ms);
  }

  #stopTimer(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
  }

  #write(): void {
    this.#isStuck = true;
    this.#target.log.unsynced(() => writeGroups(this.#db, this.#waiting, this.#target));
    this.#isStuck = false;
  }

  /** Syncs SQLite's log, which frees the full half of the file. After a failure the log rejects all later
   * writes. */
  #bringToRest(): void {
    if (this.#isComingToRest || this.#file.fullUpto <= this.#restingUpto) return;
    const flushedUpto = this.#flushedUpto;
    this.#isComingToRest = true;
    this.#target.log
      .synced()
      .then(() => {
        this.#restingUpto = flushedUpto;
      })
      .catch(() => undefined)
      .finally(() => {
        this.#isComingToRest = false;
      });
  }
}

function lastInboxId({ firstInboxId, inbox }: EventGroup): number {
  return firstInboxId + inbox.length - 1;
}

/** The groups that follow an inbox id without a gap, in their order. No group after a gap was acknowledged:
 * the missing group was written earlier, and a sync covers all earlier writes. */
function groupsAfter(groups: readonly EventGroup[], inboxId: number): EventGroup[] {
  const following: EventGroup[] = [];
  let next = inboxId + 1;
  for (const group of groups.toSorted((a, b) => a.firstInboxId - b.firstInboxId)) {
    if (group.firstInboxId !== next) continue;
    following.push(group);
    next = lastInboxId(group) + 1;
  }
  return following;
}

/** One commit for many groups: their rows by table and year, each under the last of its inbox ids. */
function writeGroups(db: Database, groups: readonly EventGroup[], target: JournalTarget): void {
  if (groups.length === 0) return;
  const sequences = inTransaction(db, () => {
    for (const { inboxId, rows } of mergedRows(groups)) target.inbox.write(inboxId, rows);
    for (const count of mergedCounts(groups)) target.counts.addDay(count);
    return mergedIds(groups).map(({ ids, nowMs }) => target.messageIds.write(ids, nowMs));
  });
  const sequence = sequences.at(-1);
  if (sequence !== undefined) target.messageIds.written(sequence);
}

function mergedRows(groups: readonly EventGroup[]): { inboxId: number; rows: InboxRows }[] {
  const numbered = groups.flatMap(({ firstInboxId, inbox }) =>
    inbox.map((rows, index) => ({ inboxId: firstInboxId + index, rows })),
  );
  const byTable = Map.groupBy(numbered, ({ rows }) => `${rows.table} ${rows.year} ${rows.schema}`);
  const merged = [...byTable.values()].flatMap((same) => {
    const last = same.at(-1);
    if (last === undefined) return [];
    const body = same.map(({ rows }) => endedBody(rows.body)).join("");
    return {
      inboxId: last.inboxId,
      rows: { ...last.rows, rows: sumOf(same.map(({ rows }) => rows.rows)), body },
    };
  });
  return merged.sort((a, b) => a.inboxId - b.inboxId);
}

function mergedCounts(groups: readonly EventGroup[]): DayCount[] {
  const counts = groups.flatMap(({ dayCounts }) => dayCounts);
  const byDay = Map.groupBy(counts, ({ organization, utcDay }) => `${organization} ${utcDay}`);
  return [...byDay.values()].flatMap((same) => {
    const [first] = same;
    if (first === undefined) return [];
    const [events, checksum] = [sumOf(same.map((day) => day.events)), sumOf(same.map((day) => day.checksum))];
    return { ...first, events, checksum };
  });
}

/** Message ids by second, the precision in which they are kept. */
function mergedIds(groups: readonly EventGroup[]): { ids: Uint8Array; nowMs: number }[] {
  const withIds = groups.filter(({ messageIds }) => messageIds.length > 0);
  const bySecond = Map.groupBy(withIds, ({ nowMs }) => Math.ceil(nowMs / 1_000));
  return [...bySecond].map(([second, same]) => ({
    ids: Buffer.concat(same.map(({ messageIds }) => messageIds)),
    nowMs: second * 1_000,
  }));
}

function sumOf(numbers: readonly number[]): number {
  return numbers.reduce((sum, number) => sum + number, 0);
}
