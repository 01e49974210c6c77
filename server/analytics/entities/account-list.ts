/** Accounts as a list, searched, filtered and sorted by any column, with their members' activity. As with
 * users, the numbers of a page's accounts are found first, and their rows are read then. */

import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import {
  activeMembersTable,
  activeSpans,
  activeSpansOf,
  engagementParameters,
  type PassiveEvents,
} from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { jsonSettings } from "../json-text.ts";
import type { Sql } from "../sql.ts";
import { type EntitySet, type SetFilter, setConditions, setOfRows } from "./entity-sets.ts";
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
import { type OwnerFilter, ownerOrder, ownerSql } from "./owners.ts";
import { type SortTrait, sortedTrait, type TraitFilter, traitCondition, traitOrder } from "./trait-filter.ts";

export interface AccountSelection
  extends ListSelection,
    BillingFilter,
    BillingOfList,
    OwnerFilter,
    SetFilter {
  /** All of them have to match. */
  readonly traits?: readonly TraitFilter[];
}

/** The order of accounts: by a column, or by an attribute's name. */
type AccountSort = keyof typeof orders | BillingSort | "owner" | SortTrait;

export interface AccountListQuestion extends AccountSelection, ListPage {
  readonly sort: AccountSort;
}

export interface AccountListRow extends ScoresOfRow {
  /** The account's number within the organization. */
  readonly account: number;
  readonly accountId: string;
  readonly name: string;
  readonly avatar: string | null;
  readonly createdAtMs: number;
  /** Its current users, without excluded ones. */
  readonly members: number;
  /** Users with an engagement event that carries the account in the 28 days before the day of the scores;
   * before today without scores. Some may belong to another account now. */
  readonly activeMembers: number;
  /** Of its members' events, in days since 1970-01-01; null without any. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
  /** Attributes, as JSON text. */
  readonly traits: string;
}

/** One page; rows without a value to sort by come last. */
export async function accountList(
  warehouse: Warehouse,
  question: AccountListQuestion,
): Promise<AccountListRow[]> {
  return accountsNumbered(warehouse, question, await accountNumbers(warehouse, question));
}

/** The numbers of the accounts of a page, in order. */
export async function accountNumbers(warehouse: Warehouse, question: AccountListQuestion): Promise<number[]> {
  const { sort, descending, limit, offset } = question;
  const by = orderOf(question, sort);
  const { text, parameters } = selectedAccounts(question, by);
  const direction = `${descending ? "DESC" : "ASC"} NULLS LAST`;
  const order = (typeof sort === "object" ? traitOrder("a.traits") : [by]).map(
    (one) => `${one} ${direction}`,
  );
  const ties = isScoreOrder(by) ? [`${orders.lastSeen} ${newestFirst}`] : [];
  const rows = await warehouse.rows<{ account: number }>(
    `SELECT a.account AS account ${text}
     ORDER BY ${[...order, ...ties].join(", ")}, a.account
     LIMIT {limit:UInt32} OFFSET {offset:UInt32} ${jsonSettings}`,
    { ...parameters, ...(typeof sort === "object" && sortedTrait(sort)), limit, offset },
  );
  return rows.map(({ account }) => account);
}

/** One account, without scores; undefined when there is none with this id. */
export async function accountWithId(
  warehouse: Warehouse,
  question: Pick<AccountSelection, "organization" | "toDay" | "passiveEvents" | "run"> & {
    readonly accountId: string;
  },
): Promise<AccountListRow | undefined> {
  const [row] = await accountList(warehouse, {
    ...question,
    earlier: undefined,
    search: "",
    sort: "accountId",
    descending: false,
    limit: 1,
    offset: 0,
  });
  return row;
}

/** How many accounts there are on all pages together. */
export async function accountCount(warehouse: Warehouse, selection: AccountSelection): Promise<number> {
  const { text, parameters } = selectedAccounts(selection, "");
  const [row] = await warehouse.rows<{ accounts: number }>(
    `SELECT count() AS accounts ${text} ${jsonSettings}`,
    parameters,
  );
  return row?.accounts ?? 0;
}

/** The accounts on all pages together, as a set. */
export function accountSet(warehouse: Warehouse, selection: AccountSelection): Promise<EntitySet> {
  const { text, parameters } = selectedAccounts(selection, "");
  return setOfRows(warehouse, "account", {
    number: "a.account",
    from: `${text} ${jsonSettings}`,
    parameters,
  });
}

/** The rows of these accounts, in this order. At most a few thousand: their numbers are a part of the
 * query. */
export async function accountsNumbered(
  warehouse: Warehouse,
  {
    organization,
    toDay,
    passiveEvents,
    run,
    earlier,
    activityOrder,
  }: Pick<AccountSelection, "organization" | "toDay" | "passiveEvents" | "run" | "earlier" | "activityOrder">,
  accounts: readonly number[],
): Promise<AccountListRow[]> {
  if (accounts.length === 0) return [];
  const scores = scoresJoined({ run, earlier, activityOrder }, [among]);
  const rows = await warehouse.rows<AccountListRow>(detailed(scores.text, passiveEvents), {
    ...engagementParameters(passiveEvents),
    ...scores.parameters,
    organization,
    toDay,
    membersDay: membersDay({ run, toDay }),
    accounts,
  });
  return inOrder(accounts, rows, ({ account }) => account);
}

