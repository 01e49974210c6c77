/**
 * Events over time, split by the value of a property as it was sent, or of a user's trait as it is now.
 * Properties are in the raw events only: the time grows with the number of events of this name in the days
 * (`eventsByName`).
 */
import { periodStarts } from "../calendar/period-starts.ts";
import { type Warehouse, WarehouseError } from "../warehouse/engine/warehouse.ts";
import { countsAsActivity } from "../warehouse/schema/tables.ts";
import { askedRows, type EventsOfPeriod, type EventsOverTimeQuestion } from "./events-over-time.ts";
import { jsonKey, jsonSettings, jsonText } from "./json-text.ts";
import { periodOf } from "./period-of.ts";

export interface EventsByValueQuestion extends EventsOverTimeQuestion {
  /** Whether the property is the event's or the user's. */
  readonly by: "property" | "trait";
  /** Of the property or the trait. */
  readonly key: string;
}

/** The groups of every period in which they have events. The largest are looked for among 100,000 values; of
 * a property that has more, among those that are met first. */
export async function eventsByValue(
  warehouse: Warehouse,
  question: EventsByValueQuestion,
): Promise<EventsOfPeriod[]> {
  const { organization, event, toDay, top, by, key } = question;
  const starts = periodStarts(question);
  const days = { toDay, starts, fromDay: starts[0] ?? 0 };
  const asked = { organization, event, top, ...days, ...jsonKey(key) };
  const { once, twice } = queries[by];
  try {
    return await warehouse.rows<EventsOfPeriod>(once, asked);
  } catch (error) {
    if (!(error instanceof WarehouseError && tooMuchAtOnce.includes(error.code))) throw error;
    return warehouse.rows<EventsOfPeriod>(twice, asked);
  }
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

const periods = `
  SELECT
    ${periodOf("toInt32(day)")} AS period,
    if(startsWith(name, '='), substring(name, 2), NULL) AS value,
    toBool(name = ${rest}) AS isRest,
    sum(timesOfDay) AS count,
    groupBitmapMerge(people) AS users`;

/** The engine's codes of a query with more groups than it may have, and of one that exceeds its memory. It
 * counts groups anew after it wrote some to disk. */
const tooMuchAtOnce: readonly number[] = [158, 241];

// Groups by day, because to find a row's period is a look through all of them. Of few values, their users fit
// into memory for each day, and the rows are read and parsed once.
const readOnce = (source: string) => `
  ${periods}
  FROM (
    SELECT day, timesOfDay, people,
      if(dense_rank() OVER (ORDER BY timesOfMark DESC, mark) <= {top:UInt32}, mark, ${rest}) AS name
    FROM (
      SELECT day, mark, timesOfDay, people, sum(timesOfDay) OVER (PARTITION BY mark) AS timesOfMark
      FROM (
        SELECT day, mark, sum(times) AS timesOfDay, groupBitmapState(user) AS people
        FROM (${source}) GROUP BY day, mark
        SETTINGS max_rows_to_group_by = ${maxValues}, group_by_overflow_mode = 'throw')))
  GROUP BY period, name
  ${jsonSettings}`;

// Of any number of values: the largest are found first.
const readTwice = (source: string) => `
  WITH (
    SELECT groupArray(mark) FROM (
      SELECT mark FROM (${source}) GROUP BY mark ORDER BY sum(times) DESC, mark LIMIT {top:UInt32}
      SETTINGS max_rows_to_group_by = ${maxValues}, group_by_overflow_mode = 'any')) AS largest
  ${periods}
  FROM (
    SELECT day, if(has(largest, mark), mark, ${rest}) AS name, sum(times) AS timesOfDay,
      groupBitmapState(user) AS people
    FROM (${source})
    GROUP BY day, name)
  GROUP BY period, name
  ${jsonSettings}`;

const queriesOf = (source: string) => ({ once: readOnce(source), twice: readTwice(source) });

const queries = { property: queriesOf(ofProperty), trait: queriesOf(ofTrait) } as const;
