/**
 * The value of a trait for every user who entered a cohort; null without a value. Texts stay as they are.
 * Numbers, booleans, objects and arrays are given as JSON. Long texts are cut.
 *
 * As of entry it is the trait's last value until the end of the day of entry. A user who entered before any
 * value was known has the first known one.
 *
 * An account has the fields `id` and `name`, and attributes. A trait that was never an attribute of the
 * account is its owner's: of several owners the one known longest. Without an owner it is that of the member
 * known for the shortest time. The members of an account are known at every time, its owner only now.
 */

import type { OffsetTransition } from "../../calendar/zone.ts";
import { accountOwners } from "../../warehouse/schema/account-owners.ts";
import { jsonKey, jsonText, maxValueCharacters } from "../json-text.ts";
import { localDay, type Sql, zoneParameters } from "../sql.ts";
import type { Split } from "./retention-question.ts";

const ofOrganization = "organization = {organization:UInt32}";

/** Rows of `user`, `day` and `value` made of rows of `user` and `day`. */
export function splitValues(
  entries: string,
  { trait, of, asOf }: Split,
  transitions: readonly OffsetTransition[],
): Sql {
  const zone = asOf === "entry" ? zoneParameters(transitions) : {};
  const isField = of === "account" && (trait === "id" || trait === "name");
  const parameters = { ...zone, ...(!isField && jsonKey(trait)) };
  const members = asOf === "entry" ? memberships(entries) : membershipsNow(entries);
  if (isField) return { text: accountFields(members, trait === "id" ? "account_id" : "name"), parameters };
  const subjects =
    of === "user" ? `SELECT user, day, user AS subject FROM (${entries})` : accountSubjects(members);
  const text = asOf === "entry" ? asOfEntry(subjects, versionsOf[of]) : asOfNow(subjects, valuesOf[of]);
  return { text, parameters };
}

/** The subject of a trait is a user, by the number, or an account: its number is behind those of users. */
const subjectOfAccount = (account: string) => `4294967296 + toUInt64(${account})`;

/** As `jsonText`, but distinguishes an absent trait from a null. */
export const rawValue =
  "if(position(traits, {keyText:String}) = 0, '', JSONExtractRaw(traits, {key:String}))";

/** A raw value as text; null for an absent one, and for the null of JSON. */
export const readable = (raw: string) => `
  leftUTF8(multiIf(${raw} IN ('', 'null'), NULL, startsWith(${raw}, '"'), JSONExtractString(${raw}), ${raw}),
    ${maxValueCharacters})`;

const ofUsers = `SELECT user AS said_by, ${jsonText("traits")} AS value FROM users FINAL WHERE ${ofOrganization}`;

/** Rows of `said_by` and `value`, as they are now. */
const valuesOf = {
  user: ofUsers,
  account: `
    SELECT toUInt64(said_by) AS said_by, value FROM (${ofUsers})
    UNION ALL
    SELECT ${subjectOfAccount("account")}, ${jsonText("traits")} FROM accounts FINAL WHERE ${ofOrganization}`,
} as const;

function asOfNow(subjects: string, values: string): string {
  return `
    SELECT subjects.user AS user, subjects.day AS day, said.value AS value
    FROM (${subjects}) AS subjects
    LEFT JOIN (${values}) AS said
    ON said.said_by = subjects.subject`;
}

/** The time of a version: its day, and its place among all versions of the user or account. The place is one
 * number, because comparing pairs takes twice as long. */
const versionKey = `
  ${localDay("intDiv(toUnixTimestamp64Milli(at), 1000)")} AS version_day,
  toInt128(toUnixTimestamp64Milli(at)) * 4294967296 + version AS place`;

const ofUserVersions = `SELECT user AS version_user, ${versionKey}, ${rawValue} AS raw FROM user_versions WHERE ${ofOrganization}`;

/** Rows of `version_user`, a subject, and what it said with its time. */
const versionsOf = {
  user: ofUserVersions,
  account: `
    SELECT toUInt64(version_user) AS version_user, version_day, place, raw FROM (${ofUserVersions})
    UNION ALL
    SELECT ${subjectOfAccount("account")}, ${versionKey}, ${rawValue} FROM account_versions WHERE ${ofOrganization}`,
} as const;

function asOfEntry(subjects: string, versions: string): string {
  return `
    SELECT user, day, ${readable("raw")} AS value
    FROM (
      SELECT user, day, ${valueAsOf("raw", "raw != ''", "''")} AS raw
      FROM (${subjects}) AS subjects
      LEFT JOIN (${versions}) AS versions
      ON versions.version_user = subjects.subject
      GROUP BY user, day)`;
}

/**
 * The value as of `day`: the last one until then, or the first one when all are later. Of versions until the
 * day the last has the highest place. Places of later versions are negative, so of those the first has the
 * highest. So one aggregate finds either.
 */
function valueAsOf(value: string, isKnown: string, none: string): string {
  const place = "if(version_day <= day, place, -place)";
  return `if(maxIf(${place}, ${isKnown}) > 0 OR min(version_day) > day, argMaxIf(${value}, ${place}, ${isKnown}), ${none})`;
}

/** Rows of user, day and the number of the account that the user had then; 0 for none. */
function memberships(entries: string): string {
  return `
    SELECT user, day, ${valueAsOf("known_account", "is_known", "0")} AS account
    FROM (${entries}) AS entries
    LEFT JOIN (
      SELECT user AS version_user, ${versionKey},
        ifNull(account, 0) AS known_account, account IS NOT NULL AS is_known
      FROM user_versions WHERE ${ofOrganization}) AS versions
    ON versions.version_user = entries.user
    GROUP BY user, day`;
}

function membershipsNow(entries: string): string {
  return `
    SELECT entries.user AS user, entries.day AS day, known.account AS account
    FROM (${entries}) AS entries
    LEFT JOIN (SELECT user, account FROM users FINAL WHERE ${ofOrganization}) AS known ON known.user = entries.user`;
}

/** Rows of user, day and the subject whose trait is the account's: the account if it ever had the attribute,
 * else its owner; 0 for none. */
function accountSubjects(members: string): string {
  return `
    SELECT members.user AS user, members.day AS day,
      if(members.account IN (
          SELECT account FROM account_versions
          WHERE ${ofOrganization} AND position(traits, {keyText:String}) > 0 AND JSONHas(traits, {key:String})),
        ${subjectOfAccount("members.account")}, toUInt64(owners.owner)) AS subject
    FROM (${members}) AS members
    LEFT JOIN ${accountOwners} AS owners
    ON owners.account = members.account`;
}

function accountFields(members: string, column: "account_id" | "name"): string {
  return `
    SELECT members.user AS user, members.day AS day, nullIf(known.field, '') AS value
    FROM (${members}) AS members
    LEFT JOIN (
      SELECT account, leftUTF8(${column}, ${maxValueCharacters}) AS field FROM accounts FINAL WHERE ${ofOrganization}
    ) AS known
    ON known.account = members.account`;
}
