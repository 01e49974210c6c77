/**
 * When users entered a cohort: one row for each, with the day of the entry.
 */

import { engagementParameters, firstActiveDays } from "../../warehouse/schema/engagement.ts";
import { dayParameter } from "../../warehouse/upkeep/keep-events.ts";
import { localDay, type Sql, zoneParameters } from "../sql.ts";
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

const isOfCalendar = (day: string) => `ifNull(toString(toDate32OrNull(${day})) = ${day}, false)`;

/**
 * The day that a text says, in the forms of an event's `timestamp`: a date, or a date-time with an offset.
 * Null for any other text, and for an impossible date or time. Over `text`, `parts` (those of a date-time,
 * from 1), `numbers` (hours, minutes, seconds, hours and minutes of the offset) and `seconds`. A leap second
 * is the start of the next second, and there are none but at the end of a day of UTC.
 */
const dayOfText = `multiIf(
  match(text, '${date}'), if(${isOfCalendar("text")}, toInt32(toDate32OrZero(text)), NULL),
  notEmpty(parts), if(
    ${isOfCalendar("parts[1]")} AND numbers[1] < 24 AND numbers[2] < 60 AND numbers[4] < 24 AND numbers[5] < 60
      AND (numbers[3] < 60 OR numbers[3] = 60 AND seconds % 86400 = 0), ${localDay("seconds")}, NULL),
  NULL)`;
const secondsOfParts = `toInt64(toInt32(toDate32OrZero(parts[1]))) * 86400 + numbers[1] * 3600 + numbers[2] * 60 + numbers[3]
  - if(parts[5] = '-', -1, 1) * (numbers[4] * 3600 + numbers[5] * 60)`;

const firstYearDay = "toInt32(toDate32('1970-01-01'))";
const textOfTrait = (trait: string) =>
  `if(position(traits, '"${trait}":') = 0, '', JSONExtractString(traits, '${trait}'))`;

// In steps, because the engine copies an expression to each place that names it: in one step it took 90 ms to
// analyse.
const signUps = `
  SELECT user, if(empty(days), ${localDay("intDiv(toUnixTimestamp64Milli(first_identified_at), 1000)")}, assumeNotNull(days[1])) AS day
  FROM (
    SELECT user, first_identified_at, arrayFilter(day -> ifNull(day >= ${firstYearDay}, false),
        arrayMap((text, parts, numbers, seconds) -> ${dayOfText}, texts, partsOfTexts, numbersOfTexts, secondsOfTexts)) AS days
    FROM (
      SELECT *, arrayMap((parts, numbers) -> ${secondsOfParts}, partsOfTexts, numbersOfTexts) AS secondsOfTexts
      FROM (
        SELECT *, arrayMap(parts -> arrayMap(place -> toInt64OrZero(parts[place]), [2, 3, 4, 6, 7]), partsOfTexts) AS numbersOfTexts
        FROM (
          SELECT *, arrayMap(text -> extractGroups(text, '${dateTime}'), texts) AS partsOfTexts
          FROM (
            SELECT user, first_identified_at, [${signUpTraits.map(textOfTrait).join(", ")}] AS texts
            FROM users FINAL
            WHERE ${ofOrganization})))))`;
