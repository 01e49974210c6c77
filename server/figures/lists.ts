/** Handlers of the JSON API's lists: users and accounts with their scores. */

import type { JsonObject } from "../../contract/json.ts";
import { ApiError } from "../../contract/refusal.ts";
import {
  type AccountListQuestion,
  type AccountListRow,
  accountCount,
  accountList,
  accountNumbers,
  accountsNumbered,
} from "../analytics/entities/account-list.ts";
import type { Controls } from "../analytics/entities/controls.ts";
import type { Owners } from "../analytics/entities/owners.ts";
import {
  type UserListQuestion,
  type UserListRow,
  userCount,
  userList,
  userNumbers,
  usersNumbered,
} from "../analytics/entities/user-list.ts";
import type { AnalysisHandlers, ApiContext, WholeTables } from "../http/api/context.ts";
import type { OfRun } from "../scoring/queries/lists/reading.ts";
import { usualChange } from "../scoring/queries/lists/usual-change.ts";
import { controlField, controlsOf } from "./controls.ts";
import { ownerFields } from "./owners.ts";
import { type Billing, listedBilling } from "./payers.ts";
import { listedAccount, listedScores, listedUser } from "./rows.ts";
import { leadsWithRisk, type Run } from "./score-context.ts";
import { setsOfList } from "./segment-evaluation.ts";
import { accountsSelection, usersSelection } from "./segment-selection.ts";

type Users = ApiContext<"GET /api/users">;
type Accounts = ApiContext<"GET /api/accounts">;

/** Rows of a CSV. Their numbers, 11 bytes each, are found before the first is sent. */
const csvMaxRows = 1_000_000;
/** Rows that are read together for a CSV. */
const chunkRows = 5_000;

export const listsHandlers = {
  "GET /api/users": async (context) => {
    const { warehouse, query } = context;
    const { question, head, ...beside } = await usersOf(context);
    const [total, users, usual] = await Promise.all([
      userCount(warehouse, question),
      userList(warehouse, { ...question, limit: query.limit, offset: query.offset }),
      usualChangeOf(warehouse, question.run),
    ]);
    const rows = await usersAnswer(warehouse, users, question.owners, beside);
    return {
      ...head,
      usualChange: usual,
      leadsWithRisk: leadsWithRisk(beside.newest),
      billing: beside.billing.head,
      total,
      users: rows,
    };
  },

  "GET /api/accounts": async (context) => {
    const { warehouse, query } = context;
    const { question, head, ...beside } = await accountsOf(context);
    const [total, accounts, usual] = await Promise.all([
      accountCount(warehouse, question),
      accountList(warehouse, { ...question, limit: query.limit, offset: query.offset }),
      usualChangeOf(warehouse, question.run),
    ]);
    const rows = await accountsAnswer(warehouse, accounts, question.owners, beside);
    return {
      ...head,
      usualChange: usual,
      leadsWithRisk: leadsWithRisk(beside.newest),
      billing: beside.billing.head,
      total,
      accounts: rows,
    };
  },
} satisfies Partial<AnalysisHandlers>;

/** All rows of the lists, for CSV. @throws ApiError when they are too many */
export const wholeLists = {
  /** all that match. @throws ApiError when they are too many */
  "GET /api/users": async (context) => {
    const { warehouse } = context;
    const { question, ...beside } = await usersOf(context);
    const numbers = await userNumbers(warehouse, { ...question, limit: csvMaxRows + 1, offset: 0 });
    return inChunks(numbers, async (chunk) =>
      usersAnswer(warehouse, await usersNumbered(warehouse, question, chunk), question.owners, beside),
    );
  },

  /** all that match. @throws ApiError when they are too many */
  "GET /api/accounts": async (context) => {
    const { warehouse } = context;
    const { question, ...beside } = await accountsOf(context);
    const numbers = await accountNumbers(warehouse, { ...question, limit: csvMaxRows + 1, offset: 0 });
    return inChunks(numbers, async (chunk) =>
      accountsAnswer(warehouse, await accountsNumbered(warehouse, question, chunk), question.owners, beside),
    );
  },
} satisfies WholeTables;

async function usualChangeOf(warehouse: Users["warehouse"], run: OfRun | undefined): Promise<number | null> {
  return run === undefined ? null : usualChange(warehouse, run);
}

/** The parts of rows that are beside the question. */
interface Beside {
  /** The run of the scores; undefined before the first. */
  readonly newest: Run | undefined;
  readonly billing: Billing;
  readonly controls: Controls;
}

async function usersAnswer(
  warehouse: Users["warehouse"],
  rows: readonly UserListRow[],
  owners: Owners,
  { newest, billing, controls }: Beside,
) {
  const numbers = rows.map(({ user }) => user);
  const fieldsOf = await listedBilling(warehouse, billing, numbers);
  return rows.map((row) => {
    const user = listedUser(row);
    return {
      ...user,
      ...ownerFields(owners, user.traits, row.accountOwner),
      ...controlField(controls, row.user),
      ...listedScores(row, newest),
      ...fieldsOf({ entity: row.user, risk: row.risk }),
    };
  });
}

async function accountsAnswer(
  warehouse: Accounts["warehouse"],
  rows: readonly AccountListRow[],
  owners: Owners,
  { newest, billing, controls }: Beside,
) {
  const numbers = rows.map(({ account }) => account);
  const fieldsOf = await listedBilling(warehouse, billing, numbers);
  return rows.map((row) => {
    const account = listedAccount(row);
    const { renewsAt } = account.traits;
    return {
      ...account,
      ...ownerFields(owners, account.traits),
      ...controlField(controls, row.account),
      ...listedScores(row, newest),
      ...fieldsOf({ entity: row.account, risk: row.risk, renewsAt }),
    };
  });
}

async function usersOf(context: Users) {
  const { query } = context;
  const controls = await controlsOf(context, "user");
  const { selection, ...rest } = await usersSelection(
    context,
    { ...query, controls },
    await setsOfList(context, "user", query),
  );
  const question: Omit<UserListQuestion, "limit" | "offset"> & { readonly owners: Owners } = {
    ...selection,
    sort: query.sort === "trait" ? byTrait(query.sortTrait) : query.sort,
    descending: query.order === "descending",
  };
  return { question, controls, ...rest };
}

async function accountsOf(context: Accounts) {
  const { query } = context;
  const controls = await controlsOf(context, "account");
  const { selection, ...rest } = await accountsSelection(
    context,
    { ...query, controls },
    await setsOfList(context, "account", query),
  );
  const question: Omit<AccountListQuestion, "limit" | "offset"> & { readonly owners: Owners } = {
    ...selection,
    sort: query.sort === "trait" ? byTrait(query.sortTrait) : query.sort,
    descending: query.order === "descending",
  };
  return { question, controls, ...rest };
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
