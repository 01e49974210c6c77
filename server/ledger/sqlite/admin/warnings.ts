/** Ingestion warnings as they are stored: a row for each organization, UTC day, kind, endpoint and detail. */
import type { Database } from "bun:sqlite";
import { msPerDay } from "../../../calendar/calendar.ts";
import {
  type IngestionWarning,
  maxWarningDetails,
  type WarningKind,
  type WarningStore,
  warningsKeptDays,
} from "../../ports/warnings.ts";
import { inSmallSteps } from "../engine/small-steps.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import { isThere } from "./organizations.ts";

const deletedInAStep = 500;
/** About 2 ms of upserts in a commit. */
const addedInAStep = 200;

/** Stands for null, which could not be part of the key; no detail has half a character. */
const others = "";

function prepare(db: Database) {
  return {
    find: db.prepare<{ found: number }, [number, number, string, string, string]>(
      `SELECT 1 AS found FROM ingestion_warnings
       WHERE organization = ? AND utc_day = ? AND kind = ? AND endpoint = ? AND detail = ?`,
    ),
    details: db.prepare<{ count: number }, [number, number]>(
      "SELECT count(*) AS count FROM ingestion_warnings WHERE organization = ? AND utc_day = ?",
    ),
    add: db.prepare(
      `INSERT INTO ingestion_warnings (organization, utc_day, kind, endpoint, detail, count,
                                       first_seen_ms, last_seen_ms, message, user_id)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET
         count = count + excluded.count,
         first_seen_ms = min(first_seen_ms, excluded.first_seen_ms),
         last_seen_ms = max(last_seen_ms, excluded.last_seen_ms),
         message = excluded.message,
         user_id = excluded.user_id`,
    ),
    list: db.prepare<IngestionWarning, [number, string | null, number]>(
      `SELECT organization, utc_day AS utcDay, kind, endpoint, nullif(detail, '${others}') AS detail, count,
         first_seen_ms AS firstSeenMs, last_seen_ms AS lastSeenMs, message, user_id AS userId
       FROM ingestion_warnings WHERE organization = ?1 AND kind = coalesce(?2, kind)
       ORDER BY last_seen_ms DESC, kind, endpoint, detail LIMIT ?3`,
    ),
    exists: db.prepare<{ id: number }, [number]>(`SELECT id FROM organizations WHERE id = ? AND ${isThere}`),
    deleteOfUser: db.prepare("DELETE FROM ingestion_warnings WHERE organization = ? AND user_id = ?"),
    deleteOld: db.prepare<{ kind: string }, [number]>(
      `DELETE FROM ingestion_warnings
       WHERE (organization, utc_day, kind, endpoint, detail) IN (
         SELECT organization, utc_day, kind, endpoint, detail FROM ingestion_warnings
         WHERE utc_day < ? LIMIT ${deletedInAStep})
       RETURNING kind`,
    ),
  };
}

export class SqliteWarnings implements WarningStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #isErased: (organization: number, id: string) => boolean;

  /** @param isErased whether nobody may be named so any more; left out for warnings that name nobody */
  constructor(db: Database, isErased: (organization: number, id: string) => boolean = () => false) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#isErased = isErased;
  }

  async add(
    counted: readonly IngestionWarning[],
    written: (lines: number) => void = () => undefined,
  ): Promise<void> {
    const waiting = [...counted];
    await inSmallSteps(() => {
      const step = waiting.splice(0, addedInAStep);
      inTransaction(this.#db, () => {
        for (const warning of step) this.#add(warning);
      });
      written(step.length);
      return waiting.length > 0;
    });
    if (waiting.length > 0) await this.add(waiting, written);
  }

  /** Adds one, inside the caller's transaction. */
  count(warning: IngestionWarning): void {
    this.#add(warning);
  }

  async list(organization: number, limit: number, kind?: WarningKind): Promise<readonly IngestionWarning[]> {
    return this.#statements.list.all(organization, kind ?? null, limit);
  }

  /** Deletes what a user was the last to cause, inside the caller's transaction. @returns whether there was anything */
  forgetUser(organization: number, userId: string): boolean {
    return this.#statements.deleteOfUser.run(organization, userId).changes > 0;
  }

  /** Deletes what is older than 30 days. */
  async tidy(nowMs: number): Promise<void> {
    const firstKeptDay = Math.floor(nowMs / msPerDay) - warningsKeptDays;
    await inSmallSteps(() => this.#statements.deleteOld.all(firstKeptDay).length === deletedInAStep);
  }

  /** What was counted of an organization that is deleted by now is left out. */
  #add(warning: IngestionWarning): void {
    if (this.#statements.exists.get(warning.organization) === null) return;
    const { organization, utcDay, kind, endpoint, count, firstSeenMs, lastSeenMs, message } = warning;
    const detail = this.#detailOf(warning);
    const isNamed = warning.userId !== null && !this.#isErased(organization, warning.userId);
    this.#statements.add.run(
      ...[organization, utcDay, kind, endpoint, detail],
      ...[count, firstSeenMs, lastSeenMs, message, isNamed ? warning.userId : null],
    );
  }

  #detailOf({ organization, utcDay, kind, endpoint, detail }: IngestionWarning): string {
    if (detail === null) return others;
    if (this.#statements.find.get(organization, utcDay, kind, endpoint, detail) !== null) return detail;
    const { count } = this.#statements.details.get(organization, utcDay) ?? { count: 0 };
    return count < maxWarningDetails ? detail : others;
  }
}
