/** Notices new events of days that already have scores. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { countsAsActivity } from "../../warehouse/schema/tables.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { startOfData } from "../scores/data-start.ts";
import { markStale, markTodayStale } from "./records.ts";

/** A day changes in bulk when this share of its events, and at least so many, came after the scores of later
 * days. */
const bulk = { share: 0.005, events: 100 };
/** The past as a whole changed in bulk when this share of its events was received later. The past is as long
 * as scores are kept. Late events are bulk only if they are also of more than this share of the users: a few
 * phones that send what they kept are no bulk change. */
const past = { share: 0.01, shareOfUsers: 0.05, days: 366 };
/** How far the clocks of two processes may differ: the time of an import is of one, the time of a search of
 * the other. */
export const clocksDifferMs = 60_000;
/** The last rows of an import are loaded and found within this time. */
const importSettlesMs = 10 * 60_000;

/** A day with events before today, as a search finds it. */
export interface DayEvents {
  readonly day: number;
  readonly events: number;
  /** The events that the last search found; null in the first search. */
  readonly seen: number | null;
  /** The events that were found since the scores of later days were last marked as stale. */
  readonly late: number;
  /** When a search last noted this day. */
  readonly notedAtMs: number;
}

/** A search for new events of an organization's earlier days. */
export interface Search {
  readonly organization: number;
  readonly today: number;
  readonly nowMs: number;
  /** The day of an instant in the organization's timezone. */
  readonly dayOf: (atMs: number) => number;
  /** When an import last stored rows, if there was one. */
  readonly lastBulkLoadAtMs: number | null;
}

/**
 * Searches for new events of days before today. Single late events make only today's scores stale. When a day
 * changed in bulk, the results of all days after it are stale: at once after an import, otherwise from the
 * first search of the next day.
 *
 * The marks are stored first, then the counts: after a crash in between the search is repeated. Fewer events
 * than before are an erasure, which does not change the scores of other users.
 */
export async function noticeChanges(warehouse: Warehouse, search: Search): Promise<void> {
  const { organization, today } = search;
  const { firstStale, hasMore, noted, atMs } = changesOf(
    await daysOf(warehouse, organization, today),
    search,
  );
  if (firstStale !== undefined) await markStale(warehouse, organization, firstStale);
  else if (hasMore) await markTodayStale(warehouse, organization, today);
  await note(warehouse, organization, { days: noted, atMs });
}

/** The conclusions of a search. */
interface Changes {
  /** The results of all days after this day are stale; undefined when no result of the past is stale. */
  readonly firstStale: number | undefined;
  /** Whether there are new events at all. */
  readonly hasMore: boolean;
  readonly noted: readonly Pick<DayEvents, "day" | "events" | "late">[];
  /** When the search was; later than the last search. */
  readonly atMs: number;
}

/** The changes since the last search. @param found in order */
export function changesOf(found: readonly DayEvents[], search: Omit<Search, "organization">): Changes {
  const lastSearchMs = Math.max(0, ...found.map(({ notedAtMs }) => notedAtMs));
  const start = startOfData(found.map(({ day, events }) => ({ day, count: events }))) ?? search.today;
  const days = found.map((day) => ({
    ...day,
    late: lateEventsOf(day, { today: search.today, lastSearchMs, start }),
  }));
  const firstStale = firstStaleDay(days, search, lastSearchMs);
  const changed = days.filter(({ events, seen }) => events !== seen);
  const isMarked = ({ day }: DayEvents) => firstStale !== undefined && day >= firstStale;
  const noted = days.filter((day) => changed.includes(day) || (isMarked(day) && day.late > 0));
  return {
    firstStale,
    hasMore: changed.some(({ events, seen }) => events > (seen ?? 0)),
    noted: noted.map((day) => ({ ...day, late: isMarked(day) ? 0 : day.late })),
    atMs: Math.max(search.nowMs, lastSearchMs + 1),
  };
}

/** The first day after which all results are stale; undefined when no day has changed in bulk. All
 * results are stale in the first search after a rebuild, which deletes the counts: days may be of another
 * timezone. */
function firstStaleDay(
  days: readonly DayEvents[],
  search: Omit<Search, "organization">,
  lastSearchMs: number,
): number | undefined {
  const { dayOf, today } = search;
  if (lastSearchMs === 0) return days[0]?.day;
  const isImported = isOfImport(search, lastSearchMs);
  const isFirstOfToday = dayOf(lastSearchMs) < today;
  const isBulk = ({ events, late }: DayEvents) => late >= Math.max(bulk.events, bulk.share * events);
  return days.find((day) => (isImported ? day.late > 0 : isFirstOfToday && isBulk(day)))?.day;
}

/** Whether new events may be of an import. An import that ended shortly before the last search counts only
 * for a while, or the next single late event would count as part of it. */
function isOfImport(
  { lastBulkLoadAtMs, nowMs }: Pick<Search, "lastBulkLoadAtMs" | "nowMs">,
  lastSearchMs: number,
): boolean {
  if (lastBulkLoadAtMs === null) return false;
  if (lastBulkLoadAtMs > lastSearchMs) return true;
  return lastBulkLoadAtMs > lastSearchMs - clocksDifferMs && nowMs < lastBulkLoadAtMs + importSettlesMs;
}

