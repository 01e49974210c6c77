/** Reads a SQLite ledger, to move it to PostgreSQL. No other process may have it open. */
import { Database } from "bun:sqlite";
import { dirname, join } from "node:path";
import { limits } from "../../../contract/limits.ts";
import type { MessageIdHash } from "../rules/message-id-hash.ts";
import { idsInRun } from "./message-id-run.ts";
import { hashesIn } from "./message-ids.ts";

const memoryMs = limits.messageIdMemoryHours * 3_600_000;

export type StoredValue = string | number | null | Uint8Array;
export type StoredRow = Readonly<Record<string, StoredValue>>;

export class MovingOut {
  readonly #db: Database;
  readonly #runs: string;

  /** Reads a ledger with the present form and an empty journal. It has them after it was opened and closed.
   * @param file the database */
  constructor(file: string) {
    this.#db = new Database(file, { readonly: true, strict: true });
    this.#runs = join(dirname(file), "message-ids");
  }

  /** The names of all tables of the ledger. */
  tables(): readonly string[] {
    return this.#db
      .query<{ name: string }, []>(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name",
      )
      .all()
      .map(({ name }) => name);
  }

  columns(table: string): readonly string[] {
    return this.#db
      .query<{ name: string }, [string]>("SELECT name FROM pragma_table_info(?) ORDER BY cid")
      .all(table)
      .map(({ name }) => name);
  }

  /** The number of a table's rows. */
  count(table: string): number {
    return this.#db.query<{ rows: number }, []>(`SELECT count(*) AS rows FROM "${table}"`).get()?.rows ?? 0;
  }

  rows(table: string): IterableIterator<StoredRow> {
    return this.#db.query<StoredRow, []>(`SELECT * FROM "${table}"`).iterate();
  }

  /** The highest id that a table ever assigned. 0 if there is none, or no counter. */
  lastId(table: string): number {
    const [stored] = this.#db
      .query<{ seq: number }, [string]>("SELECT seq FROM sqlite_sequence WHERE name = ?")
      .all(table);
    return stored?.seq ?? 0;
  }

  /** The message ids of the last 24 hours, newest first. An id may occur twice. */
  *messageIds(nowMs: number): Iterable<{ readonly hash: MessageIdHash; readonly atMs: number }> {
    const runs = this.#db
      .query<{ last: number; file: string }, []>(
        "SELECT last_sequence AS last, file FROM message_id_runs ORDER BY last_sequence DESC",
      )
      .all();
    const commits = this.#db.query<{ atMs: number; ids: Uint8Array }, [number, number]>(
      `SELECT committed_at_ms AS atMs, ids FROM message_ids
       WHERE sequence > ? AND committed_at_ms > ? ORDER BY sequence DESC`,
    );
    for (const { ids, atMs } of commits.iterate(runs[0]?.last ?? 0, nowMs - memoryMs)) {
      for (const hash of hashesIn(ids)) yield { hash, atMs };
    }
    for (const { file } of runs) {
      for (const { hash, atSecond } of idsInRun(join(this.#runs, file))) {
        if (atSecond * 1_000 > nowMs - memoryMs) yield { hash, atMs: atSecond * 1_000 };
      }
    }
  }

  /** The time until which ids were stored without their kind. 0 if none was. */
  messageKindsFromMs(): number {
    const kinds = this.#db.query<{ fromMs: number }, []>(
      "SELECT kinds_from_ms AS fromMs FROM message_id_kinds",
    );
    return kinds.get()?.fromMs ?? 0;
  }

  close(): void {
    this.#db.close();
  }
}
