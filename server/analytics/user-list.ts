/** Users as a list: searched, filtered, sorted, a page at a time. */

import { isIncluded } from "../warehouse/included.ts";
import type { Warehouse } from "../warehouse/warehouse.ts";
import { jsonKey, jsonSettings, jsonText } from "./json-text.ts";
import { spans } from "./spans.ts";

export interface UserSelection {
  readonly organization: number;
  /** Only users whose id, e-mail or name holds this text, whatever the case; empty for all. */
  readonly search: string;
  /** Only users whose trait has this value, as text; undefined for all. */
  readonly trait?: { readonly key: string; readonly value: string } | undefined;
  /** Only members of the account with this number; undefined for all. */
  readonly account?: number | undefined;
}

export interface UserListQuestion extends UserSelection {
  /** Today: nothing after it counts. */
  readonly toDay: number;
  readonly sort: "lastSeen" | "userId" | "email";
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

export interface UserListRow {
  readonly userId: string;
  readonly email: string;
  /** JSON text. */
  readonly traits: string;
  readonly isAccountOwner: boolean | null;
  /** Null without an account. */
  readonly accountId: string | null;
  readonly accountName: string | null;
  /** Whether the user counts in no figure. */
  readonly isExcluded: boolean;
  readonly firstIdentifiedAtMs: number;
  /** Days since 1970-01-01; null without any event. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** One page; those without any event come last in the order of last days. */
export function userList(warehouse: Warehouse, question: UserListQuestion): Promise<UserListRow[]> {
  const { sort, descending, limit, offset, toDay } = question;
  const sql = page(`${orders[sort]} ${descending ? "DESC" : "ASC"}`);
  return warehouse.rows<UserListRow>(sql, { ...selectionParameters(question), limit, offset, toDay });
}

/** How many users there are on all pages together. */
export async function userCount(warehouse: Warehouse, selection: UserSelection): Promise<number> {
  const [row] = await warehouse.rows<{ users: number }>(count, selectionParameters(selection));
  return row?.users ?? 0;
}

function selectionParameters({ organization, search, trait, account }: UserSelection) {
  return {
    organization,
    search,
    byTrait: trait !== undefined,
    value: trait?.value ?? "",
    ...jsonKey(trait?.key ?? ""),
    account: account ?? 0,
  };
}

const selected = `
  organization = {organization:UInt32}
  AND ({account:UInt32} = 0 OR account = {account:UInt32})
  AND ({search:String} = ''
    OR positionCaseInsensitiveUTF8(user_id, {search:String}) > 0
    OR positionCaseInsensitiveUTF8(email, {search:String}) > 0
    OR position(traits, '"name":') > 0
      AND positionCaseInsensitiveUTF8(JSONExtractString(traits, 'name'), {search:String}) > 0)
  AND (NOT {byTrait:Bool} OR ifNull(${jsonText("traits")} = {value:String}, false))`;

const orders: Record<UserListQuestion["sort"], string> = {
  lastSeen: "lastDay IS NOT NULL DESC, lastDay",
  userId: "user_id",
  email: "email",
};

// The page is found with few columns, and the others are read for its users alone.
const page = (order: string) => `
  WITH
    found AS (
      SELECT user, lastSpan.firstDay AS firstDay, lastSpan.lastDay AS lastDay
      FROM (SELECT user, user_id, email FROM users FINAL WHERE ${selected}) AS selected
      LEFT JOIN (SELECT user, toNullable(firstDay) AS firstDay, toNullable(lastDay) AS lastDay FROM ${spans}) AS lastSpan
      USING user
      ORDER BY ${order}, user
      LIMIT {limit:UInt32} OFFSET {offset:UInt32})
  SELECT
    user_id AS userId, email, traits, is_account_owner AS isAccountOwner,
    nullIf(named.account_id, '') AS accountId,
    if(accountId IS NULL, NULL, named.name) AS accountName,
    toBool(NOT ${isIncluded("user")}) AS isExcluded,
    toUnixTimestamp64Milli(first_identified_at) AS firstIdentifiedAtMs,
    found.firstDay AS firstDay, found.lastDay AS lastDay
  FROM (
    SELECT * FROM users FINAL
    WHERE organization = {organization:UInt32} AND user IN (SELECT user FROM found)) AS whole
  INNER JOIN found USING user
  LEFT JOIN (SELECT account, account_id, name FROM accounts FINAL WHERE organization = {organization:UInt32}) AS named
  ON named.account = whole.account
  ORDER BY ${order}, user
  ${jsonSettings}`;

const count = `SELECT count() AS users FROM users FINAL WHERE ${selected} ${jsonSettings}`;
