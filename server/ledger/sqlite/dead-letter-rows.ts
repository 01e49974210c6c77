/**
 * The table of dead letters, and what a row says of itself: whose it is, and how it counts in what `doctor`
 * compares. That is read once, when the row is buried, so that nobody has to parse 256 MiB later.
 */
import type { Database } from "bun:sqlite";
import type { Zone } from "../../calendar/zone.ts";
import { msPerDay } from "../../calendar/zone.ts";
import { columns } from "../../warehouse/warehouse.ts";
import { type DeadLetter, Refusal, type WarehouseTable } from "../ledger.ts";

/** What is kept at most. When it is full the loader keeps its batch and says so until there is room again. */
export interface DeadLetterLimits {
  readonly rows: number;
  readonly bytes: number;
}

/** What a row says of itself; null where it cannot be read. */
interface RowFacts {
  readonly organization: number;
  readonly utcDay: number | null;
  readonly checksum: number | null;
  readonly number: number | null;
  readonly version: number | null;
}

interface OldRow {
  readonly id: number;
  readonly table: WarehouseTable;
  readonly row: string;
}

function prepare(db: Database) {
  return {
    totals: db.prepare<{ rows: number; bytes: number }, []>(
      "SELECT count(*) AS rows, coalesce(sum(bytes), 0) AS bytes FROM dead_letters",
    ),
    bury: db.prepare(
      `INSERT INTO dead_letters (at_ms, batch, warehouse_table, row, reason, schema, year,
                                 bytes, organization, utc_day, checksum, number, version)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
    ),
    old: db.prepare<OldRow, []>(
      `SELECT id, warehouse_table AS "table", row FROM dead_letters WHERE bytes = 0`,
    ),
    describe: db.prepare(
      `UPDATE dead_letters SET year = ?2, bytes = ?3, organization = ?4, utc_day = ?5, checksum = ?6,
         number = ?7, version = ?8
       WHERE id = ?1`,
    ),
  };
}

export class DeadLetterRows {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #limits: DeadLetterLimits;

  constructor(db: Database, limits: DeadLetterLimits) {
    this.#statements = prepare(db);
    this.#limits = limits;
    for (const { id, table, row } of this.#statements.old.all()) {
      const facts = factsOf(table, 1, row);
      const year = facts.utcDay === null ? 0 : new Date(facts.utcDay * msPerDay).getUTCFullYear();
      this.#statements.describe.run(id, year, ...factColumns(row, facts));
    }
  }

  /** Buries the rows of a batch, inside the caller's transaction. @throws Refusal when there is no room. */
  bury(
    batch: { readonly number: number; readonly year: number; readonly schema: number },
    letters: readonly DeadLetter[],
    nowMs: number,
  ): void {
    if (letters.length === 0) return;
    this.#refuseFull(letters);
    for (const { table, row, reason } of letters) {
      this.#statements.bury.run(
        ...[nowMs, batch.number, table, row, reason, batch.schema, batch.year],
        ...factColumns(row, factsOf(table, batch.schema, row)),
      );
    }
  }

  #refuseFull(letters: readonly DeadLetter[]): void {
    const { rows, bytes } = this.#statements.totals.get() ?? { rows: 0, bytes: 0 };
    const newBytes = letters.reduce((sum, { row }) => sum + bytesOf(row), 0);
    if (rows + letters.length <= this.#limits.rows && bytes + newBytes <= this.#limits.bytes) return;
    throw new Refusal(
      `${letters.length} rows cannot be kept as dead letters, because ${rows} are there already: send those ` +
        "again or drop them (rekindle dead-letters list); until then loading waits, and nothing is lost.",
    );
  }
}

function bytesOf(row: string): number {
  return Buffer.byteLength(row) + 1;
}

function factColumns(row: string, { organization, utcDay, checksum, number, version }: RowFacts) {
  return [bytesOf(row), organization, utcDay, checksum, number, version];
}

/** A row's values by their columns' names; undefined when it is no JSON array. */
function valuesOf(table: WarehouseTable, schema: number, row: string): Map<string, unknown> | undefined {
  const values = parsed(row);
  if (!Array.isArray(values)) return undefined;
  return new Map((columns[table][schema - 1] ?? []).map((name, index) => [name, values[index]]));
}

function factsOf(table: WarehouseTable, schema: number, row: string): RowFacts {
  const values = valuesOf(table, schema, row);
  const time = wholeNumber(values?.get("time"));
  const checksum = Number.parseInt(String(values?.get("id")).slice(-8), 16);
  const readable = table === "events" && time !== null && Number.isInteger(checksum);
  return {
    organization: wholeNumber(values?.get("organization")) ?? 0,
    utcDay: readable ? Math.floor(time / msPerDay) : null,
    checksum: readable ? checksum : null,
    number: wholeNumber(values?.get(table === "accounts" ? "account" : "user")),
    version: wholeNumber(values?.get("version")),
  };
}

/** An event's row with the day that it has in this timezone; what is no readable event stays as it is. */
export function redated(table: WarehouseTable, schema: number, row: string, zone: Zone): string {
  const names = columns[table][schema - 1] ?? [];
  const [time, day] = [names.indexOf("time"), names.indexOf("day")];
  const values = table === "events" ? parsed(row) : undefined;
  if (!Array.isArray(values)) return row;
  const timeMs = wholeNumber(values[time]);
  return timeMs === null ? row : JSON.stringify(values.with(day, zone.dayOf(timeMs)));
}

function parsed(row: string): unknown {
  try {
    return JSON.parse(row);
  } catch {
    return undefined;
  }
}

function wholeNumber(value: unknown): number | null {
  return typeof value === "number" && Number.isSafeInteger(value) ? value : null;
}
