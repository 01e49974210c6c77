/** Handlers of the JSON API's lists: users and accounts with their scores. */

import type { JsonObject } from "../../../contract/json.ts";
import { ApiError } from "../../../contract/refusal.ts";
import {
  type AccountListQuestion,
  type AccountListRow,
  accountCount,
  accountList,
  accountNumbers,
  accountsNumbered,
  type Owners,
  type TraitFilter,
  type UserListQuestion,
  type UserListRow,
  userCount,
  userList,
  userNumbers,
  usersNumbered,
} from "../../analytics/analytics.ts";
import { type OfRun, usualChange } from "../../scoring/scoring.ts";
import type { AnalysisHandlers, ApiContext, WholeTables } from "../api/context.ts";
import { questionOfCalls } from "./calls.ts";
import { dayOfParameter, today, usersQuestion } from "./days.ts";
import { type Billing, billingOf, listedBilling } from "./revenue/payers.ts";
import { listedAccount, listedScores, listedUser } from "./rows.ts";
import { accountsRun, type Run, riskScaleOfRun } from "./score-context.ts";
import { bothRuns, monthDays } from "./score-lists.ts";
import { ownerFields, ownerFilterOf, ownersOfOrganization } from "./work/owners.ts";

type Users = ApiContext<"GET /api/users">;
type Accounts = ApiContext<"GET /api/accounts">;

/** Rows of a CSV. Their numbers, 11 bytes each, are found before the first is sent. */
const csvMaxRows = 1_000_000;
/** Rows that are read together for a CSV. */
const chunkRows = 5_000;

export const listsHandlers = {
  "GET /api/users": async (context) => {
    const { warehouse, query } = context;
    const { question, head, newest, billing } = await usersOf(context);
    const [total, users, usual] = await Promise.all([
      userCount(warehouse, question),
      userList(warehouse, { ...question, limit: query.limit, offset: query.offset }),
      usualChangeOf(warehouse, question.run),
    ]);
    const rows = await usersAnswer(warehouse, users, newest, billing, question.owners);
    return { ...head, usualChange: usual, billing: billing.head, total, users: rows };
  },

  "GET /api/accounts": async (context) => {
    const { warehouse, query } = context;
    const { question, head, newest, billing } = await accountsOf(context);
    const [total, accounts, usual] = await Promise.all([
      accountCount(warehouse, question),
      accountList(warehouse, { ...question, limit: query.limit, offset: query.offset }),
      usualChangeOf(warehouse, question.run),
    ]);
    const rows = await accountsAnswer(warehouse, accounts, newest, billing, question.owners);
    return { ...head, usualChange: usual, billing: billing.head, total, accounts: rows };
  },
} satisfies Partial<AnalysisHandlers>;

/** All rows of the lists, for CSV. @throws ApiError when they are too many */
export const wholeLists = {
  /** all that match. @throws ApiError when they are too many */
  "GET /api/users": async (context) => {
    const { warehouse } = context;
    const { question, newest, billing } = await usersOf(context);
    const numbers = await userNumbers(warehouse, { ...question, limit: csvMaxRows + 1, offset: 0 });
    return inChunks(numbers, async (chunk) =>
      usersAnswer(
        ...([warehouse, await usersNumbered(warehouse, question, chunk), newest, billing] as const),
        question.owners,
      ),
    );
  },

  /** all that match. @throws ApiError when they are too many */
  "GET /api/accounts": async (context) => {
    const { warehouse } = context;
    const { question, newest, billing } = await accountsOf(context);
    const numbers = await accountNumbers(warehouse, { ...question, limit: csvMaxRows + 1, offset: 0 });
    return inChunks(numbers, async (chunk) =>
      accountsAnswer(
        ...([warehouse, await accountsNumbered(warehouse, question, chunk), newest, billing] as const),
        question.owners,
      ),
    );
  },
} satisfies WholeTables;

async function usualChangeOf(warehouse: Users["warehouse"], run: OfRun | undefined): Promise<number | null> {
  return run === undefined ? null : usualChange(warehouse, run);
}

async function usersAnswer(
  warehouse: Users["warehouse"],
  rows: readonly UserListRow[],
  run: Run | undefined,
  billing: Billing,
  owners: Owners,
) {
  const numbers = rows.map(({ user }) => user);
  const fieldsOf = await listedBilling(warehouse, billing, numbers);
  return rows.map((row) => {
    const user = listedUser(row);
    return {
      ...user,
      ...ownerFields(owners, user.traits, row.accountOwner),
      ...listedScores(row, run),
      ...fieldsOf({ entity: row.user, risk: row.risk }),
    };
  });
}

async function accountsAnswer(
  warehouse: Accounts["warehouse"],
  rows: readonly AccountListRow[],
  run: Run | undefined,
  billing: Billing,
  owners: Owners,
) {
  const numbers = rows.map(({ account }) => account);
  const fieldsOf = await listedBilling(warehouse, billing, numbers);
  return rows.map((row) => {
    const account = listedAccount(row);
    const { renewsAt } = account.traits;
    return {
      ...account,
      ...ownerFields(owners, account.traits),
      ...listedScores(row, run),
      ...fieldsOf({ entity: row.account, risk: row.risk, renewsAt }),
    };
  });
}

