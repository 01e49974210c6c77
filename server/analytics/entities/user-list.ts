/**
 * Users as a list, searched, filtered and sorted by any column. First the numbers of a page's users are
 * found, by only the columns that this needs; then their rows are read.
 */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import {
  activeSpans,
  activeSpansOf,
  engagementParameters,
  type PassiveEvents,
} from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { jsonSettings, traitName } from "../json-text.ts";
import type { Sql } from "../sql.ts";
import { type EntitySet, type SetFilter, setConditions, setOfRows } from "./entity-sets.ts";
import { type ActivityFilter, activityConditions } from "./list-activity.ts";
import {
  type BillingFilter,
  type BillingOfList,
  type BillingSort,
  billingOrder,
  billingSql,
  isBillingSort,
} from "./list-billing.ts";
import { fallConditions } from "./list-falls.ts";
import {
  accountChurned,
  condition,
  inOrder,
  isScoreOrder,
  joinedSql,
  type ListPage,
  type ListSelection,
  newestFirst,
  type ScoresOfRow,
  scoreColumns,
  scoreConditions,
  scored,
  scoreOrders,
  scoresJoined,
  seenConditions,
} from "./list-scores.ts";
import { type OwnerFilter, ownerOrder, ownerSql, ownerText } from "./owners.ts";
import { type SortTrait, sortedTrait, type TraitFilter, traitCondition, traitOrder } from "./trait-filter.ts";

export interface UserSelection
  extends ListSelection,
    ActivityFilter,
    BillingFilter,
    BillingOfList,
    OwnerFilter,
    SetFilter {
  /** All of them have to match. */
  readonly traits?: readonly TraitFilter[];
  /** Whether the list has users who are excluded from figures; by default it does not. */
  readonly excluded?: "leftOut" | "only" | "included";
}

/** The order of users: by a column, or by a trait's name. */
type UserSort = keyof typeof orders | BillingSort | "owner" | SortTrait;

export interface UserListQuestion extends UserSelection, ListPage {
  readonly sort: UserSort;
}

