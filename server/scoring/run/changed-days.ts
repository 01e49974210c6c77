/** Notices new events of days that already have scores. */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { markStale } from "./records.ts";

interface DayEvents {
  readonly day: number;
  readonly events: number;
  readonly seen: number;
}

/**
 * Marks the results of all days after the first one with new events as stale, and records the new counts. First the
 * marks, then the counts: after a crash in between it does the same again. Fewer events than before are an erasure,
 * which does not change the scores of other users.
 * @returns the first such day; undefined without new events before today
 */
export async function noticeChanges(
  warehouse: Warehouse,
  organization: number,
  today: number,
): Promise<number | undefined> {
  const days = await changedDays(warehouse, organization, today);
  if (days.length === 0) return undefined;
  const grown = days.filter(({ events, seen }) => events > seen).map(({ day }) => day);
  const first = grown.length === 0 ? undefined : Math.min(...grown);
  if (first !== undefined) await markStale(warehouse, organization, first);
  await takeNotice(warehouse, organization, days);
  return first;
}

function changedDays(warehouse: Warehouse, organization: number, today: number): Promise<DayEvents[]> {
  return warehouse.rows<DayEvents>(
    `SELECT toInt32(day) AS day, sum(now) AS events, sum(before) AS seen
     FROM (
       SELECT day, count AS now, 0 AS before FROM user_event_days
       WHERE organization = {organization:UInt32} AND day < addDays(toDate32('1970-01-01'), {today:Int32})
       UNION ALL
       SELECT day, 0, events FROM scored_days FINAL WHERE organization = {organization:UInt32})
     GROUP BY day HAVING events != seen ORDER BY day`,
    { organization, today },
    { maxSeconds: 600 },
  );
}

function takeNotice(warehouse: Warehouse, organization: number, days: readonly DayEvents[]): Promise<void> {
  return warehouse.command(
    `INSERT INTO scored_days SETTINGS insert_deduplicate = 0
     SELECT {organization:UInt32}, addDays(toDate32('1970-01-01'), day), events, {version:UInt64}
     FROM (SELECT arrayJoin(arrayZip({days:Array(Int32)}, {events:Array(UInt64)})) AS pair,
       pair.1 AS day, pair.2 AS events)`,
    {
      organization,
      version: Date.now(),
      days: days.map(({ day }) => day),
      events: days.map(({ events }) => events),
    },
  );
}
