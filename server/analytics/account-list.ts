/** Accounts as a list: searched, sorted, a page at a time, each with what its members do. */

import { isIncluded } from "../warehouse/included.ts";
import type { Warehouse } from "../warehouse/warehouse.ts";
import { spans } from "./spans.ts";

/** Members are active who did anything within this many days. */
const activeMemberDays = 28;

export interface AccountSelection {
  readonly organization: number;
  /** Only accounts whose id or name holds this text, whatever the case; empty for all. */
  readonly search: string;
  /** Only the account with exactly this id; undefined for all. */
  readonly accountId?: string | undefined;
}

export interface AccountListQuestion extends AccountSelection {
  /** Today: nothing after it counts. */
  readonly toDay: number;
  readonly sort: "lastSeen" | "accountId" | "name" | "members";
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface AccountListRow {
  /** The account's number within the organization. */
  readonly account: number;
  readonly accountId: string;
  readonly name: string;
  readonly avatar: string | null;
  readonly createdAtMs: number;
  /** Users who belong to it now, without those who are excluded from figures. */
  readonly members: number;
  /** Members who did anything within the 28 days that end today. */
  readonly activeMembers: number;
  /** Of its members' events, in days since 1970-01-01; null without any. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** One page; those without any event come last in the order of last days. */
export function accountList(warehouse: Warehouse, question: AccountListQuestion): Promise<AccountListRow[]> {
  const { sort, descending, limit, offset, toDay } = question;
  const sql = page(`${orders[sort]} ${descending ? "DESC" : "ASC"}`);
  return warehouse.rows<AccountListRow>(sql, { ...selectionParameters(question), limit, offset, toDay });
}

/** One account; undefined when there is none with this id. */
export async function accountWithId(
  warehouse: Warehouse,
  question: { readonly organization: number; readonly accountId: string; readonly toDay: number },
): Promise<AccountListRow | undefined> {
  const [row] = await accountList(warehouse, {
    ...question,
    ...{ search: "", sort: "accountId", descending: false, limit: 1, offset: 0 },
  });
  return row;
}

/** How many accounts there are on all pages together. */
export async function accountCount(warehouse: Warehouse, selection: AccountSelection): Promise<number> {
  const [row] = await warehouse.rows<{ accounts: number }>(count, selectionParameters(selection));
  return row?.accounts ?? 0;
}

function selectionParameters({ organization, search, accountId }: AccountSelection) {
  return { organization, search, byId: accountId !== undefined, accountId: accountId ?? "" };
}

const selected = `
  organization = {organization:UInt32}
  AND (NOT {byId:Bool} OR account_id = {accountId:String})
  AND ({search:String} = ''
    OR positionCaseInsensitiveUTF8(account_id, {search:String}) > 0
    OR positionCaseInsensitiveUTF8(name, {search:String}) > 0)`;

const orders: Record<AccountListQuestion["sort"], string> = {
  lastSeen: "lastDay IS NOT NULL DESC, lastDay",
  accountId: "account_id",
  name: "name",
  members: "members",
};

const page = (order: string) => `
  SELECT
    account, account_id AS accountId, name, avatar, toUnixTimestamp64Milli(created_at) AS createdAtMs,
    of_members.members AS members, of_members.activeMembers AS activeMembers,
    of_members.firstDay AS firstDay, of_members.lastDay AS lastDay
  FROM (SELECT account, account_id, name, avatar, created_at FROM accounts FINAL WHERE ${selected}) AS selected
  LEFT JOIN (
    SELECT account, count() AS members, countIf(seen.lastDay > {toDay:Int32} - ${activeMemberDays}) AS activeMembers,
      min(seen.firstDay) AS firstDay, max(seen.lastDay) AS lastDay
    FROM (
      SELECT user, account FROM users FINAL
      WHERE organization = {organization:UInt32} AND account != 0 AND ${isIncluded("user")}) AS members
    LEFT JOIN (SELECT user, toNullable(firstDay) AS firstDay, toNullable(lastDay) AS lastDay FROM ${spans}) AS seen
    USING user
    GROUP BY account) AS of_members
  USING account
  ORDER BY ${order}, account
  LIMIT {limit:UInt32} OFFSET {offset:UInt32}`;

const count = `SELECT count() AS accounts FROM accounts FINAL WHERE ${selected}`;
