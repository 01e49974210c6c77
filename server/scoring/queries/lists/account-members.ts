/**
 * An account's members, each with a share of the account's activity in 28 days. Activity is weighted and
 * limited as in the score's volume, so the largest share is the one in the account's score.
 */

import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { isIncluded } from "../../../warehouse/schema/included.ts";
import type { HealthBand } from "../../scores/health.ts";
import type { State } from "../../scores/state.ts";
import { engagementEvents, type Population, volumeQuery } from "../engagement-events.ts";
import type { Query } from "../query.ts";
import { rowsOfRun } from "./stored-score.ts";

export interface AccountMembersQuestion {
  /** The population of accounts, with the number of this account. */
  readonly population: Population & { readonly entity: number };
  /** Only events before this day count, in days since 1970-01-01. */
  readonly cutoffDay: number;
  /** Where the users' own scores are; undefined before the first run. */
  readonly scores: RowsAt | undefined;
  /** Where the accounts' scores are; undefined before the first run. */
  readonly ofAccounts: RowsAt | undefined;
}

interface RowsAt {
  readonly day: number;
  readonly rowsVersion: number;
}

export type MemberSort = "share" | "lastActive" | "health" | "risk" | "email";

export interface AccountMember {
  /** The user's number. */
  readonly user: number;
  readonly userId: string;
  /** Null until it is known. */
  readonly email: string | null;
  /** Texts of traits, empty where there is none. */
  readonly name: string;
  readonly avatar: string;
  readonly isAccountOwner: boolean | null;
  /** Whether the user belongs to the account now. */
  readonly isMember: boolean;
  /** Whether the account that the user belongs to now has churned. */
  readonly isAccountChurned: boolean;
  /** Within 90 days; null without any. */
  readonly lastActiveDay: number | null;
  readonly activeDays28: number;
  /** Null without any activity in 28 days. */
  readonly share: number | null;
  readonly state: State;
  readonly healthBand: HealthBand;
  readonly health: number | null;
  readonly engagement: number | null;
  readonly risk: number | null;
}

export interface AccountMemberTotals {
  readonly total: number;
  readonly active28: number;
  readonly active90: number;
  readonly topShare: number | null;
}

/** A page of members; members without a value to order by come last. */
export function accountMembers(
  warehouse: Warehouse,
  question: AccountMembersQuestion,
  page: {
    readonly sort: MemberSort;
    readonly descending: boolean;
    readonly limit: number;
    readonly offset: number;
  },
): Promise<AccountMember[]> {
  const members = membersQuery(question);
  const none = { day: 0, rowsVersion: 0 };
  const { scores = none, ofAccounts = none } = question;
  const sql = `
    SELECT members.user AS user, user_id AS userId, nullIf(named.email, '') AS email, JSONExtractString(traits, 'name') AS name,
      JSONExtractString(traits, 'avatar') AS avatar, is_account_owner AS isAccountOwner, isMember,
      named.account IN (
        SELECT account FROM account_scores FINAL
        WHERE organization = {organization:UInt32} AND state = 'churned' AND version >= {accountsVersion:UInt64}
          AND day = addDays(toDate32('1970-01-01'), {accountsDay:Int32})) AS isAccountChurned,
      lastActiveDay, activeDays28, share, if(scored.state = '', 'no_data', scored.state) AS state,
      if(scored.healthBand = '', 'none', scored.healthBand) AS healthBand, health, engagement, risk
    FROM (${members.sql}) AS members
    INNER JOIN (SELECT user, account, user_id, email, traits, is_account_owner FROM users FINAL
      WHERE organization = {organization:UInt32}) AS named USING (user)
    LEFT JOIN (SELECT user, toString(state) AS state, toString(colour) AS healthBand, health, engagement, risk
      FROM user_scores FINAL WHERE ${rowsOfRun("user")}) AS scored USING (user)
    ORDER BY ${orders[page.sort]} ${page.descending ? "DESC" : "ASC"} NULLS LAST, user
    LIMIT {limit:UInt32} OFFSET {offset:UInt32}`;
  const { limit, offset } = page;
  const accounts = { accountsDay: ofAccounts.day, accountsVersion: ofAccounts.rowsVersion };
  return warehouse.rows<AccountMember>(sql, { ...members.parameters, ...scores, ...accounts, limit, offset });
}

/** All members together. */
export async function accountMemberTotals(
  warehouse: Warehouse,
  question: AccountMembersQuestion,
): Promise<AccountMemberTotals> {
  const { sql, parameters } = membersQuery(question);
  const [row] = await warehouse.rows<AccountMemberTotals>(
    `SELECT count() AS total, countIf(activeDays28 > 0) AS active28, countIf(lastActiveDay IS NOT NULL) AS active90,
       max(share) AS topShare FROM (${sql})`,
    parameters,
  );
  return row ?? { total: 0, active28: 0, active90: 0, topShare: null };
}

const orders: Readonly<Record<MemberSort, string>> = {
  share: "share",
  lastActive: "lastActiveDay",
  health: "health",
  risk: "risk",
  email: "nullIf(named.email, '')",
};

/** Rows (user, isMember, lastActiveDay, activeDays28, share) of current members and of users active in 90
 * days. */
function membersQuery({ population, cutoffDay }: AccountMembersQuestion): Query {
  const events = engagementEvents(population, cutoffDay, { daysBefore: 90 });
  const volumes = volumeQuery(population, cutoffDay);
  const sql = `
    SELECT user, max(belongs) AS isMember, nullIf(max(newest), 0) AS lastActiveDay, max(days28) AS activeDays28,
      max(volume) AS volume, volume / nullIf(sum(volume) OVER (), 0) AS share
    FROM (
      SELECT user, true AS belongs, toInt32(0) AS newest, toUInt64(0) AS days28, 0. AS volume FROM users FINAL
      WHERE organization = {organization:UInt32} AND account = {entity:UInt32} AND ${isIncluded("user")}
      UNION ALL
      SELECT user, false, max(epochDay), uniqExactIf(daysAgo, daysAgo <= 28), 0.
      FROM (${events.sql}) GROUP BY user
      UNION ALL
      SELECT user, false, toInt32(0), toUInt64(0), volume28 FROM (${volumes.sql}))
    GROUP BY user`;
  return { sql, parameters: { ...events.parameters, ...volumes.parameters } };
}
