/** The lists of users and of accounts. */
import {
  activeMembersTable,
  activeSpans,
  activeSpansOf,
  engagementParameters,
  type PassiveEvents,
} from "../../warehouse/schema/engagement.ts";
import { isIncluded } from "../../warehouse/schema/included.ts";
import { traitName } from "../json-text.ts";
import { EntityList, type ListKind, type ListRow, type RowsQuestion } from "./entity-list.ts";
import { condition, scoreOrders, seatsColumns, seatsOrders } from "./list-scores.ts";
import { ownerText } from "./owners.ts";

export interface UserListRow extends ListRow {
  readonly userId: string;
  /** Null until it is known. */
  readonly email: string | null;
  readonly isAccountOwner: boolean | null;
  /** Null without an account. */
  readonly accountId: string | null;
  readonly accountName: string | null;
  /** The account's attribute `owner`; empty without one. */
  readonly accountOwner: string;
  /** Whether the user counts in no figure. */
  readonly isExcluded: boolean;
  readonly firstIdentifiedAtMs: number;
}

export interface AccountListRow extends ListRow {
  readonly accountId: string;
  readonly name: string;
  readonly avatar: string | null;
  readonly createdAtMs: number;
  /** Its current users, without excluded ones. */
  readonly members: number;
  /** Users with an engagement event that carries the account in the 28 days before the day of the scores;
   * before today without scores. Some may belong to another account now. */
  readonly activeMembers: number;
  /** In the scores: seats bought, active members ÷ seats, and the pulse from 1 to 5. Null where unknown. */
  readonly seats: number | null;
  readonly seatsUsed: number | null;
  readonly pulse: number | null;
}

const name = traitName("traits");
const accountNames = `(
  SELECT account, account_id, name FROM accounts FINAL WHERE organization = {organization:UInt32})`;
const namedAccount = `LEFT JOIN ${accountNames} AS named ON named.account = listed.account`;

const userOrders = {
  lastSeen: "seen.lastDay",
  firstSeen: "seen.firstDay",
  firstIdentified: "listed.first_identified_at",
  userId: "listed.user_id",
  email: "nullIf(listed.email, '')",
  name: "lowerUTF8(multiIf(listed.name != '', listed.name, listed.email != '', listed.email, listed.user_id))",
  account: "nullIf(lowerUTF8(if(named.name = '', named.account_id, named.name)), '')",
  ...scoreOrders,
} as const;

const users: ListKind<keyof typeof userOrders> = {
  kind: "user",
  columns: `user, account, user_id, email, traits, first_identified_at, ${name} AS name`,
  searched: ["user_id", "email", name],
  conditions: ({ accountId, excluded = "leftOut" }) => [
    ...(excluded === "included"
      ? []
      : [condition(`${excluded === "only" ? "NOT " : ""}${isIncluded("user")}`)]),
    ...(accountId === undefined
      ? []
      : [
          condition(
            `account IN (
              SELECT account FROM accounts FINAL
              WHERE organization = {organization:UInt32} AND account_id = {accountId:String})`,
            { accountId },
          ),
        ]),
  ],
  orders: userOrders,
  joins: (_, order) => (order.includes("named.") ? [condition(namedAccount)] : []),
  seen: seenUsers,
  ownColumns: `
    user_id AS userId, nullIf(listed.email, '') AS email, is_account_owner AS isAccountOwner,
    nullIf(named.account_id, '') AS accountId, if(accountId IS NULL, NULL, named.name) AS accountName,
    owned.owner AS accountOwner, toBool(NOT ${isIncluded("listed.user")}) AS isExcluded,
    toUnixTimestamp64Milli(first_identified_at) AS firstIdentifiedAtMs`,
  ownJoins: (_, which) =>
    condition(`
      ${namedAccount}
      LEFT JOIN (
        SELECT account, ${ownerText("traits")} AS owner FROM accounts FINAL
        WHERE organization = {organization:UInt32} AND account IN (
          SELECT account FROM users FINAL WHERE organization = {organization:UInt32} AND ${which})) AS owned
      ON owned.account = listed.account`),
};

const accountOrders = {
  lastSeen: "seen.lastDay",
  firstSeen: "seen.firstDay",
  accountId: "listed.account_id",
  name: "lowerUTF8(if(listed.name = '', listed.account_id, listed.name))",
  members: "seen.members",
  activeMembers: "ifNull(active.activeMembers, 0)",
  createdAt: "listed.created_at",
  ...scoreOrders,
  ...seatsOrders,
} as const;

const accounts: ListKind<keyof typeof accountOrders> = {
  kind: "account",
  columns: "account, account_id, name, traits, created_at",
  searched: ["account_id", "name"],
  conditions: ({ accountId }) =>
    accountId === undefined ? [] : [condition("account_id = {accountId:String}", { accountId })],
  orders: accountOrders,
  joins: (selection, order) => (order.includes("active.") ? [activeMembers(selection, "account != 0")] : []),
  seen: seenMembers,
  ownColumns: `
    account_id AS accountId, name, avatar, toUnixTimestamp64Milli(created_at) AS createdAtMs,
    seen.members AS members, ifNull(active.activeMembers, 0) AS activeMembers, ${seatsColumns}`,
  ownJoins: activeMembers,
};

/** The list of each kind. */
export const lists = {
  user: new EntityList<UserListRow, keyof typeof userOrders>(users),
  account: new EntityList<AccountListRow, keyof typeof accountOrders>(accounts),
} as const;

// A row that a join does not find has null, and not the first day of 1970.
function seenUsers(passive: PassiveEvents, which?: string): string {
  const spans = which === undefined ? activeSpans(passive) : activeSpansOf(passive, which);
  return `(SELECT user, toNullable(firstDay) AS firstDay, toNullable(lastDay) AS lastDay FROM ${spans})`;
}

/** Beside the days the count of members. */
function seenMembers(passive: PassiveEvents, which?: string): string {
  const members = `SELECT user FROM users FINAL WHERE organization = {organization:UInt32} AND ${which}`;
  return `(
    SELECT account, count() AS members, min(days.firstDay) AS firstDay, max(days.lastDay) AS lastDay
    FROM (
      SELECT user, account FROM users FINAL
      WHERE organization = {organization:UInt32} AND ${which ?? "account != 0"} AND ${isIncluded("user")}) AS members
    LEFT JOIN ${seenUsers(passive, which && `user IN (${members})`)} AS days
    USING user
    GROUP BY account)`;
}

/** Joins active members, as of the day of the scores beside them. @param which a condition on `account` */
function activeMembers({ passiveEvents, run, toDay }: RowsQuestion, which: string) {
  return condition(
    `LEFT JOIN ${activeMembersTable(passiveEvents, which)} AS active ON active.account = listed.account`,
    { ...engagementParameters(passiveEvents), membersDay: run?.day ?? toDay },
  );
}
