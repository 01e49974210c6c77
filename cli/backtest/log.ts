/** Reads a log of entities, events and times, and loads it into a warehouse as the service's events. */

import { Refusal } from "../../contract/refusal.ts";
import type { Zone } from "../../server/calendar/calendar.ts";
import { currentSchema, eventRow } from "../../server/ledger/ledger.ts";
import type { Warehouse } from "../../server/warehouse/warehouse.ts";
import { refuseMissingColumns } from "../import/mapping.ts";
import type { ReadRow, Row, RowSource } from "../import/row.ts";
import { notATime, timeOf } from "./time.ts";

/** The roles of columns. */
export interface LogColumns {
  readonly entity: string;
  readonly time: string;
  /** With it, an entity is a user at an account. */
  readonly account?: string;
  /** Without it, all events are the same. */
  readonly event?: string;
}

/** The result of loading. */
export interface LoadedLog {
  readonly rows: number;
  /** Rows without an entity. */
  readonly rowsWithoutEntity: number;
  readonly entities: number;
  readonly accounts: number;
  /** Days since 1970-01-01 of the first event, and of the day after the last. */
  readonly firstDay: number;
  readonly endDay: number;
  /** Whether a first row without a time was taken for a header and left out. */
  readonly leftOutHeader: boolean;
  /** The names of events, at most the first 1,000. */
  readonly events: ReadonlySet<string>;
  /** The numbers of an entity: one for each of its accounts. */
  readonly numbersOf: (entity: string) => readonly number[];
}

export interface LogSource {
  readonly rows: RowSource;
  readonly columns: LogColumns;
  /** Whether the first row has the columns' names. */
  readonly header: boolean;
  readonly zone: Zone;
}

/** The one organization of the warehouse. */
export const organization = 1;

/** Each insert makes parts for four rollups and for every year: few large ones. */
const rowsPerInsert = 200_000;
/** Names of events beyond are not collected. */
export const maxNames = 1_000;

/** Loads the whole log. @throws Refusal for a time that cannot be read, naming its line */
export async function loadLog(
  warehouse: Warehouse,
  { rows, columns, header, zone }: LogSource,
  onProgress: (rows: number) => void,
): Promise<LoadedLog> {
  const batch = new Batch(warehouse);
  const users = new Numbers();
  const accounts = new Numbers();
  const events = new Set<string>();
  const numbers = new Map<string, number[]>();
  let count = 0;
  let rowsWithoutEntity = 0;
  let firstDay = Number.POSITIVE_INFINITY;
  let lastDay = Number.NEGATIVE_INFINITY;
  let leftOutHeader = false;
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst && !("unreadable" in row)) refuseMissingColumns(Object.values(columns), row.columns);
    const cells = cellsOf(row, columns);
    const timeMs = timeOf(cells.time, zone);
    if (timeMs === undefined) {
      if (header || !isFirst) throw unreadableTime(row, columns, cells.time);
      leftOutHeader = true;
      isFirst = false;
      continue;
    }
    isFirst = false;
    if (cells.entity === "" || (columns.account !== undefined && cells.account === "")) {
      rowsWithoutEntity += 1;
      continue;
    }
    const day = zone.dayOf(timeMs);
    const account = columns.account === undefined ? 0 : accounts.of(cells.account);
    const known = users.size;
    const user = users.of(`${account} ${cells.entity}`);
    if (user > known) numbers.set(cells.entity, [...(numbers.get(cells.entity) ?? []), user]);
    if (events.size < maxNames) events.add(cells.event);
    count += 1;
    firstDay = Math.min(firstDay, day);
    lastDay = Math.max(lastDay, day);
    await batch.add({ user, account, event: cells.event, timeMs, day });
    if (count % 1_000 === 0) onProgress(count);
  }
  await batch.insert();
  return {
    ...{ rows: count, rowsWithoutEntity, entities: users.size, accounts: accounts.size, leftOutHeader },
    ...{ firstDay, endDay: lastDay + 1, events, numbersOf: (entity) => numbers.get(entity) ?? [] },
  };
}

/** Numbers for names, from 1 in the order of their appearance. */
class Numbers {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  of(name: string): number {
    const known = this.#numbers.get(name);
    if (known !== undefined) return known;
    this.#numbers.set(name, this.size + 1);
    return this.size;
  }
}

interface LogEvent {
  readonly user: number;
  readonly account: number;
  readonly event: string;
  readonly timeMs: number;
  readonly day: number;
}

/** Rows on their way into the warehouse. */
class Batch {
  readonly #warehouse: Warehouse;
  #lines: string[] = [];
  #inserted = 0;

  constructor(warehouse: Warehouse) {
    this.#warehouse = warehouse;
  }

  async add(event: LogEvent): Promise<void> {
    const id = (this.#inserted + this.#lines.length).toString(16).padStart(32, "0");
    const { timeMs: receivedAtMs } = event;
    this.#lines.push(
      eventRow({ organization, ...event, receivedAtMs, id, messageId: null, properties: "{}" }),
    );
    if (this.#lines.length === rowsPerInsert) await this.insert();
  }

  async insert(): Promise<void> {
    const rows = this.#lines.length;
    if (rows === 0) return;
    const body = Buffer.from(`${this.#lines.join("\n")}\n`);
    this.#lines = [];
    this.#inserted += rows;
    const token = String(this.#inserted);
    await this.#warehouse.insertFrozen({ table: "events", schema: currentSchema.events, rows, body, token });
  }
}

interface Cells {
  readonly entity: string;
  readonly account: string;
  readonly event: string;
  readonly time: unknown;
}

const eventWithoutName = "event";

function cellsOf(row: Row, columns: LogColumns): Cells {
  if ("unreadable" in row) throw new Refusal(`line ${row.line}: ${row.unreadable}`);
  return {
    entity: textOf(row, columns.entity),
    account: columns.account === undefined ? "" : textOf(row, columns.account),
    event: (columns.event === undefined ? "" : textOf(row, columns.event)) || eventWithoutName,
    time: row.cells[row.columns.indexOf(columns.time)],
  };
}

/** A cell as text, empty when there is none. */
function textOf(row: ReadRow, column: string): string {
  const cell = row.cells[row.columns.indexOf(column)] ?? "";
  if (typeof cell === "string" || typeof cell === "number") return String(cell);
  throw new Refusal(`line ${row.line}: the column ${JSON.stringify(column)} is neither text nor a number.`);
}

function unreadableTime({ line }: Row, { time }: LogColumns, cell: unknown): Refusal {
  return new Refusal(`line ${line}: the column ${JSON.stringify(time)} ${notATime(cell)}`);
}