/** The expression of an order; empty for one by an attribute. */
function orderOf(selection: AccountSelection, sort: AccountSort): string {
  if (typeof sort === "object") return "";
  if (sort === "owner") return ownerOrder("account");
  return isBillingSort(sort) ? billingOrder(sort, selection, "account") : orders[sort];
}

const orders = {
  lastSeen: "of_members.lastDay",
  firstSeen: "of_members.firstDay",
  accountId: "a.account_id",
  name: "lowerUTF8(if(a.name = '', a.account_id, a.name))",
  members: "of_members.members",
  activeMembers: "ifNull(active.activeMembers, 0)",
  createdAt: "a.created_at",
  ...scoreOrders,
} as const;

/** The FROM and WHERE clauses that select accounts, with the joins that the order needs. */
function selectedAccounts(selection: AccountSelection, order: string): Sql {
  const { organization, toDay, passiveEvents: passive } = selection;
  const about = scoreConditions(selection, "a.account");
  const seen = seenConditions(selection, "of_members.lastDay");
  const billing = billingSql(selection, "account", "a.account", order);
  const owner = ownerSql(selection, "account", order);
  const conditions = [
    ...about,
    ...seen,
    ...billing.conditions,
    ...owner.conditions,
    ...fallConditions(selection, "a.account"),
    ...setConditions(selection, { account: "a.account" }),
  ];
  return joinedSql(
    [
      ofAccounts(selection),
      ...(seen.length > 0 || order.includes("of_members.") || isScoreOrder(order)
        ? [
            condition(`LEFT JOIN ${ofMembers(passive)} AS of_members ON of_members.account = a.account`, {
              ...engagementParameters(passive),
              toDay,
            }),
          ]
        : []),
      ...(order.includes("active.") ? [activeOf(selection)] : []),
      ...(about.length > 0 || isScoreOrder(order) ? [scored(selection, "a.account")] : []),
      ...billing.joins,
      ...owner.joins,
      ...(conditions.length > 0 ? [condition("WHERE"), joinedSql(conditions, " AND ")] : []),
      condition("", { organization }),
    ],
    " ",
  );
}

function activeOf({ passiveEvents, ...selection }: AccountSelection): Sql {
  return condition(
    `LEFT JOIN ${activeMembersTable(passiveEvents, "account != 0")} AS active ON active.account = a.account`,
    { ...engagementParameters(passiveEvents), membersDay: membersDay(selection) },
  );
}

/** T for active members: the day of the scores beside them. */
function membersDay({ run, toDay }: Pick<AccountSelection, "run" | "toDay">): number {
  return run?.day ?? toDay;
}

function ofAccounts({ search, accountId, traits = [] }: AccountSelection): Sql {
  const conditions = [
    condition("organization = {organization:UInt32}"),
    ...(search === "" ? [] : [condition(found, { search })]),
    ...(accountId === undefined ? [] : [condition("account_id = {accountId:String}", { accountId })]),
    ...traits.map(traitCondition),
  ];
  const { text, parameters } = joinedSql(conditions, " AND ");
  return condition(
    `FROM (SELECT account, account_id, name, traits, created_at FROM accounts FINAL WHERE ${text}) AS a`,
    parameters,
  );
}

const found = `(
  positionCaseInsensitiveUTF8(account_id, {search:String}) > 0
  OR positionCaseInsensitiveUTF8(name, {search:String}) > 0)`;

/** A subquery of the members' count and their first and last day, by account. @param which a condition on
 * `account` */
function ofMembers(passive: PassiveEvents, which?: string): string {
  const members = `SELECT user FROM users FINAL WHERE organization = {organization:UInt32} AND ${which}`;
  const seen = which === undefined ? activeSpans(passive) : activeSpansOf(passive, `user IN (${members})`);
  return `(
    SELECT account, count() AS members, min(seen.firstDay) AS firstDay, max(seen.lastDay) AS lastDay
    FROM (
      SELECT user, account FROM users FINAL
      WHERE organization = {organization:UInt32} AND ${which ?? "account != 0"} AND ${isIncluded("user")}) AS members
    LEFT JOIN (SELECT user, toNullable(firstDay) AS firstDay, toNullable(lastDay) AS lastDay FROM ${seen}) AS seen
    USING user
    GROUP BY account)`;
}

const among = "account IN {accounts:Array(UInt32)}";
const detailed = (scores: string, passive: PassiveEvents) => `
  SELECT
    a.account AS account, account_id AS accountId, name, avatar, traits, toUnixTimestamp64Milli(created_at) AS createdAtMs,
    of_members.members AS members, ifNull(active.activeMembers, 0) AS activeMembers,
    of_members.firstDay AS firstDay, of_members.lastDay AS lastDay, false AS isAccountChurned, ${scoreColumns}
  FROM (SELECT * FROM accounts FINAL WHERE organization = {organization:UInt32} AND ${among}) AS a
  LEFT JOIN ${ofMembers(passive, among)} AS of_members ON of_members.account = a.account
  LEFT JOIN ${activeMembersTable(passive, among)} AS active ON active.account = a.account
  LEFT JOIN ${scores} AS score ON score.entity = a.account`;
