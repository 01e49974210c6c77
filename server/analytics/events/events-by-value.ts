/**
 * Events over time, split by the value of a property as it was sent, or of a user's trait as it is now. Properties
 * are in the raw events only, which are all read: the time grows with the number of events in the days.
 */
import { periodStarts } from "../../calendar/calendar.ts";
import { countsAsActivity, type Warehouse } from "../../warehouse/warehouse.ts";
import { jsonKey, jsonSettings, jsonText } from "../sql/json-text.ts";
import { periodOf } from "../sql/period-of.ts";
import { askedRows, type EventsOfPeriod, type EventsOverTimeQuestion } from "./events-over-time.ts";

export interface EventsByValueQuestion extends EventsOverTimeQuestion {
  /** Whether the property is the event's or the user's. */
  readonly by: "property" | "trait";
  /** Of the property or the trait. */
  readonly key: string;
}

/** The groups of every period in which they have events. The largest are looked for among 100,000 values; of a
 * property that has more, among those that are met first. */
export function eventsByValue(
  warehouse: Warehouse,
  question: EventsByValueQuestion,
): Promise<EventsOfPeriod[]> {
  const { organization, event, toDay, top, by, key } = question;
  const starts = periodStarts(question);
  const days = { toDay, starts, fromDay: starts[0] ?? 0 };
  return warehouse.rows<EventsOfPeriod>(queries[by], { organization, event, top, ...days, ...jsonKey(key) });
}

const maxValues = 100_000;

// A value with a mark before it: no mark is no value, and the rest has another one.
const marked = (text: string) => `ifNull(concat('=', ${text}), '')`;
const rest = "'~'";

const ofProperty = `
  SELECT user, day, 1 AS times, ${marked(jsonText("properties"))} AS mark
  FROM events WHERE ${askedRows} AND ${countsAsActivity}`;

const ofTrait = `
  SELECT user, day, user_event_days.count AS times, mark
  FROM user_event_days LEFT JOIN (
    SELECT user, ${marked(jsonText("traits"))} AS mark
    FROM users FINAL WHERE organization = {organization:UInt32}) AS traits USING user
  WHERE ${askedRows}`;

// By day first, because to find a row's period is a look through all of them.
const sql = (source: string) => `
  WITH (
    SELECT groupArray(mark) FROM (
      SELECT mark FROM (${source}) GROUP BY mark ORDER BY sum(times) DESC, mark LIMIT {top:UInt32}
      SETTINGS max_rows_to_group_by = ${maxValues}, group_by_overflow_mode = 'any')) AS largest
  SELECT
    ${periodOf("toInt32(day)")} AS period,
    if(startsWith(name, '='), substring(name, 2), NULL) AS value,
    toBool(name = ${rest}) AS isRest,
    sum(timesOfDay) AS count,
    groupBitmapMerge(people) AS users
  FROM (
    SELECT day, if(has(largest, mark), mark, ${rest}) AS name, sum(times) AS timesOfDay,
      groupBitmapState(user) AS people
    FROM (${source})
    GROUP BY day, name)
  GROUP BY period, name
  ${jsonSettings}`;

const queries = { property: sql(ofProperty), trait: sql(ofTrait) } as const;
