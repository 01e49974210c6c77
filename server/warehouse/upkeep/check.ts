/**
 * Compares, for one organization, the ledger's counts with the warehouse, and the events with their rollups.
 * Everything that was acknowledged has to be loaded: read the ledger's counts, then drain the inbox, then
 * call this. Rows may be loaded meanwhile: `settledOf` leaves out the differences that they make.
 *
 * These must be equal. For every UTC day, the number of acknowledged events and the checksum of their ids
 * equal those in the warehouse and among the rejected events together. The newest version of every user and
 * account is in the warehouse, unless it was rejected or dropped. Every row that was appended to
 * `user_versions` or `account_versions` (not every version of a user or an account is) is there or among the
 * rejected events.
 */

import { formatDay } from "../../calendar/days.ts";
import type { Populations } from "../../ledger/health.ts";
import type { DayCount } from "../../ledger/inbox.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { MissingRows, NumberedVersion, VersionRows } from "../../ledger/rules/rejected-event-facts.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { countsAsActivity } from "../schema/tables.ts";
import { type BillingDifference, billingDifferences, type SubscriptionsDifference } from "./check-billing.ts";
import { eventCounts } from "./event-counts.ts";
import { dayParameter, firstPossibleDay } from "./keep-events.ts";

/** The counts of everything that the ledger acknowledged. */
export interface Acknowledged {
  readonly dayCounts: readonly DayCount[];
  readonly populations: Populations;
  /** Rows that the warehouse cannot have; none when left out. */
  readonly missing?: MissingRows;
  /** The first day whose raw events are complete; null: all days. Earlier days cannot be compared. */
  readonly eventsFromDay?: number | null;
}

/** The ledger's counts of an organization. */
export async function acknowledgedOf(
  ledger: Pick<SharedLedger, "dayCounts" | "populations" | "rejectedEvents" | "organizations">,
  id: number,
): Promise<Acknowledged> {
  const [dayCounts, populations, missing, organization] = await Promise.all([
    ledger.dayCounts(id),
    ledger.populations(id),
    ledger.rejectedEvents.missing(id),
    ledger.organizations.find(id),
  ]);
  return { dayCounts, populations, missing, eventsFromDay: organization?.eventsFromDay ?? null };
}

interface CountAndSum {
  readonly count: number;
  /** For events the sum of their ids' last 32 bits, modulo 2^32; for users and accounts of their versions. */
  readonly sum: number;
}

/** The tables with the history of users and accounts. */
type VersionTable = "user_versions" | "account_versions";

export type Difference =
  | {
      readonly kind: "events";
      readonly utcDay: number;
      readonly ledger: CountAndSum;
      readonly warehouse: CountAndSum;
    }
  | {
      readonly kind: "users" | "accounts" | VersionTable;
      readonly ledger: CountAndSum;
      readonly warehouse: CountAndSum;
    }
  | {
      readonly kind: "user_event_days";
      readonly day: number;
      readonly events: number;
      readonly rollup: number;
      /** Counts can agree and belong to other users or events. */
      readonly otherUsersOrEvents: boolean;
    }
  | {
      readonly kind: "event_days" | "active_days";
      readonly day: number;
      /** Empty for active_days: any event. */
      readonly event: string;
      /** Users who are in only one of the two. */
      readonly users: number;
    }
  | {
      readonly kind: "user_spans";
      /** Users by the first and last days that the two have of them. */
      readonly spans: readonly { readonly days: readonly number[]; readonly users: number }[];
    }
  | BillingDifference
  | SubscriptionsDifference;

/** At most this many differences of one kind are listed. */
const maxDifferencesOfAKind = 1_000;

/** At most this many pairs of first and last days are counted: more than a year has. */
const maxSpans = 100_000;

/** A query's text has a limit of 256 KiB, parameters included. */
const numbersInAQuery = 5_000;

/** Everything that differs; empty when all agree. */
export async function checkOrganization(
  warehouse: Warehouse,
  organization: number,
  acknowledged: Acknowledged,
): Promise<Difference[]> {
  const fromDay = acknowledged.eventsFromDay ?? firstPossibleDay;
  const check = new Check(warehouse, organization, fromDay);
  return [
    ...(await check.events(acknowledged.dayCounts, acknowledged.missing?.events ?? [])),
    ...(await check.populations(acknowledged)),
    ...(await check.versions(acknowledged)),
    ...(await check.userEventDays()),
    ...(await check.eventDays()),
    ...(await check.activeDays()),
    ...(await check.userSpans()),
    ...(await billingDifferences(warehouse, organization, firstWholeUtcDay(fromDay))),
  ];
}

