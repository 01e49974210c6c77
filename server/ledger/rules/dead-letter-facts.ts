/**
 * What a dead letter says of itself: whose it is, and how it counts in what `doctor` compares. That is read once, when
 * the row is buried, so that nobody has to parse 256 MiB later.
 */

import { Refusal } from "../../../contract/refusal.ts";
import { msPerDay, Zone } from "../../calendar/calendar.ts";
import type { VersionRows } from "../ports/dead-letters.ts";
import type { DayCount, DeadLetter, InboxRows, WarehouseTable } from "../ports/inbox.ts";
import { columns } from "./warehouse-rows.ts";

/** What is kept at most. When it is full the loader keeps its batch and says so until there is room again. */
export interface DeadLetterLimits {
  readonly rows: number;
  readonly bytes: number;
}

export const defaultDeadLetterLimits: DeadLetterLimits = { rows: 100_000, bytes: 256 * 1024 * 1024 };

/** What a row says of itself; null where it cannot be read. */
export interface RowFacts {
  readonly organization: number;
  readonly utcDay: number | null;
  readonly checksum: number | null;
  readonly number: number | null;
  readonly version: number | null;
}

/** A dead letter as it is taken from where it was buried. */
export interface BuriedLetter extends RowFacts {
  readonly id: number;
  readonly table: WarehouseTable;
  readonly schema: number;
  readonly year: number;
  readonly bytes: number;
  readonly row: string;
}

type CountedLetter = Pick<BuriedLetter, "table" | "organization" | "utcDay" | "checksum" | "version">;
type VersionRowsOf = VersionRows & { readonly organization: number };

/** @throws Refusal when these letters have no room beside those that are kept. */
export function refuseFull(
  letters: readonly DeadLetter[],
  { rows, bytes }: { readonly rows: number; readonly bytes: number },
  limits: DeadLetterLimits,
): void {
  const newBytes = letters.reduce((sum, { row }) => sum + bytesOfRow(row), 0);
  if (rows + letters.length <= limits.rows && bytes + newBytes <= limits.bytes) return;
  throw new Refusal(
    `${letters.length} rejected events cannot be kept, because ${rows} are kept already. Retry or drop those ` +
      "(rekindle rejected-events list). Loading waits until then, and no row is lost.",
  );
}

/** Bytes of UTF-8 that a row takes in a body, with the end of its line. */
export function bytesOfRow(row: string): number {
  return Buffer.byteLength(row) + 1;
}

/** What a row of this table says of itself. @param schema version of the row's columns */
export function factsOf(table: WarehouseTable, schema: number, row: string): RowFacts {
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

/** What the letters add to the counts of what was acknowledged: their events by day, and their rows of `user_versions`. */
export function countsOf(letters: readonly CountedLetter[]): {
  readonly dayCounts: readonly DayCount[];
  readonly versionRows: readonly VersionRowsOf[];
} {
  const dayCounts: DayCount[] = [];
  const versionRows: VersionRowsOf[] = [];
  for (const { table, organization, utcDay, checksum, version } of letters) {
    if (table === "events" && utcDay !== null && checksum !== null) {
      dayCounts.push({ organization, utcDay, events: 1, checksum });
    }
    if (table === "user_versions" && version !== null) {
      versionRows.push({ organization, rows: 1, versions: version });
    }
  }
  return { dayCounts, versionRows };
}

/** The same of letters that are known to be one organization's, whatever they say of themselves. */
export function countsOfUser(
  organization: number,
  letters: readonly CountedLetter[],
): { readonly dayCounts: readonly DayCount[]; readonly versionRows: VersionRows } {
  const known = letters.map((letter) => ({ ...letter, organization, version: letter.version ?? 0 }));
  const { dayCounts, versionRows } = countsOf(known);
  const versions = versionRows.reduce((sum, row) => sum + row.versions, 0);
  return { dayCounts, versionRows: { rows: versionRows.length, versions } };
}

/** Letters of users and accounts themselves: what is remembered of them when they are dropped. */
export function versionsOf(letters: readonly BuriedLetter[]) {
  return letters.flatMap(({ organization, table, number, version }) =>
    (table === "users" || table === "accounts") && number !== null && version !== null
      ? [{ organization, table, number, version }]
      : [],
  );
}

/** The days with which what was counted is taken away again. */
export function takenAway(dayCounts: readonly DayCount[]): readonly DayCount[] {
  return dayCounts.map((day) => ({ ...day, events: -day.events, checksum: 2 ** 32 - day.checksum }));
}

/** Puts letters into rows for the inbox, as they would be written now: the timezone of an organization may be another
 * than it was. */
export class LettersAgain {
  readonly #zones = new Map<string, Zone>();

  /** @param timezoneOf of an organization; undefined when there is none */
  inboxRows(
    letters: readonly BuriedLetter[],
    timezoneOf: (organization: number) => string | undefined,
  ): InboxRows[] {
    const groups = Map.groupBy(letters, ({ table, schema, year }) => `${table} ${schema} ${year}`);
    return [...groups.values()].flatMap((group) => {
      const [first] = group;
      if (first === undefined) return [];
      const { table, schema, year } = first;
      const body = group
        .map((letter) => `${this.#today(letter, timezoneOf(letter.organization))}\n`)
        .join("");
      return [{ table, schema, year, rows: group.length, body }];
    });
  }

  #today({ table, schema, row }: BuriedLetter, timezone: string | undefined): string {
    if (timezone === undefined) return row;
    const zone = this.#zones.get(timezone) ?? new Zone(timezone);
    this.#zones.set(timezone, zone);
    return redated(table, schema, row, zone);
  }
}

/** An event's row with the day that it has in this timezone; what is no readable event stays as it is. */
function redated(table: WarehouseTable, schema: number, row: string, zone: Zone): string {
  const names = columns[table][schema - 1] ?? [];
  const [time, day] = [names.indexOf("time"), names.indexOf("day")];
  const values = table === "events" ? parsed(row) : undefined;
  if (!Array.isArray(values)) return row;
  const timeMs = wholeNumber(values[time]);
  return timeMs === null ? row : JSON.stringify(values.with(day, zone.dayOf(timeMs)));
}

/** A row without the account that it names; undefined when it names another, or none. */
export function rowWithoutAccount(
  { table, schema, row }: Pick<BuriedLetter, "table" | "schema" | "row">,
  account: number,
): string | undefined {
  const place = (columns[table][schema - 1] ?? []).indexOf("account");
  const values = parsed(row);
  if (!Array.isArray(values) || place === -1 || values[place] !== account) return undefined;
  return JSON.stringify(values.with(place, 0));
}

/** The first of them that have at most so many bytes together, but one even when it has more. */
export function withinBytes<Sized extends { readonly bytes: number }>(
  letters: Iterable<Sized>,
  maxBytes: number,
): Sized[] {
  const taken: Sized[] = [];
  let bytes = 0;
  for (const letter of letters) {
    bytes += letter.bytes;
    if (bytes > maxBytes && taken.length > 0) break;
    taken.push(letter);
  }
  return taken;
}

/** @returns what whoever names a dead letter that is none is told */
export function noDeadLetter(id: number): Refusal {
  return new Refusal(
    `There is no rejected event with the id ${id}: rekindle rejected-events list shows them.`,
  );
}

/** A row's values by their columns' names; undefined when it is no JSON array. */
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
