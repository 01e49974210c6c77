/** Lists rejected events, sends them again, and drops them. `finish` of the inbox writes them, in the commit that
 * finishes their batch. */
import type { Database } from "bun:sqlite";
import type { Actor } from "../../ports/audit.ts";
import type {
  DeadLetterSelection,
  DeadLetterStore,
  MissingRows,
  NumberedVersion,
  StoredDeadLetter,
  VersionRows,
} from "../../ports/dead-letters.ts";
import type { DayCount } from "../../ports/inbox.ts";
import { LetterEntries, type LetterEntry } from "../../rules/dead-letter-entries.ts";
import {
  type BuriedLetter,
  countsOf,
  LettersAgain,
  noDeadLetter,
  takenAway,
  versionsOf,
  withinBytes,
} from "../../rules/dead-letter-facts.ts";
import { nextTurn } from "../engine/small-steps.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { Parts } from "../write/transact.ts";

/** Rows of a step, which takes about 2 ms. Requests run between two steps. */
const stepRows = 200;
const stepBytes = 1024 * 1024;

const letterColumns = `id, organization, warehouse_table AS "table", schema, year, bytes, utc_day AS utcDay, checksum,
  number, version, row`;
/** Organization 0 selects the rows of all organizations. */
const ofOrganization = "(?1 = 0 OR organization = ?1)";
/** Leaves out rows that a pending erasure will delete: a row that is sent again meanwhile would come after it. */
const notErased = `NOT EXISTS (
  SELECT 1 FROM erasures
  WHERE erasures.organization = dead_letters.organization
    AND (erasures.account > 0 AND erasures.state = 'begun'
      OR CASE warehouse_table WHEN 'accounts' THEN erasures.account ELSE erasures.user END = dead_letters.number))`;

function prepare(db: Database) {
  return {
    newest: db.prepare<StoredDeadLetter, [number, number]>(
      `SELECT id, organization, at_ms AS atMs, warehouse_table AS "table", row, reason
       FROM dead_letters WHERE ${ofOrganization} ORDER BY id DESC LIMIT ?2`,
    ),
    count: db.prepare<{ count: number }, [number]>(
      `SELECT count(*) AS count FROM dead_letters WHERE ${ofOrganization}`,
    ),
    newestId: db.prepare<{ id: number | null }, []>("SELECT max(id) AS id FROM dead_letters"),
    next: db.prepare<BuriedLetter, [number, number, number]>(
      `SELECT ${letterColumns} FROM dead_letters
       WHERE ${ofOrganization} AND ${notErased} AND id > ?2 AND id <= ?3 ORDER BY id LIMIT ${stepRows}`,
    ),
    find: db.prepare<BuriedLetter, [number, number]>(
      `SELECT ${letterColumns} FROM dead_letters WHERE ${ofOrganization} AND ${notErased} AND id = ?2`,
    ),
    exists: db.prepare<{ id: number }, [number, number]>(
      `SELECT id FROM dead_letters WHERE ${ofOrganization} AND ${notErased} AND id = ?2`,
    ),
    remove: db.prepare("DELETE FROM dead_letters WHERE id = ?"),
    dropVersion: db.prepare(
      `INSERT INTO dropped_versions (organization, warehouse_table, number, version) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET version = max(version, excluded.version)`,
    ),
    missingEvents: db.prepare<DayCount, [number]>(
      `SELECT organization, utc_day AS utcDay, count(*) AS events, sum(checksum) % 4294967296 AS checksum
       FROM dead_letters WHERE organization = ? AND warehouse_table = 'events' AND utc_day IS NOT NULL
       GROUP BY utc_day ORDER BY utc_day`,
    ),
    missingVersionRows: db.prepare<VersionRows, [number]>(
      `SELECT count(*) AS rows, coalesce(sum(version), 0) AS versions
       FROM dead_letters WHERE organization = ? AND warehouse_table = 'user_versions'`,
    ),
    missingVersions: db.prepare<NumberedVersion, [number, string]>(
      `SELECT number, max(version) AS version FROM (
         SELECT number, version FROM dead_letters
         WHERE organization = ?1 AND warehouse_table = ?2 AND number IS NOT NULL AND version IS NOT NULL
         UNION ALL
         SELECT number, version FROM dropped_versions WHERE organization = ?1 AND warehouse_table = ?2)
       GROUP BY number ORDER BY number`,
    ),
  };
}

