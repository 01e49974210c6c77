/** Reads a log of entities, events and times, and loads it into a warehouse as the service's events. */

import { Refusal } from "../../contract/refusal.ts";
import type { Zone } from "../../server/calendar/zone.ts";
import { refuseMissingColumns } from "../../server/features/imports/reading/mapping.ts";
import type { ReadRow, Row, RowSource } from "../../server/features/imports/reading/row.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { computeSubscriptions } from "../../server/warehouse/upkeep/subscriptions.ts";
import { billingOf, type LogBilling } from "./billing.ts";
import { notATime, timeOf } from "./time.ts";

/** The roles of columns. */
export interface LogColumns {
  readonly entity: string;
  readonly time: string;
  /** With it, an entity is a user at an account. */
  readonly account?: string;
  /** Without it, all events are the same. */
  readonly event?: string;
  /** Without it, no event is a billing event. */
  readonly properties?: string;
}

/** The result of loading. */
export interface LoadedLog {
  readonly rows: number;
  /** Among the rows. They are no activity. */
  readonly billingEvents: number;
  /** Rows without an entity. */
  readonly rowsWithoutEntity: number;
  readonly entities: number;
  readonly accounts: number;
  /** Days since 1970-01-01 of the first activity, and of the day after the last. */
  readonly firstDay: number;
  readonly endDay: number;
  /** Whether a first row without a time was taken for a header and left out. */
  readonly leftOutHeader: boolean;
  /** The names of events, at most the first 1,000. */
  readonly events: ReadonlySet<string>;
  /** The numbers of a user: one for each of its accounts. */
  readonly numbersOf: (user: string) => readonly number[];
  /** Undefined for an account without events. */
  readonly accountNumberOf: (account: string) => number | undefined;
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

/** Loads the whole log, and computes its subscriptions. @throws Refusal for a row that cannot be read, naming
 * its line */
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
  let [rowsWithoutEntity, billingEvents] = [0, 0];
  let firstDay = Number.POSITIVE_INFINITY;
  let lastDay = Number.NEGATIVE_INFINITY;
  let leftOutHeader = false;
  let isFirst = true;
  for await (const row of rows) {
    if (isFirst && !("unreadable" in row)) refuseMissingColumns(Object.values(columns), row.columns);
    const cells = cellsOf(row, columns, zone);
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
    const ownAccount = columns.account === undefined ? 0 : accounts.of(cells.account);
    const known = users.size;
    const user = users.of(`${ownAccount} ${cells.entity}`);
    if (user > known) numbers.set(cells.entity, [...(numbers.get(cells.entity) ?? []), user]);
    if (events.size < maxNames) events.add(cells.event);
    count += 1;
    const { billing } = cells;
    if (billing === undefined) {
      firstDay = Math.min(firstDay, day);
      lastDay = Math.max(lastDay, day);
    } else {
      billingEvents += 1;
    }
    const account = billing?.payer === undefined ? ownAccount : accounts.of(billing.payer);
    await batch.add({ user, account, event: cells.event, timeMs, day, billing });
    if (count % 1_000 === 0) onProgress(count);
  }
  await batch.insert();
  if (billingEvents > 0) await computeSubscriptions(warehouse, { organization, timezone: zone.name });
  return {
    rows: count,
    billingEvents,
    rowsWithoutEntity,
    entities: users.size,
    accounts: accounts.size,
    leftOutHeader,
    firstDay,
    endDay: lastDay + 1,
    events,
    numbersOf: (user) => numbers.get(user) ?? [],
    accountNumberOf: (account) => accounts.known(account),
  };
}

/** Numbers for names, from 1 in the order of their appearance. */
class Numbers {
  readonly #numbers = new Map<string, number>();

  get size(): number {
    return this.#numbers.size;
  }

  known(name: string): number | undefined {
    return this.#numbers.get(name);
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
  readonly billing: LogBilling | undefined;
}

/** Rows on their way into the warehouse. */
class Batch {
  readonly #warehouse: Warehouse;
  #lines: string[] = [];
  #inserted = 0;

  constructor(warehouse: Warehouse) {
    this.#warehouse = warehouse;
  }

  async add({ billing, ...event }: LogEvent): Promise<void> {
    const id = (this.#inserted + this.#lines.length).toString(16).padStart(32, "0");
    const { timeMs: receivedAtMs } = event;
    const [properties, isActivity] = [billing?.properties ?? "{}", billing === undefined];
    this.#lines.push(
      eventRow({ organization, ...event, receivedAtMs, id, messageId: null, properties, isActivity }),
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
  readonly billing: LogBilling | undefined;
}

const eventWithoutName = "event";

function cellsOf(row: Row, columns: LogColumns, zone: Zone): Cells {
  if ("unreadable" in row) throw new Refusal(`line ${row.line}: ${row.unreadable}`);
  const event = (columns.event === undefined ? "" : textOf(row, columns.event)) || eventWithoutName;
  return {
    entity: textOf(row, columns.entity),
    account: columns.account === undefined ? "" : textOf(row, columns.account),
    event,
    time: row.cells[row.columns.indexOf(columns.time)],
    billing: billingOf(row, event, columns.properties, zone),
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