/** The ledger before and after a check, and the work of the loader during it. */
export interface DuringCheck {
  readonly before: Acknowledged & { readonly erasures: number };
  readonly after: Acknowledged;
  /** The days whose events were being loaded, in the organization's timezone. */
  readonly loadedDays: ReadonlySet<number>;
}

/** The part of a difference that is real: its rows were neither written, nor loaded, nor moved to or from the
 * rejected events during the check. A day that is left out is compared in the next night. @returns undefined
 * when nothing is left */
export function settledOf(found: Difference, during: DuringCheck): Difference | undefined {
  switch (found.kind) {
    case "users":
    case "accounts":
    case "user_versions":
    case "account_versions":
      return arePeopleSettled(during) ? found : undefined;
    case "subscriptions":
      return during.loadedDays.size === 0 ? found : undefined;
    case "events":
    case "billing_events":
      return isUtcDaySettled(found.utcDay, during) ? found : undefined;
    case "user_event_days":
    case "event_days":
    case "active_days":
      return during.loadedDays.has(found.day) ? undefined : found;
    case "user_spans": {
      const spans = found.spans.filter(({ days }) => !days.some((day) => during.loadedDays.has(day)));
      return spans.length === 0 ? undefined : { ...found, spans };
    }
  }
}

function arePeopleSettled({ before, after }: DuringCheck): boolean {
  // The ledger forgets a user first, and the warehouse when the check is over.
  return before.erasures === 0 && Bun.deepEquals(people(before), people(after));
}

function isUtcDaySettled(utcDay: number, { before, after }: DuringCheck): boolean {
  const dayIn = ({ dayCounts, missing }: Acknowledged) =>
    [dayCounts, missing?.events ?? []].map((days) => days.find((day) => day.utcDay === utcDay));
  return Bun.deepEquals(dayIn(before), dayIn(after));
}

function people({ populations, missing }: Acknowledged) {
  return [populations, missing?.users, missing?.accounts, missing?.userVersions, missing?.accountVersions];
}

/** A difference as a sentence. */
export function describeDifference(difference: Difference): string {
  switch (difference.kind) {
    case "events":
      return `events of ${formatDay(difference.utcDay)} (UTC): ${ledgerAndWarehouse(difference)}`;
    case "billing_events": {
      const { utcDay, events, rollup } = difference;
      return `billing_events of ${formatDay(utcDay)} (UTC): ${events} events, and the table has ${rollup} or other ones`;
    }
    case "subscriptions":
      return `subscriptions: the changes of ${difference.subscriptions} are not those of their billing events`;
    case "users":
    case "accounts":
    case "user_versions":
    case "account_versions":
      return `${difference.kind}: ${ledgerAndWarehouse(difference)}`;
    case "user_event_days": {
      const { day, events, rollup, otherUsersOrEvents } = difference;
      const which = otherUsersOrEvents && events === rollup ? ", of other users or other events" : "";
      return `user_event_days of ${formatDay(day)}: ${events} events, and the rollup has ${rollup}${which}`;
    }
    case "event_days":
      return `event_days of ${formatDay(difference.day)}, ${difference.event}: ${differingUsers(difference.users)}`;
    case "active_days":
      return `active_days of ${formatDay(difference.day)}: ${differingUsers(difference.users)}`;
    case "user_spans":
      return `user_spans: first or last day is not that of the events for ${usersOf(difference.spans)} users`;
  }
}

function ledgerAndWarehouse({ ledger, warehouse }: { ledger: CountAndSum; warehouse: CountAndSum }): string {
  if (ledger.count !== warehouse.count) {
    return `the ledger acknowledged ${ledger.count}, the warehouse has ${warehouse.count}`;
  }
  return `${ledger.count} in ledger and warehouse, but not the same: checksums ${ledger.sum} and ${warehouse.sum}`;
}

function usersOf(spans: readonly { readonly users: number }[]): number {
  return spans.reduce((sum, { users }) => sum + users, 0);
}

function differingUsers(users: number): string {
  return `${users} users are in the events only or in the rollup only`;
}

class Check {
  readonly #warehouse: Warehouse;
  readonly #organization: number;
  readonly #fromDay: number;

  constructor(warehouse: Warehouse, organization: number, fromDay: number) {
    this.#warehouse = warehouse;
    this.#organization = organization;
    this.#fromDay = fromDay;
  }

