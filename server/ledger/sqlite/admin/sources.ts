/** Counts of sources as they are stored: a row for each hour in which something came, and one for each source. */
import type { Database } from "bun:sqlite";
import { type SenderName, sourceLimits } from "../../../../contract/sources.ts";
import { msPerHour } from "../../../calendar/calendar.ts";
import type { Actor } from "../../ports/audit.ts";
import {
  type CountedHour,
  type SourceHour,
  type SourceStore,
  type SourceTotals,
  sourceRetiredNote,
} from "../../ports/sources.ts";
import { inSmallSteps } from "../engine/small-steps.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import { isThere } from "./organizations.ts";

const outcomes = `
    accepted INTEGER NOT NULL,
    parked INTEGER NOT NULL,
    duplicate INTEGER NOT NULL,
    rejected INTEGER NOT NULL,
    ignored INTEGER NOT NULL`;

/** What is added to the ledger by the migration that brings sources. No user is named in it. */
export const sourcesTables = `
  CREATE TABLE sources (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL,${outcomes},
    first_ms INTEGER NOT NULL,
    last_ms INTEGER NOT NULL,
    first_heard_ms INTEGER,
    last_heard_ms INTEGER,
    retired_at_ms INTEGER,
    PRIMARY KEY (organization, source)
  ) STRICT, WITHOUT ROWID;

  CREATE TABLE source_hours (
    organization INTEGER NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    source TEXT NOT NULL,
    utc_hour INTEGER NOT NULL,${outcomes},
    PRIMARY KEY (organization, source, utc_hour)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX source_hours_by_hour ON source_hours (utc_hour);
`;

/** About 2 ms in a commit. */
const addedInAStep = 200;
const deletedInAStep = 500;

const sums = ["accepted", "parked", "duplicate", "rejected", "ignored"]
  .map((outcome) => `${outcome} = ${outcome} + excluded.${outcome}`)
  .join(", ");
const columns = "accepted, parked, duplicate, rejected, ignored";

function prepare(db: Database) {
  return {
    exists: db.prepare<{ id: number }, [number]>(`SELECT id FROM organizations WHERE id = ? AND ${isThere}`),
    addHour: db.prepare(
      `INSERT INTO source_hours (organization, source, utc_hour, ${columns}) VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET ${sums}`,
    ),
    // min and max of two values are null when one of them is.
    addTotals: db.prepare(
      `INSERT INTO sources (organization, source, ${columns}, first_ms, last_ms, first_heard_ms, last_heard_ms)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET ${sums},
         first_ms = min(first_ms, excluded.first_ms),
         last_ms = max(last_ms, excluded.last_ms),
         first_heard_ms = coalesce(min(first_heard_ms, excluded.first_heard_ms), first_heard_ms, excluded.first_heard_ms),
         last_heard_ms = coalesce(max(last_heard_ms, excluded.last_heard_ms), last_heard_ms, excluded.last_heard_ms),
         retired_at_ms = iif(excluded.last_heard_ms > retired_at_ms, null, retired_at_ms)`,
    ),
    totals: db.prepare<SourceTotals, [number]>(
      `SELECT source, ${columns}, first_ms AS firstMs, last_ms AS lastMs, first_heard_ms AS firstHeardMs,
         last_heard_ms AS lastHeardMs, retired_at_ms AS retiredAtMs
       FROM sources WHERE organization = ? ORDER BY source`,
    ),
    hours: db.prepare<SourceHour, [number, number]>(
      `SELECT source, utc_hour AS utcHour, ${columns} FROM source_hours
       WHERE organization = ? AND utc_hour >= ? ORDER BY utc_hour, source`,
    ),
    retired: db.prepare<{ atMs: number | null }, [number, string]>(
      "SELECT retired_at_ms AS atMs FROM sources WHERE organization = ? AND source = ?",
    ),
    retire: db.prepare("UPDATE sources SET retired_at_ms = ? WHERE organization = ? AND source = ?"),
    deleteOld: db.prepare<{ hour: number }, [number]>(
      `DELETE FROM source_hours WHERE (organization, source, utc_hour) IN (
         SELECT organization, source, utc_hour FROM source_hours WHERE utc_hour < ? LIMIT ${deletedInAStep})
       RETURNING utc_hour AS hour`,
    ),
  };
}

export class SqliteSources implements SourceStore {
  readonly #db: Database;
  readonly #audit: SqliteAudit;
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database, audit: SqliteAudit) {
    this.#db = db;
    this.#audit = audit;
    this.#statements = prepare(db);
  }

  async add(
    counted: readonly CountedHour[],
    written: (lines: number) => void = () => undefined,
  ): Promise<void> {
    const waiting = [...counted];
    await inSmallSteps(() => {
      const step = waiting.splice(0, addedInAStep);
      inTransaction(this.#db, () => {
        for (const hour of step) this.#add(hour);
      });
      written(step.length);
      return waiting.length > 0;
    });
    if (waiting.length > 0) await this.add(waiting, written);
  }

  async totals(organization: number): Promise<readonly SourceTotals[]> {
    return this.#statements.totals.all(organization);
  }

  async hours(organization: number, fromUtcHour: number): Promise<readonly SourceHour[]> {
    return this.#statements.hours.all(organization, fromUtcHour);
  }

  async retire(
    organization: number,
    source: SenderName,
    by: Actor,
    nowMs: number,
  ): Promise<number | undefined> {
    return inTransaction(this.#db, () => {
      const before = this.#statements.retired.get(organization, source);
      if (before === null) return undefined;
      if (before.atMs !== null) return before.atMs;
      this.#statements.retire.run(nowMs, organization, source);
      this.#audit.note(organization, sourceRetiredNote(source), by, nowMs);
      return nowMs;
    });
  }

  /** Deletes the hours that are older than 8 weeks. */
  async tidy(nowMs: number): Promise<void> {
    const firstKeptHour = Math.floor(nowMs / msPerHour) - sourceLimits.keptHours;
    await inSmallSteps(() => this.#statements.deleteOld.all(firstKeptHour).length === deletedInAStep);
  }

  /** What was counted of an organization that is deleted by now is left out. */
  #add({ organization, source, utcHour, ...hour }: CountedHour): void {
    if (this.#statements.exists.get(organization) === null) return;
    const { accepted, parked, duplicate, rejected, ignored } = hour;
    const items = [accepted, parked, duplicate, rejected, ignored];
    this.#statements.addHour.run(organization, source, utcHour, ...items);
    const { firstMs, lastMs, firstHeardMs, lastHeardMs } = hour;
    this.#statements.addTotals.run(
      ...[organization, source, ...items, firstMs, lastMs, firstHeardMs, lastHeardMs],
    );
  }
}
