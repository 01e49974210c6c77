/** Who cannot trigger alerts: excluded users, and accounts without included members. */
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import { excludedOfKey, type ScoredOrganization } from "../../../scoring/run/population.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import { newestRun } from "../../../scoring/run/status.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { accountsLeftOut, isExcluded } from "../../../warehouse/schema/included.ts";
import { dayParameter } from "../../../warehouse/upkeep/keep-events.ts";

type Run = ScoreRecord<RunBody>;

export interface Absent {
  /** By account: the first day at whose start it had no members. */
  readonly goneSince: ReadonlyMap<number, number>;
  /** Accounts whose members are all excluded now. */
  readonly excluded: ReadonlySet<number>;
}

/** Reads the accounts without included members. An account whose members were all erased counts as an account
 * that never had members. */
export async function absentAccounts(
  warehouse: Warehouse,
  { id, zone }: Pick<ScoredOrganization, "id" | "zone">,
): Promise<Absent> {
  const organization = id;
  const gone = await warehouse.rows<{ account: number; leftMs: number }>(
    `SELECT account, leftMs
     FROM (
       SELECT account FROM accounts FINAL WHERE organization = {organization:UInt32} AND account NOT IN (
         SELECT account FROM users FINAL WHERE organization = {organization:UInt32})) AS alone
     LEFT JOIN (
       SELECT move.1 AS account, max(move.2) AS leftMs
       FROM (
         SELECT arrayJoin(arrayZip(arrayPopBack(accounts), arrayPopFront(times))) AS move
         FROM (
           SELECT arraySort(groupArray((toUnixTimestamp64Milli(at), version, assumeNotNull(account)))) AS stays,
             stays.1 AS times, stays.3 AS accounts
           FROM user_versions WHERE organization = {organization:UInt32} AND isNotNull(account) GROUP BY user))
       GROUP BY account) AS leaving USING (account)`,
    { organization },
  );
  const excluded = await warehouse.rows<{ account: number }>(`SELECT account FROM ${accountsLeftOut}`, {
    organization,
  });
  return {
    goneSince: new Map(
      gone.map(({ account, leftMs }) => [
        account,
        leftMs === 0 ? Number.NEGATIVE_INFINITY : zone.dayOf(leftMs) + 1,
      ]),
    ),
    excluded: new Set(excluded.map(({ account }) => account)),
  };
}

/** The users of a list who are excluded, or the accounts whose members are all excluded. @throws
 * WarehouseError */
export async function excludedAmong(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  numbers: readonly number[],
): Promise<readonly number[]> {
  if (numbers.length === 0) return [];
  const rows = await warehouse.rows<{ number: number }>(
    `SELECT number FROM (SELECT arrayJoin({numbers:Array(UInt32)}) AS number)
     WHERE ${kind === "user" ? isExcluded("number") : `number IN ${accountsLeftOut}`}`,
    { organization, numbers },
  );
  return rows.map(({ number }) => number);
}

/** All excluded users, or all accounts whose members are excluded. @throws WarehouseError */
export async function allExcluded(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
): Promise<readonly number[]> {
  const from =
    kind === "account"
      ? `SELECT account AS number FROM ${accountsLeftOut}`
      : `SELECT user AS number FROM users FINAL WHERE organization = {organization:UInt32} AND ${isExcluded("user")}`;
  const rows = await warehouse.rows<{ readonly number: number }>(from, { organization });
  return rows.map(({ number }) => number);
}

/** Accounts whose set of excluded members changed between two runs of accounts: only one of the days has a
 * row of such a member, although the member is old enough for both. @throws WarehouseError */
export async function accountsWithExclusions(
  warehouse: Warehouse,
  organization: number,
  { now, before }: { readonly now: Run; readonly before: Run },
  accounts: readonly number[],
): Promise<ReadonlySet<number>> {
  const isSame = excludedOfKey(now.body.settingsKey) === excludedOfKey(before.body.settingsKey);
  if (isSame || accounts.length === 0) return new Set();
  // A user whom the last run of the day left out keeps the row of an earlier run of that day.
  const versionOf = async ({ day }: Run) =>
    (await newestRun(warehouse, organization, "user", day))?.body.rowsVersion ?? 0;
  const members = `
    SELECT user, account FROM users FINAL
    WHERE organization = {organization:UInt32} AND account IN {accounts:Array(UInt32)}`;
  const rows = await warehouse.rows<{ account: number }>(
    `SELECT DISTINCT account
     FROM (${members}) AS members
     INNER JOIN (
       SELECT user, countIf(isNow) AS rowsNow, countIf(NOT isNow) AS rowsBefore, anyIf(tenure_days, isNow) AS tenureDays
       FROM (
         SELECT user, tenure_days, day = ${dayParameter("day")} AS isNow FROM user_scores FINAL
         WHERE organization = {organization:UInt32} AND day IN (${dayParameter("day")}, ${dayParameter("dayBefore")})
           AND user IN (SELECT user FROM (${members}))
           AND version >= if(day = ${dayParameter("day")}, {version:UInt64}, {versionBefore:UInt64}))
       GROUP BY user) AS scored USING (user)
     WHERE rowsNow = 0 OR (rowsBefore = 0 AND tenureDays > {gap:Int32})`,
    {
      organization,
      accounts,
      day: now.day,
      dayBefore: before.day,
      gap: now.day - before.day,
      version: await versionOf(now),
      versionBefore: await versionOf(before),
    },
  );
  return new Set(rows.map(({ account }) => account));
}
