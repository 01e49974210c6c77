/**
 * When users entered a cohort: one row for each, with the day of the entry.
 */
import { dayParameter, engagementParameters, firstActiveDays } from "../../warehouse/warehouse.ts";
import { localDay, type Sql, zoneParameters } from "../sql/sql.ts";
import type { RetentionQuestion } from "./retention-question.ts";

/** Rows of `user` and `day` (Int32); needs the parameter `organization`. */
export function entriesOf({ entry, transitions, passiveEvents }: RetentionQuestion): Sql {
  if (entry.kind === "firstEvent") {
    return {
      text: `SELECT user, firstDay AS day FROM ${firstActiveDays(passiveEvents)}`,
      parameters: engagementParameters(passiveEvents),
    };
  }
  if (entry.kind === "event") return { text: firstOfEvent, parameters: { entryEvent: entry.event } };
  return { text: signUps, parameters: zoneParameters(transitions) };
}

const ofOrganization = "organization = {organization:UInt32}";

// From the bitmaps of one event: in the table of users, days and events it would be every row that is read.
const firstOfEvent = `
  SELECT user, toInt32(min(day)) AS day
  FROM (
    SELECT arrayJoin(bitmapToArray(users)) AS user, day FROM event_days
    WHERE ${ofOrganization} AND event = {entryEvent:String} AND day <= ${dayParameter("today")})
  GROUP BY user`;

/** In the order in which they are believed. */
const signUpTraits = ["createdAt", "created_at", "signedUpAt"] as const;

const date = String.raw`^(\\d{4})-(\\d{2})-(\\d{2})$`;
const dateTime = String.raw`^(\\d{4}-\\d{2}-\\d{2})[Tt](\\d{2}):(\\d{2}):(\\d{2})(?:[.]\\d+)?(?:[Zz]|([+-])(\\d{2}):(\\d{2}))$`;

/** The day of an expression's text, in the forms of an event's `timestamp`: a date, or a date-time with an offset.
 * Null for any other text, and for an impossible date or time. */
function dayOfText(text: string): string {
  const part = (index: number) => `extractGroups(${text}, '${dateTime}')[${index}]`;
  const number = (index: number) => `toInt64OrZero(${part(index)})`;
  const seconds = `(
    toInt64(toInt32(toDate32OrZero(${part(1)}))) * 86400 + ${number(2)} * 3600 + ${number(3)} * 60 + ${number(4)}
    - if(${part(5)} = '-', -1, 1) * (${number(6)} * 3600 + ${number(7)} * 60))`;
  const isOfCalendar = (day: string) => `ifNull(toString(toDate32OrNull(${day})) = ${day}, false)`;
  // A leap second is the start of the next second, and there are none but at the end of a day of UTC.
  const isOfClock = `${number(2)} < 24 AND ${number(3)} < 60 AND ${number(6)} < 24 AND ${number(7)} < 60
    AND (${number(4)} < 60 OR ${number(4)} = 60 AND ${seconds} % 86400 = 0)`;
  return `multiIf(
    match(${text}, '${date}'), if(${isOfCalendar(text)}, toInt32(toDate32OrZero(${text})), NULL),
    match(${text}, '${dateTime}'), if(${isOfCalendar(part(1))} AND ${isOfClock}, ${localDay(seconds)}, NULL),
    NULL)`;
}

const firstYearDay = "toInt32(toDate32('1970-01-01'))";
const dayOfTrait = (trait: string) => `
  if(position(traits, '"${trait}":') = 0, NULL,
    (${dayOfText(`JSONExtractString(traits, '${trait}')`)}) AS ${trait}_day)`;

const signUps = `
  SELECT user, coalesce(
      ${signUpTraits.map((trait) => `if(${dayOfTrait(trait)} >= ${firstYearDay}, ${trait}_day, NULL)`).join(",\n")},
      ${localDay("intDiv(toUnixTimestamp64Milli(first_identified_at), 1000)")}) AS day
  FROM users FINAL
  WHERE ${ofOrganization}`;