/** Which events of an organization are counted. */
export interface PastQuestion {
  readonly organization: number;
  /** Events are late if they were received after this time. */
  readonly sinceMs: number;
  /** Events of the year before this day are counted. */
  readonly beforeDay: number;
}

/** Whether an import that stored rows since an instant changed the year before a day in bulk: one of the
 * days, or the whole year. Single rows do not. @throws WarehouseError */
export async function isPastImported(warehouse: Warehouse, question: PastQuestion): Promise<boolean> {
  const [found] = await warehouse.rows<{ hasChanged: boolean }>(
    `SELECT toBool(countIf(late >= greatest({events:UInt32}, {shareOfDay:Float64} * events)) > 0
       OR sum(late) > {shareOfAll:Float64} * sum(events)) AS hasChanged
     FROM (SELECT day, count() AS events, countIf(isLate) AS late FROM (${eventsOfPast}) GROUP BY day)`,
    { ...parametersOfPast(question), events: bulk.events, shareOfDay: bulk.share, shareOfAll: past.share },
  );
  return found?.hasChanged === true;
}

/** How much of the year before a day was received late. */
export type LateEvents = "none" | "some" | "bulk";

/** How many events of the year before a day were received since an instant. @throws WarehouseError */
export async function lateEventsOfPast(warehouse: Warehouse, question: PastQuestion): Promise<LateEvents> {
  const [found] = await warehouse.rows<{ late: number; isBulk: boolean }>(
    `SELECT countIf(isLate) AS late,
       toBool(late > {shareOfAll:Float64} * count()
         AND groupBitmapIf(user, isLate) > {shareOfUsers:Float64} * groupBitmap(user)) AS isBulk
     FROM (${eventsOfPast})`,
    { ...parametersOfPast(question), shareOfAll: past.share, shareOfUsers: past.shareOfUsers },
  );
  if (found === undefined || found.late === 0) return "none";
  return found.isBulk ? "bulk" : "some";
}

const eventsOfPast = `
  SELECT day, user, toUnixTimestamp64Milli(received_at) > {sinceMs:Int64} AS isLate FROM events
  WHERE organization = {organization:UInt32} AND ${countsAsActivity}
    AND day >= ${dayParameter("fromDay")} AND day < ${dayParameter("beforeDay")}`;

function parametersOfPast({ organization, sinceMs, beforeDay }: PastQuestion) {
  return { organization, sinceMs, fromDay: Math.max(0, beforeDay - past.days), beforeDay };
}

/** The events of a day that scores of later days may lack. In the first search there are no such scores, and
 * in the first search of yesterday only today's scores. Events from before the data begins have wrong dates:
 * no result of the past needs them. */
function lateEventsOf(
  { day, events, seen, late }: DayEvents,
  {
    today,
    lastSearchMs,
    start,
  }: { readonly today: number; readonly lastSearchMs: number; readonly start: number },
): number {
  if (lastSearchMs === 0 || day < start || (seen === null && day === today - 1)) return 0;
  return Math.max(0, late + events - (seen ?? 0));
}

/** How many events of days before a day are in the warehouse. @throws WarehouseError */
export async function eventsBefore(warehouse: Warehouse, organization: number, day: number): Promise<number> {
  const [found] = await warehouse.rows<{ events: number }>(
    `SELECT sum(count) AS events FROM user_event_days WHERE organization = {organization:UInt32} AND day < ${dayParameter("day")}`,
    { organization, day },
    { maxSeconds: 600 },
  );
  return found?.events ?? 0;
}

function daysOf(warehouse: Warehouse, organization: number, today: number): Promise<DayEvents[]> {
  return warehouse.rows<DayEvents>(
    `SELECT toInt32(day) AS day, sum(now) AS events, if(max(isNoted), sum(noted), NULL) AS seen, sum(unmarked) AS late,
       max(atMs) AS notedAtMs
     FROM (
       SELECT day, sum(count) AS now, 0 AS noted, 0 AS unmarked, 0 AS atMs, false AS isNoted FROM user_event_days
       WHERE organization = {organization:UInt32} AND day < addDays(toDate32('1970-01-01'), {today:Int32})
       GROUP BY day
       UNION ALL
       SELECT day, 0, events, late_events, version, true
       FROM scored_days FINAL WHERE organization = {organization:UInt32})
     GROUP BY day ORDER BY day`,
    { organization, today },
    { maxSeconds: 600 },
  );
}

function note(
  warehouse: Warehouse,
  organization: number,
  {
    days,
    atMs,
  }: { readonly days: readonly Pick<DayEvents, "day" | "events" | "late">[]; readonly atMs: number },
): Promise<void> {
  if (days.length === 0) return Promise.resolve();
  return warehouse.command(
    `INSERT INTO scored_days (organization, day, events, late_events, version) SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), row.1), row.2, row.3, {version:UInt64}
     FROM (SELECT arrayJoin(arrayZip({days:Array(Int32)}, {events:Array(UInt64)}, {late:Array(UInt64)})) AS row)`,
    {
      organization,
      version: atMs,
      days: days.map(({ day }) => day),
      events: days.map(({ events }) => events),
      late: days.map(({ late }) => late),
    },
  );
}
