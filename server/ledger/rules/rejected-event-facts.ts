/**
 * Facts of a rejected event: its organization, and its part in the counts that `doctor` compares. They are
 * read once, when the row is rejected. So later reads need not parse 256 MiB.
 */

import { Refusal } from "../../../contract/refusal.ts";
import { msPerDay, Zone } from "../../calendar/zone.ts";
import type { DayCount, InboxRows, RejectedEvent, WarehouseTable } from "../inbox.ts";

import { propertiesWithoutPayer } from "./payer-in-properties.ts";
import { columns } from "./warehouse-rows.ts";

export interface StoredRejectedEvent extends RejectedEvent {
  readonly id: number;
  /** 0 if the organization cannot be read from the row. */
  readonly organization: number;
  readonly atMs: number;
}

/** Selects rejected events: those of `ids` or all, of one organization or of all organizations. */
export interface RejectedEventSelection {
  readonly organization?: number | undefined;
  readonly ids?: readonly number[] | undefined;
}

export type WhoseRejectedEvents = Pick<RejectedEventSelection, "organization">;

/** A user's or an account's version, by their number. */
export interface NumberedVersion {
  readonly number: number;
  readonly version: number;
}

/** The number of rows of `user_versions` or `account_versions`, and the sum of their versions. */
export interface VersionRows {
  readonly rows: number;
  readonly versions: number;
}

/** Acknowledged rows that the warehouse does not have, because they were rejected or dropped. */
export interface MissingRows {
  readonly rejectedEvents: number;
  readonly events: readonly DayCount[];
  readonly userVersions: VersionRows;
  readonly accountVersions: VersionRows;
  readonly users: readonly NumberedVersion[];
  readonly accounts: readonly NumberedVersion[];
}

/** Most rejected events that are kept. At the limit, the loader keeps its batch and reports it until there is
 * room. */
export interface RejectedEventLimits {
  readonly rows: number;
  readonly bytes: number;
}

export const defaultRejectedEventLimits: RejectedEventLimits = { rows: 100_000, bytes: 256 * 1024 * 1024 };

/** Facts of a row. Null if one cannot be read. */
export interface RowFacts {
  readonly organization: number;
  readonly utcDay: number | null;
  readonly checksum: number | null;
  readonly number: number | null;
  readonly version: number | null;
}

/** A rejected event as it is stored. */
export interface RejectedEventRow extends RowFacts {
  readonly id: number;
  readonly table: WarehouseTable;
  readonly schema: number;
  readonly year: number;
  readonly bytes: number;
  readonly row: string;
}

/** The facts of a rejected event that counts are made of. */
export type CountedRow = Pick<RejectedEventRow, "table" | "organization" | "utcDay" | "checksum" | "version">;
type VersionRowsOf = VersionRows & { readonly organization: number };

/** @throws Refusal when there is no room for these events beside the stored ones. */
export function refuseFull(
  events: readonly RejectedEvent[],
  { rows, bytes }: { readonly rows: number; readonly bytes: number },
  limits: RejectedEventLimits,
): void {
  const newBytes = events.reduce((sum, { row }) => sum + bytesOfRow(row), 0);
  if (rows + events.length <= limits.rows && bytes + newBytes <= limits.bytes) return;
  throw new Refusal(
    `There is no room for ${events.length} more rejected events beside ${rows}. Retry or drop those ` +
      "(rekindle rejected-events list). Loading waits until then, and no row is lost.",
  );
}

/** The UTF-8 bytes of a row in a body, with the end of its line. */
export function bytesOfRow(row: string): number {
  return Buffer.byteLength(row) + 1;
}

/** Facts of a row of this table. @param schema version of the row's columns */
export function factsOf(table: WarehouseTable, schema: number, row: string): RowFacts {
  const values = valuesOf(table, schema, row);
  const time = wholeNumber(values?.get("time"));
  const checksum = Number.parseInt(String(values?.get("id")).slice(-8), 16);
  const readable = table === "events" && time !== null && Number.isInteger(checksum);
  return {
    organization: wholeNumber(values?.get("organization")) ?? 0,
    utcDay: readable ? Math.floor(time / msPerDay) : null,
    checksum: readable ? checksum : null,
    number: wholeNumber(values?.get(isOfAccounts(table) ? "account" : "user")),
    version: wholeNumber(values?.get("version")),
  };
}

/** Whether the rows of a table are those of accounts. */
function isOfAccounts(table: WarehouseTable): boolean {
  return table === "accounts" || table === "account_versions";
}

/** The rejected events' part in the counts of acknowledged rows: their events by day, and their rows of
 * `user_versions` and `account_versions`. */
export function countsOf(events: readonly CountedRow[]): {
  readonly dayCounts: readonly DayCount[];
  readonly versionRows: readonly VersionRowsOf[];
  readonly accountVersionRows: readonly VersionRowsOf[];
} {
  const dayCounts: DayCount[] = [];
  const versionRows: VersionRowsOf[] = [];
  const accountVersionRows: VersionRowsOf[] = [];
  for (const { table, organization, utcDay, checksum, version } of events) {
    if (table === "events" && utcDay !== null && checksum !== null) {
      dayCounts.push({ organization, utcDay, events: 1, checksum });
    }
    if (table === "user_versions" && version !== null) {
      versionRows.push({ organization, rows: 1, versions: version });
    }
    if (table === "account_versions" && version !== null) {
      accountVersionRows.push({ organization, rows: 1, versions: version });
    }
  }
  return { dayCounts, versionRows, accountVersionRows };
}