  async events(dayCounts: readonly DayCount[], missing: readonly DayCount[]): Promise<Difference[]> {
    const byDay = (counts: readonly DayCount[]) =>
      new Map(counts.map(({ utcDay, events, checksum }) => [utcDay, { count: events, sum: checksum }]));
    const stored = byDay(await eventCounts(this.#warehouse, this.#organization));
    const ledger = byDay(dayCounts);
    for (const { utcDay, events, checksum } of missing) {
      const { count, sum } = stored.get(utcDay) ?? none;
      stored.set(utcDay, { count: count + events, sum: (sum + checksum) % 2 ** 32 });
    }
    const firstWhole = firstWholeUtcDay(this.#fromDay);
    const days = [...new Set([...ledger.keys(), ...stored.keys()])]
      .filter((utcDay) => utcDay >= firstWhole)
      .sort((a, b) => a - b);
    return days.flatMap((utcDay): Difference[] => {
      const pair = { ledger: ledger.get(utcDay) ?? none, warehouse: stored.get(utcDay) ?? none };
      return agree(pair) ? [] : [{ kind: "events", utcDay, ...pair }];
    });
  }

  async populations({ populations, missing }: Acknowledged): Promise<Difference[]> {
    const differences: Difference[] = [];
    for (const [kind, ledger, versions] of [
      ["users", { count: populations.users, sum: populations.userVersions }, missing?.users],
      ["accounts", { count: populations.accounts, sum: populations.accountVersions }, missing?.accounts],
    ] as const) {
      const [stored = none] = await this.#rows<CountAndSum>(`
        SELECT count() AS count, sum(version) AS sum FROM ${kind} FINAL WHERE organization = {organization:UInt32}`);
      const warehouse = await this.#withMissing(kind, stored, versions ?? []);
      if (!agree({ ledger, warehouse })) differences.push({ kind, ledger, warehouse });
    }
    return differences;
  }

  /** The counts as they would be with the missing versions. */
  async #withMissing(
    kind: "users" | "accounts",
    stored: CountAndSum,
    missing: readonly NumberedVersion[],
  ): Promise<CountAndSum> {
    let { count, sum } = stored;
    const key = kind === "users" ? "user" : "account";
    for (let start = 0; start < missing.length; start += numbersInAQuery) {
      const some = missing.slice(start, start + numbersInAQuery);
      const rows = await this.#warehouse.rows<NumberedVersion>(
        `SELECT ${key} AS number, version FROM ${kind} FINAL
         WHERE organization = {organization:UInt32} AND ${key} IN {numbers:Array(UInt32)}`,
        { organization: this.#organization, numbers: some.map(({ number }) => number) },
      );
      const versions = new Map(rows.map(({ number, version }) => [number, version]));
      for (const { number, version } of some) {
        const there = versions.get(number);
        if (there === undefined) count += 1;
        sum += Math.max(0, version - (there ?? 0));
      }
    }
    return { count, sum };
  }

  async versions({ populations, missing }: Acknowledged): Promise<Difference[]> {
    const { versionRows, accountVersionRows } = populations;
    return [
      ...(await this.#versions("user_versions", versionRows, missing?.userVersions)),
      ...(await this.#versions("account_versions", accountVersionRows, missing?.accountVersions)),
    ];
  }

  async #versions(
    kind: VersionTable,
    counted: VersionRows | null,
    missing: VersionRows = { rows: 0, versions: 0 },
  ): Promise<Difference[]> {
    if (counted === null) return [];
    const [stored = none] = await this.#rows<CountAndSum>(`
      SELECT count() AS count, sum(version) AS sum FROM ${kind} WHERE organization = {organization:UInt32}`);
    const ledger = { count: counted.rows, sum: counted.versions };
    const warehouse = { count: stored.count + missing.rows, sum: stored.sum + missing.versions };
    return agree({ ledger, warehouse }) ? [] : [{ kind, ledger, warehouse }];
  }

  /** Checks the rows, and the counts that the engine stores separately beside them. */
  async userEventDays(): Promise<Difference[]> {
    const rows = await this.#rowsOfDays<{ day: number; events: number; rollup: number; same: boolean }>(`
      SELECT toInt32(day) AS day, sum(fromEvents) AS events, sum(fromRollup) AS rollup,
        sum(eventHash) = sum(rollupHash) AND sum(nameHash) = sum(countsHash) AS same
      FROM (
        SELECT day, count() AS fromEvents, sum(cityHash64(user, event, account)) AS eventHash,
          sum(cityHash64(event)) AS nameHash, 0 AS fromRollup, 0 AS rollupHash, 0 AS countsHash
        FROM events WHERE ${ofDays} AND ${countsAsActivity} GROUP BY day
        UNION ALL
        SELECT day, 0, 0, 0, sum(count), sum(cityHash64(user, event, account) * count), 0
        FROM user_event_days WHERE ${ofDays} GROUP BY day
        UNION ALL
        SELECT day, 0, 0, 0, 0, 0, sum(cityHash64(event) * times)
        FROM (SELECT event, day, sum(count) AS times FROM user_event_days WHERE ${ofDays} GROUP BY event, day)
        GROUP BY day)
      GROUP BY day HAVING events != rollup OR NOT same ORDER BY day LIMIT ${maxDifferencesOfAKind}`);
    return rows.map(({ day, events, rollup, same }) => ({
      kind: "user_event_days",
      day,
      events,
      rollup,
      otherUsersOrEvents: !same,
    }));
  }

  async eventDays(): Promise<Difference[]> {
    const rows = await this.#bitmapDifferences("event_days", "event, day");
    return rows.map(({ day, event, users }) => ({ kind: "event_days", day, event, users }));
  }

  async activeDays(): Promise<Difference[]> {
    const rows = await this.#bitmapDifferences("active_days", "day");
    return rows.map(({ day, users }) => ({ kind: "active_days", day, event: "", users }));
  }

  #bitmapDifferences(table: "event_days" | "active_days", key: "event, day" | "day") {
    return this.#rowsOfDays<{ day: number; event: string; users: number }>(`
      SELECT toInt32(day) AS day, ${key === "day" ? "''" : "event"} AS event, groupBitmapXor(bitmap) AS users
      FROM (
        SELECT ${key}, groupBitmapState(user) AS bitmap
        FROM events WHERE ${ofDays} AND ${countsAsActivity} GROUP BY ${key}
        UNION ALL
        SELECT ${key}, groupBitmapMergeState(users) AS bitmap
        FROM ${table} WHERE ${ofDays} GROUP BY ${key})
      GROUP BY ${key} HAVING users != 0 ORDER BY ${key} LIMIT ${maxDifferencesOfAKind}`);
  }

  /** Compares with the events. Where old events are deleted, compares with the rollup of days, which still
   * covers them. */
  async userSpans(): Promise<Difference[]> {
    const [source, counted] =
      this.#fromDay === firstPossibleDay ? ["events", countsAsActivity] : ["user_event_days", "true"];
    const spans = await this.#rows<{ days: number[]; users: number }>(`
      SELECT days, count() AS users FROM (
        SELECT arrayDistinct([toInt32(min(first)), toInt32(max(first)), toInt32(min(last)), toInt32(max(last))]) AS days
        FROM (
          SELECT user, min(day) AS first, max(day) AS last, 1 AS source
          FROM ${source} WHERE organization = {organization:UInt32} AND ${counted} GROUP BY user
          UNION ALL
          SELECT user, min(first_day), max(last_day), 2
          FROM user_spans WHERE organization = {organization:UInt32} GROUP BY user)
        GROUP BY user HAVING count() != 2 OR min(first) != max(first) OR min(last) != max(last))
      GROUP BY days ORDER BY users DESC, days LIMIT ${maxSpans}`);
    return spans.length === 0 ? [] : [{ kind: "user_spans", spans }];
  }

  #rowsOfDays<Row>(sql: string): Promise<Row[]> {
    const parameters = { organization: this.#organization, fromDay: this.#fromDay };
    return this.#warehouse.rows<Row>(sql, parameters, { maxSeconds: 600 });
  }

  /** Whole tables are read: minutes, not seconds, are a mistake here. */
  #rows<Row>(sql: string): Promise<Row[]> {
    return this.#warehouse.rows<Row>(sql, { organization: this.#organization }, { maxSeconds: 600 });
  }
}

/** A day of UTC holds hours of the organization's day before it. */
function firstWholeUtcDay(fromDay: number): number {
  return fromDay === firstPossibleDay ? firstPossibleDay : fromDay + 1;
}

const ofDays = `organization = {organization:UInt32} AND day >= ${dayParameter("fromDay")}`;

const none: CountAndSum = { count: 0, sum: 0 };

function agree({ ledger, warehouse }: { ledger: CountAndSum; warehouse: CountAndSum }): boolean {
  return ledger.count === warehouse.count && ledger.sum === warehouse.sum;
}