export class SqliteDeadLetters implements DeadLetterStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #parts: Pick<Parts, "inbox" | "counts" | "journal" | "engine" | "organizations">;
  readonly #again = new LettersAgain();

  constructor(db: Database, parts: Pick<Parts, "inbox" | "counts" | "journal" | "engine" | "organizations">) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#parts = parts;
  }

  async list({ organization = 0 }: DeadLetterSelection, limit: number): Promise<readonly StoredDeadLetter[]> {
    return this.#statements.newest.all(organization, limit);
  }

  async count({ organization = 0 }: DeadLetterSelection): Promise<number> {
    return this.#statements.count.get(organization)?.count ?? 0;
  }

  retry(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number> {
    return this.#inSteps(selection, new LetterEntries("retry", selection, by, nowMs), (letters) => {
      const again = this.#again.inboxRows(letters, (id) => this.#parts.organizations.find(id)?.timezone);
      this.#parts.inbox.append(again);
      return () => this.#parts.inbox.appended(again);
    });
  }

  drop(selection: DeadLetterSelection, by: Actor, nowMs: number): Promise<number> {
    return this.#inSteps(selection, new LetterEntries("drop", selection, by, nowMs), (letters) => {
      this.#forget(letters);
      return () => undefined;
    });
  }

  async missing(organization: number): Promise<MissingRows> {
    const { missingEvents, missingVersionRows, missingVersions, count } = this.#statements;
    return {
      deadLetters: count.get(organization)?.count ?? 0,
      events: missingEvents.all(organization),
      userVersions: missingVersionRows.get(organization) ?? { rows: 0, versions: 0 },
      users: missingVersions.all(organization, "users"),
      accounts: missingVersions.all(organization, "accounts"),
    };
  }

  /** Deletes the selected letters in steps. Each step is one commit with the writes of `work` and the entries. The function
   * that `work` returns is called after the commit. */
  async #inSteps(
    selection: DeadLetterSelection,
    entries: LetterEntries,
    work: (letters: readonly BuriedLetter[]) => () => void,
  ): Promise<number> {
    const next = this.#reader(selection);
    let done = 0;
    while (true) {
      let committed = () => {};
      let written: readonly LetterEntry[] = [];
      this.#parts.journal.flush();
      const taken = inTransaction(this.#db, () => {
        const letters = next();
        committed = work(letters);
        for (const { id } of letters) this.#statements.remove.run(id);
        written = this.#note(entries, letters);
        return letters.length;
      });
      entries.committed(written);
      committed();
      if (taken === 0) return done;
      done += taken;
      await nextTurn();
    }
  }

  /** Writes the entries of a step. */
  #note(entries: LetterEntries, letters: readonly BuriedLetter[]): readonly LetterEntry[] {
    const { engine } = this.#parts;
    return entries
      .after(letters)
      .filter(({ organization }) => this.#isKnown(organization))
      .map((entry) => {
        const { organization, id, note } = entry;
        if (id === undefined) {
          return {
            ...entry,
            id: engine.now(engine.audit.note(organization, note, entries.by, entries.atMs)),
          };
        }
        engine.now(engine.audit.update(id, note, entries.by));
        return entry;
      });
  }

  /** Reads the selected letters in steps, without those that are stored meanwhile. */
  #reader({ organization = 0, ids }: DeadLetterSelection): () => readonly BuriedLetter[] {
    if (ids === undefined) {
      const newest = this.#statements.newestId.get()?.id ?? 0;
      let after = 0;
      return () => {
        const letters = withinBytes(this.#statements.next.iterate(organization, after, newest), stepBytes);
        after = letters.at(-1)?.id ?? after;
        return letters;
      };
    }
    for (const id of ids) {
      if (this.#statements.exists.get(organization, id) === null) {
        throw noDeadLetter(id);
      }
    }
    const waiting = [...new Set(ids)];
    return () => {
      const found = waiting.splice(0, 1).map((id) => this.#statements.find.get(organization, id));
      return found.filter((letter) => letter !== null);
    };
  }

  /** Subtracts rows from the counts of acknowledged rows. The user or account itself stays in the ledger, and its next
   * version reaches the warehouse whole. So only the dropped version is stored. */
  #forget(taken: readonly BuriedLetter[]): void {
    const { counts } = this.#parts;
    const letters = taken.filter(({ organization }) => this.#isKnown(organization));
    const { dayCounts, versionRows } = countsOf(letters);
    for (const day of takenAway(dayCounts)) counts.addDay(day);
    for (const { organization, rows, versions } of versionRows) {
      counts.addVersionRows(organization, { rows: -rows, versions: -versions });
    }
    for (const { organization, table, number, version } of versionsOf(letters)) {
      this.#statements.dropVersion.run(organization, table, number, version);
    }
  }

  /** A row may name an organization that does not exist. */
  #isKnown(organization: number): boolean {
    return this.#parts.organizations.find(organization) !== undefined;
  }
}
