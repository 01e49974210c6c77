/**
 * How often events were done, and by how many users, by day, week or month: all events together, or the most
 * frequent ones separately. Counts come from the sums of days, users from the bitmaps.
 */
import { type PeriodsQuestion, periodStarts } from "../calendar/period-starts.ts";
import type { Warehouse } from "../warehouse/engine/warehouse.ts";
import { included, isIncluded } from "../warehouse/schema/included.ts";
import { dayParameter } from "../warehouse/upkeep/keep-events.ts";
import { countsOfDays } from "./counts-of-days.ts";
import { periodOf } from "./period-of.ts";

export interface EventsOverTimeQuestion extends PeriodsQuestion {
  readonly organization: number;
  /** One event's name; empty for all of them. */
  readonly event: string;
  /** The largest groups are shown separately, this many; the rest is one group. 0: everything is one
   * group. */
  readonly top: number;
}

/** The events of one group in one period. */
export interface EventsOfPeriod {
  /** The period's number, from 1. */
  readonly period: number;
  /** The event's name, or the property's or trait's value; null where there is none, and for the rest. */
  readonly value: string | null;
  /** Everything that is not among the largest groups. */
  readonly isRest: boolean;
  readonly count: number;
  readonly users: number;
}

/** The groups of every period in which they have events. */
export function eventsOverTime(
  warehouse: Warehouse,
  question: EventsOverTimeQuestion,
): Promise<EventsOfPeriod[]> {
  const { organization, event, toDay, top } = question;
  const starts = periodStarts(question);
  const asked = { organization, event, toDay, starts, fromDay: starts[0] ?? 0 };
  return event === "" && top === 0
    ? warehouse.rows<EventsOfPeriod>(ofAnything, asked)
    : warehouse.rows<EventsOfPeriod>(ofEvents, { ...asked, top });
}

const withinDays = `
  organization = {organization:UInt32} AND day BETWEEN ${dayParameter("fromDay")} AND ${dayParameter("toDay")}`;

const askedDays = `${withinDays} AND ({event:String} = '' OR event = {event:String})`;

/** The rows of users that a question is about; queries bind `organization`, `fromDay`, `toDay` and
 * `event`. */
export const askedRows = `${askedDays} AND ${isIncluded("user")}`;

/** The first day of a day's period: quicker than its number, which is looked for once a period. */
const periodDay = "roundDown(toInt32(day), {starts:Array(Int32)})";

// No event has the empty name, so it can stand for the rest.
const ofEvents = `
  WITH
    counted AS (
      SELECT event, firstDay, timesOfPeriod,
        dense_rank() OVER (ORDER BY timesOfEvent DESC, event) AS rank
      FROM (
        SELECT event, ${periodDay} AS firstDay, sum(times) AS timesOfPeriod,
          sum(timesOfPeriod) OVER (PARTITION BY event) AS timesOfEvent
        FROM ${countsOfDays(askedDays)} GROUP BY event, firstDay)),
    seen AS (
      SELECT event, ${periodDay} AS firstDay, groupBitmapMergeState(event_days.users) AS people
      FROM event_days WHERE ${askedDays} GROUP BY event, firstDay)
  SELECT
    ${periodOf("firstDay")} AS period,
    nullIf(name, '') AS value,
    toBool(name = '' AND {top:UInt32} > 0) AS isRest,
    timesOfGroup AS count,
    bitmapCardinality(${included("allUsers")}) AS users
  FROM (
    SELECT firstDay, if(rank > {top:UInt32}, '', event) AS name, sum(timesOfPeriod) AS timesOfGroup,
      groupBitmapMergeState(people) AS allUsers
    FROM counted INNER JOIN seen USING (event, firstDay)
    GROUP BY firstDay, name)`;

// The active users of a day are in one bitmap, and not in one for each event.
const ofAnything = `
  SELECT ${periodOf("firstDay")} AS period, NULL AS value, false AS isRest, timesOfPeriod AS count, users
  FROM (
    SELECT ${periodDay} AS firstDay, sum(times) AS timesOfPeriod
    FROM ${countsOfDays(askedDays)} GROUP BY firstDay) AS counted
  INNER JOIN (
    SELECT ${periodDay} AS firstDay, bitmapCardinality(${included("groupBitmapMergeState(active_days.users)")}) AS users
    FROM active_days WHERE ${withinDays} GROUP BY firstDay) AS seen
  USING firstDay`;

export interface EventsOverTimeRow extends Omit<EventsOfPeriod, "period"> {
  /** The period's days, in days since 1970-01-01; the last one may end with `toDay`, before it is over. */
  readonly fromDay: number;
  readonly toDay: number;
  readonly isComplete: boolean;
}

/** A row for every period and group, also without events: by period, in each the largest group first, the
 * rest last. `isOneGroup` means no split, so that there is a group even without any event. */
export function withEmptyPeriods(
  question: PeriodsQuestion,
  rows: readonly EventsOfPeriod[],
  isOneGroup: boolean,
): EventsOverTimeRow[] {
  const { toDay } = question;
  const starts = periodStarts(question);
  const nothing = { value: null, isRest: false, count: 0, users: 0 };
  const groups = groupsOf(isOneGroup && rows.length === 0 ? [{ ...nothing, period: 1 }] : rows);
  return starts.slice(0, -1).flatMap((fromDay, index) => {
    const end = (starts[index + 1] ?? fromDay) - 1;
    return groups.map(({ value, isRest, ofPeriod }) => {
      const { count, users } = ofPeriod.get(index + 1) ?? nothing;
      return { fromDay, toDay: Math.min(end, toDay), isComplete: end <= toDay, value, isRest, count, users };
    });
  });
}

function groupsOf(rows: readonly EventsOfPeriod[]) {
  const groups = Map.groupBy(rows, ({ value, isRest }) => `${isRest} ${mark(value)}`);
  return [...groups.values()]
    .flatMap((of) => {
      const [first] = of;
      if (first === undefined) return [];
      const total = of.reduce((sum, { count }) => sum + count, 0);
      const ofPeriod = new Map(of.map((row) => [row.period, row]));
      return [{ value: first.value, isRest: first.isRest, total, ofPeriod }];
    })
    .sort(
      (a, b) =>
        Number(a.isRest) - Number(b.isRest) || b.total - a.total || (mark(a.value) < mark(b.value) ? -1 : 1),
    );
}

/** A prefix that separates a value from an empty one. */
function mark(value: string | null): string {
  return value === null ? "" : `=${value}`;
}