/** The counts of rejected events that are known to be of one organization, whatever organization their rows
 * say. */
export function countsOfUser(
  organization: number,
  events: readonly CountedRow[],
): { readonly dayCounts: readonly DayCount[]; readonly versionRows: VersionRows } {
  const known = events.map((event) => ({ ...event, organization, version: event.version ?? 0 }));
  const { dayCounts, versionRows } = countsOf(known);
  const versions = versionRows.reduce((sum, row) => sum + row.versions, 0);
  return { dayCounts, versionRows: { rows: versionRows.length, versions } };
}

/** The versions of users and accounts in rejected events. They are stored when these are dropped. */
export function versionsOf(events: readonly RejectedEventRow[]) {
  return events.flatMap(({ organization, table, number, version }) =>
    (table === "users" || table === "accounts") && number !== null && version !== null
      ? [{ organization, table, number, version }]
      : [],
  );
}

/** Sums up counts: one entry for each organization and day. */
export function summed(dayCounts: readonly DayCount[]): readonly DayCount[] {
  const sums = new Map<string, DayCount>();
  for (const day of dayCounts) {
    const key = `${day.organization} ${day.utcDay}`;
    const { events, checksum } = sums.get(key) ?? { events: 0, checksum: 0 };
    sums.set(key, { ...day, events: events + day.events, checksum: (checksum + day.checksum) % 2 ** 32 });
  }
  return [...sums.values()];
}

/** Negative counts, which subtract these counts again. */
export function takenAway(dayCounts: readonly DayCount[]): readonly DayCount[] {
  return dayCounts.map((day) => ({ ...day, events: -day.events, checksum: 2 ** 32 - day.checksum }));
}

/** Turns rejected events into rows for the inbox, as they would be written now. The timezone of an
 * organization may have changed since. */
export class ResentEvents {
  readonly #zones = new Map<string, Zone>();

  /** @param timezoneOf the timezone of an organization. Undefined if there is no such organization */
  inboxRows(
    events: readonly RejectedEventRow[],
    timezoneOf: (organization: number) => string | undefined,
  ): InboxRows[] {
    const groups = Map.groupBy(events, ({ table, schema, year }) => `${table} ${schema} ${year}`);
    return [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { table, schema, year } = first;
      const body = group.map((event) => `${this.#today(event, timezoneOf(event.organization))}\n`).join("");
      return [{ table, schema, year, rows: group.length, body }];
    });
  }

  #today({ table, schema, row }: RejectedEventRow, timezone: string | undefined): string {
    if (timezone === undefined) return row;
    const zone = this.#zones.get(timezone) ?? new Zone(timezone);
    this.#zones.set(timezone, zone);
    return redated(table, schema, row, zone);
  }
}

/** An event's row with its day in this timezone. A row that is no readable event is returned unchanged. */
function redated(table: WarehouseTable, schema: number, row: string, zone: Zone): string {
  const names = columns[table][schema - 1] ?? [];
  const [time, day] = [names.indexOf("time"), names.indexOf("day")];
  const values = table === "events" ? parsed(row) : undefined;
  if (!Array.isArray(values)) return row;
  const timeMs = wholeNumber(values[time]);
  return timeMs === null ? row : JSON.stringify(values.with(day, zone.dayOf(timeMs)));
}

/** A row without its account. Undefined if it names another account, or none. */
export function rowWithoutAccount(
  { table, schema, row }: Pick<RejectedEventRow, "table" | "schema" | "row">,
  account: number,
): string | undefined {
  const names = columns[table][schema - 1] ?? [];
  const place = names.indexOf("account");
  const values = parsed(row);
  if (!Array.isArray(values) || place === -1 || values[place] !== account) return undefined;
  const without = values.with(place, 0);
  const properties = names.indexOf("properties");
  if (table === "events" && properties !== -1)
    without[properties] = propertiesWithoutPayer(values[names.indexOf("event")], values[properties]);
  return JSON.stringify(without);
}

/** The first items with at most this many bytes together. A first item with more is returned alone. */
export function withinBytes<Sized extends { readonly bytes: number }>(
  events: Iterable<Sized>,
  maxBytes: number,
): Sized[] {
  const taken: Sized[] = [];
  let bytes = 0;
  for (const event of events) {
    bytes += event.bytes;
    if (bytes > maxBytes && taken.length > 0) break;
    taken.push(event);
  }
  return taken;
}

/** The error for an unknown id of a rejected event. */
export function noRejectedEvent(id: number): Refusal {
  return new Refusal(
    `There is no rejected event with the id ${id}: rekindle rejected-events list shows them.`,
  );
}

/** A row's values by their columns' names. Undefined if it is no JSON array. */
function valuesOf(table: WarehouseTable, schema: number, row: string): Map<string, unknown> | undefined {
  const values = parsed(row);
  if (!Array.isArray(values)) return undefined;
  return new Map((columns[table][schema - 1] ?? []).map((name, index) => [name, values[index]]));
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