async function usersOf(context: Users) {
  const { query } = context;
  const { scores, ...rest } = await scoresOfList(context, "user");
  const owners = await ownersOfOrganization(context);
  const question: Omit<UserListQuestion, "limit" | "offset"> & { readonly owners: Owners } = {
    ...query,
    ...ownerFilterOf(context, owners, query.owner),
    ...scores,
    payers: rest.billing.payers,
    ...(await usersQuestion(context, today(context))),
    accountId: query.account,
    traits: traitFilters(query),
    activity: activityOf(query),
    sort: query.sort === "trait" ? byTrait(query.sortTrait) : query.sort,
    descending: query.order === "descending",
  };
  return { question, ...rest };
}

async function accountsOf(context: Accounts) {
  const { query } = context;
  const { scores, ...rest } = await scoresOfList(context, "account");
  const owners = await ownersOfOrganization(context);
  const question: Omit<AccountListQuestion, "limit" | "offset"> & { readonly owners: Owners } = {
    ...query,
    ...ownerFilterOf(context, owners, query.owner),
    ...scores,
    payers: rest.billing.payers,
    ...(await usersQuestion(context, today(context))),
    traits: traitFilters(query),
    sort: query.sort === "trait" ? byTrait(query.sortTrait) : query.sort,
    descending: query.order === "descending",
  };
  return { question, ...rest };
}

async function scoresOfList(context: Users | Accounts, kind: "user" | "account") {
  const { since, toCall } = context.query;
  const { runs, newest, head } = await bothRuns(context, kind, since, monthDays);
  const ofAccounts =
    kind === "user" && runs !== undefined ? await accountsRun(context, runs.run.day) : undefined;
  const call = toCall === undefined ? {} : { call: { is: toCall, by: await questionOfCalls(context, kind) } };
  const riskLimits = riskScaleOfRun(newest);
  const billing = await billingOf(context, kind, newest);
  return {
    scores: { ...{ run: undefined, earlier: undefined, ...runs }, ofAccounts, riskLimits, ...call },
    newest,
    head,
    billing,
  };
}

/** Longest period of the filter by activity. */
const maxActiveDays = 800;

/** @throws ApiError when the days are not both there, or do not follow each other */
function activityOf(query: Users["query"]): UserListQuestion["activity"] {
  const { activeFrom, activeTo, lifecycle, activeInAccount: inAccount } = query;
  if ([activeFrom, activeTo, lifecycle, inAccount].every((sent) => sent === undefined)) return undefined;
  if (activeFrom === undefined || activeTo === undefined) {
    throw new ApiError(
      "validation_error",
      `${activeFrom === undefined ? "activeFrom" : "activeTo"} is missing: send activeFrom and activeTo together.`,
    );
  }
  const fromDay = dayOfParameter("activeFrom", activeFrom);
  const toDay = dayOfParameter("activeTo", activeTo);
  if (toDay < fromDay || toDay - fromDay >= maxActiveDays) {
    const why = toDay < fromDay ? "it is before activeFrom" : `send at most ${maxActiveDays} days`;
    throw new ApiError("validation_error", `activeTo is not valid: ${why}.`);
  }
  return { fromDay, toDay, lifecycle, inAccount };
}

type TraitQuery = Pick<Users["query"], "trait" | "match" | "value">;

/** @throws ApiError when a part of one is missing */
function traitFilters({ traits = [], ...one }: TraitQuery & Pick<Users["query"], "traits">): TraitFilter[] {
  const { trait, match, value } = one;
  const isNone = trait === undefined && value === undefined && match === "is";
  return [
    ...(isNone ? [] : [traitFilter("trait", one)]),
    ...traits.map((each) => traitFilter("traits", { match: "is", ...each })),
  ];
}

/** @param parameter where it was sent @throws ApiError when a part of it is missing */
function traitFilter(parameter: string, { trait, match, value }: TraitQuery): TraitFilter {
  const needsValue = match !== "isEmpty" && match !== "isNotEmpty";
  if (trait === undefined || (needsValue && value === undefined)) {
    throw new ApiError("validation_error", `${parameter} is not valid: send trait and value together.`);
  }
  return { key: trait, match, value: value ?? "" };
}

/** @throws ApiError when it is not said by which trait */
function byTrait(trait: string | undefined): { readonly trait: string } {
  if (trait !== undefined) return { trait };
  throw new ApiError("validation_error", "sortTrait is missing: sort=trait needs the trait's name.");
}

/** @throws ApiError when they are too many */
function inChunks(
  numbers: readonly number[],
  read: (chunk: readonly number[]) => Promise<readonly JsonObject[]>,
): AsyncIterable<readonly JsonObject[]> {
  if (numbers.length > csvMaxRows) {
    throw new ApiError(
      "validation_error",
      `format is not valid: more than ${csvMaxRows} rows match. Filter them, or use rekindle export.`,
    );
  }
  return (async function* () {
    for (let at = 0; at < numbers.length; at += chunkRows)
      yield await read(numbers.slice(at, at + chunkRows));
  })();
}