export interface UserListRow extends ScoresOfRow {
  /** The user's number within the organization. */
  readonly user: number;
  readonly userId: string;
  /** Null until it is known. */
  readonly email: string | null;
  /** JSON text. */
  readonly traits: string;
  readonly isAccountOwner: boolean | null;
  /** Null without an account. */
  readonly accountId: string | null;
  readonly accountName: string | null;
  /** The account's attribute `owner`; empty without one. */
  readonly accountOwner: string;
  /** Whether the user counts in no figure. */
  readonly isExcluded: boolean;
  readonly firstIdentifiedAtMs: number;
  /** Days since 1970-01-01; null without any event. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** One page; rows without a value to sort by come last. */
export async function userList(warehouse: Warehouse, question: UserListQuestion): Promise<UserListRow[]> {
  return usersNumbered(warehouse, question, await userNumbers(warehouse, question));
}

/** The numbers of the users of a page, in order. */
export async function userNumbers(warehouse: Warehouse, question: UserListQuestion): Promise<number[]> {
  const { sort, descending, limit, offset } = question;
  const by = orderOf(question, sort);
  const { text, parameters } = selectedUsers(question, by);
  const direction = `${descending ? "DESC" : "ASC"} NULLS LAST`;
  const order = (typeof sort === "object" ? traitOrder("u.traits") : [by]).map(
    (one) => `${one} ${direction}`,
  );
  const ties = isScoreOrder(by) ? [`${orders.lastSeen} ${newestFirst}`] : [];
  const rows = await warehouse.rows<{ user: number }>(
    `SELECT u.user AS user ${text} ORDER BY ${[...order, ...ties].join(", ")}, u.user
     LIMIT {limit:UInt32} OFFSET {offset:UInt32} ${jsonSettings}`,
    { ...parameters, ...(typeof sort === "object" && sortedTrait(sort)), limit, offset },
  );
  return rows.map(({ user }) => user);
}

/** How many users there are on all pages together. */
export async function userCount(warehouse: Warehouse, selection: UserSelection): Promise<number> {
  const { text, parameters } = selectedUsers(selection, "");
  const sql = `SELECT count() AS users ${text} ${jsonSettings}`;
  const [row] = await warehouse.rows<{ users: number }>(sql, parameters);
  return row?.users ?? 0;
}

/** The users on all pages together, as a set. */
export function userSet(warehouse: Warehouse, selection: UserSelection): Promise<EntitySet> {
  const { text, parameters } = selectedUsers(selection, "");
  return setOfRows(warehouse, "user", { number: "u.user", from: `${text} ${jsonSettings}`, parameters });
}

/** The rows of these users, in this order. At most a few thousand: their numbers are a part of the query. */
export async function usersNumbered(
  warehouse: Warehouse,
  {
    organization,
    toDay,
    passiveEvents,
    run,
    earlier,
    activityOrder,
    ofAccounts,
  }: Pick<
    UserSelection,
    "organization" | "toDay" | "passiveEvents" | "run" | "earlier" | "activityOrder" | "ofAccounts"
  >,
  users: readonly number[],
): Promise<UserListRow[]> {
  if (users.length === 0) return [];
  const scores = scoresJoined({ run, earlier, activityOrder }, [among]);
  const isChurned = accountChurned({ run, earlier, ofAccounts }, "whole.account");
  const rows = await warehouse.rows<UserListRow>(detailed(scores.text, isChurned.text, passiveEvents), {
    ...engagementParameters(passiveEvents),
    ...scores.parameters,
    ...isChurned.parameters,
    organization,
    toDay,
    users,
  });
  return inOrder(users, rows, ({ user }) => user);
}

const name = traitName("traits");

const orders = {
  lastSeen: "seen.lastDay",
  firstSeen: "seen.firstDay",
  firstIdentified: "u.first_identified_at",
  userId: "u.user_id",
  email: "nullIf(u.email, '')",
  name: `lowerUTF8(multiIf(u.name != '', u.name, u.email != '', u.email, u.user_id))`,
  account: "nullIf(lowerUTF8(if(named.name = '', named.account_id, named.name)), '')",
  ...scoreOrders,
} as const;

/** The expression of an order; empty for one by a trait. */
function orderOf(selection: UserSelection, sort: UserSort): string {
  if (typeof sort === "object") return "";
  if (sort === "owner") return ownerOrder("user");
  return isBillingSort(sort) ? billingOrder(sort, selection, "user") : orders[sort];
}

/** The FROM and WHERE clauses that select users, with the joins that the order needs. */
function selectedUsers(selection: UserSelection, by: string): Sql {
  const { organization, toDay, passiveEvents } = selection;
  const about = scoreConditions(selection, "u.user", accountChurned(selection, "u.account"));
  const seen = seenConditions(selection, "seen.lastDay");
  const isByScore = isScoreOrder(by);
  const isSeen = seen.length > 0 || by.includes("seen.") || isByScore;
  const isScored = about.length > 0 || isByScore;
  const billing = billingSql(selection, "user", "u.user", by);
  const owner = ownerSql(selection, "user", by);
  const conditions = [
    ...about,
    ...seen,
    ...billing.conditions,
    ...owner.conditions,
    ...fallConditions(selection, "u.user"),
    ...activityConditions(selection, "u.user"),
    ...setConditions(selection, { user: "u.user", account: "u.account" }),
  ];
  return joinedSql(
    [
      ofUsers(selection),
      ...(isSeen
        ? [
            condition(`LEFT JOIN ${asNullable(activeSpans(passiveEvents))} AS seen ON seen.user = u.user`, {
              ...engagementParameters(passiveEvents),
              toDay,
            }),
          ]
        : []),
      ...(isScored ? [scored(selection, "u.user")] : []),
      ...billing.joins,
      ...owner.joins,
      ...(by.includes("named.")
        ? [condition(`LEFT JOIN ${accountNames} AS named ON named.account = u.account`)]
        : []),
      ...(conditions.length > 0 ? [condition("WHERE"), joinedSql(conditions, " AND ")] : []),
      condition("", { organization }),
    ],
    " ",
  );
}

function ofUsers({ search, traits = [], accountId, excluded = "leftOut" }: UserSelection): Sql {
  const conditions = [
    condition("organization = {organization:UInt32}"),
    ...(excluded === "included"
      ? []
      : [condition(`${excluded === "only" ? "NOT " : ""}${isIncluded("user")}`)]),
    ...(search === "" ? [] : [condition(found, { search })]),
    ...traits.map(traitCondition),
    ...(accountId === undefined ? [] : [condition(inAccount, { accountId })]),
  ];
  const { text, parameters } = joinedSql(conditions, " AND ");
  return condition(
    `FROM (SELECT user, account, user_id, email, traits, first_identified_at, ${name} AS name
       FROM users FINAL WHERE ${text}) AS u`,
    parameters,
  );
}

const found = `(
  positionCaseInsensitiveUTF8(user_id, {search:String}) > 0
  OR positionCaseInsensitiveUTF8(email, {search:String}) > 0
  OR positionCaseInsensitiveUTF8(${name}, {search:String}) > 0)`;

const inAccount = `account IN (
  SELECT account FROM accounts FINAL WHERE organization = {organization:UInt32} AND account_id = {accountId:String})`;

// A row that a join does not find has null, and not the first day of 1970.
const asNullable = (of: string) =>
  `(SELECT user, toNullable(firstDay) AS firstDay, toNullable(lastDay) AS lastDay FROM ${of})`;
const accountNames = `(
  SELECT account, account_id, name FROM accounts FINAL WHERE organization = {organization:UInt32})`;

const among = "user IN {users:Array(UInt32)}";
const detailed = (scores: string, isAccountChurned: string, passive: PassiveEvents) => `
  SELECT
    whole.user AS user, user_id AS userId, nullIf(whole.email, '') AS email, traits, is_account_owner AS isAccountOwner,
    nullIf(named.account_id, '') AS accountId,
    if(accountId IS NULL, NULL, named.name) AS accountName, owned.owner AS accountOwner,
    toBool(NOT ${isIncluded("whole.user")}) AS isExcluded,
    toUnixTimestamp64Milli(first_identified_at) AS firstIdentifiedAtMs,
    seen.firstDay AS firstDay, seen.lastDay AS lastDay, toBool(${isAccountChurned}) AS isAccountChurned, ${scoreColumns}
  FROM (SELECT * FROM users FINAL WHERE organization = {organization:UInt32} AND ${among}) AS whole
  LEFT JOIN ${asNullable(activeSpansOf(passive, among))} AS seen ON seen.user = whole.user
  LEFT JOIN ${scores} AS score ON score.entity = whole.user
  LEFT JOIN ${accountNames} AS named ON named.account = whole.account
  LEFT JOIN (
    SELECT account, ${ownerText("traits")} AS owner FROM accounts FINAL
    WHERE organization = {organization:UInt32} AND account IN (
      SELECT account FROM users FINAL WHERE organization = {organization:UInt32} AND ${among})) AS owned
  ON owned.account = whole.account ${jsonSettings}`;
