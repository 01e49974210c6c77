/** Handlers of the JSON API's lists: users and accounts with their scores. */

import type { JsonObject } from "../../contract/json.ts";
import { ApiError } from "../../contract/refusal.ts";
import type { EntityList, ListRow, ListSort } from "../analytics/entities/entity-list.ts";
import { type AccountListRow, lists, type UserListRow } from "../analytics/entities/lists.ts";
import type { AnalysisHandlers, WholeTables } from "../http/api/context.ts";
import type { Owners } from "../ledger/rules/owners.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { usualChange } from "../scoring/queries/lists/usual-change.ts";
import { controlField, controlsOf } from "./controls.ts";
import { ownerFields } from "./owners.ts";
import { listedBilling } from "./payers.ts";
import { listedAccount, listedScores, listedUser } from "./rows.ts";
import { leadsWithRisk } from "./score-context.ts";
import { setsOfList } from "./segment-evaluation.ts";
import { type ListFilter, type SelectionContext, selectionOf } from "./segment-selection.ts";

/** Rows of a CSV. Their numbers, 11 bytes each, are found before the first is sent. */
const csvMaxRows = 1_000_000;
/** Rows that are read together for a CSV. */
const chunkRows = 5_000;

export const listsHandlers = {
  "GET /api/users": async (context) => {
    const { rows, ...answer } = await pageOf(context, users);
    return { ...answer, users: rows };
  },

  "GET /api/accounts": async (context) => {
    const { rows, ...answer } = await pageOf(context, accounts);
    return { ...answer, accounts: rows };
  },
} satisfies Partial<AnalysisHandlers>;

/** All rows of the lists, for CSV. @throws ApiError when they are too many */
export const wholeLists = {
  /** all that match. @throws ApiError when they are too many */
  "GET /api/users": (context) => wholeList(context, users),

  /** all that match. @throws ApiError when they are too many */
  "GET /api/accounts": (context) => wholeList(context, accounts),
} satisfies WholeTables;

/** What the answers about users and about accounts do not have in common. */
interface Listed<Row extends ListRow, Column extends string, Fields> {
  readonly kind: EntityKind;
  readonly list: EntityList<Row, Column>;
  /** The fields of a row beside its scores and its subscriptions. */
  readonly fields: (row: Row, owners: Owners) => Fields;
  /** The attribute of an account that overrides the end of a period. */
  readonly renewsAt: (fields: Fields) => unknown;
}

const users = {
  kind: "user",
  list: lists.user,
  fields: (row: UserListRow, owners: Owners) => {
    const user = listedUser(row);
    return { ...user, ...ownerFields(owners, user.traits, row.accountOwner) };
  },
  renewsAt: () => undefined,
} as const;

const accounts = {
  kind: "account",
  list: lists.account,
  fields: (row: AccountListRow, owners: Owners) => {
    const account = listedAccount(row);
    return { ...account, ...ownerFields(owners, account.traits) };
  },
  renewsAt: ({ traits }: Pick<ReturnType<typeof listedAccount>, "traits">) => traits.renewsAt,
} as const;

/** The context of a question for a list whose columns have these names. */
type Context<Column> = SelectionContext & {
  readonly query: ListFilter & {
    readonly sort: Exclude<ListSort<Column>, object> | "trait";
    readonly sortTrait?: string | undefined;
    readonly order: "ascending" | "descending";
    readonly limit: number;
    readonly offset: number;
  };
};

async function pageOf<Row extends ListRow, Column extends string, Fields extends object>(
  context: Context<Column>,
  of: Listed<Row, Column, Fields>,
) {
  const { warehouse, query } = context;
  const { question, head, newest, billing, answers } = await questionOf(context, of);
  const [total, rows, usual] = await Promise.all([
    of.list.count(warehouse, question),
    of.list.page(warehouse, { ...question, limit: query.limit, offset: query.offset }),
    question.run === undefined ? null : usualChange(warehouse, question.run),
  ]);
  return {
    ...head,
    usualChange: usual,
    leadsWithRisk: leadsWithRisk(newest),
    billing: billing.head,
    total,
    rows: await answers(rows),
  };
}

async function wholeList<Row extends ListRow, Column extends string, Fields extends object>(
  context: Context<Column>,
  of: Listed<Row, Column, Fields>,
): Promise<AsyncIterable<readonly JsonObject[]>> {
  const { warehouse } = context;
  const { question, answers } = await questionOf(context, of);
  const numbers = await of.list.numbers(warehouse, { ...question, limit: csvMaxRows + 1, offset: 0 });
  if (numbers.length > csvMaxRows) {
    throw new ApiError(
      "validation_error",
      `format is not valid: more than ${csvMaxRows} rows match. Filter them, or use rekindle export.`,
    );
  }
  return (async function* () {
    for (let at = 0; at < numbers.length; at += chunkRows)
      yield answers(await of.list.rows(warehouse, question, numbers.slice(at, at + chunkRows)));
  })();
}

/** The question of a list, and what makes answers of its rows. */
async function questionOf<Row extends ListRow, Column extends string, Fields extends object>(
  context: Context<Column>,
  { kind, fields, renewsAt }: Listed<Row, Column, Fields>,
) {
  const { warehouse, query } = context;
  const controls = await controlsOf(context, kind);
  const sets = await setsOfList(context, kind, query);
  const { selection, ...rest } = await selectionOf(context, kind, { ...query, controls }, sets);
  const { newest, billing } = rest;
  const question = {
    ...selection,
    sort: query.sort === "trait" ? byTrait(query.sortTrait) : query.sort,
    descending: query.order === "descending",
  };
  const answers = async (rows: readonly Row[]) => {
    const entities = rows.map(({ entity }) => entity);
    const billingFields = await listedBilling(warehouse, billing, entities);
    return rows.map((row) => {
      const { entity, risk } = row;
      const own = fields(row, selection.owners);
      return {
        ...own,
        ...controlField(controls, entity),
        ...listedScores(row, newest),
        ...billingFields({ entity, risk, renewsAt: renewsAt(own) }),
      };
    });
  };
  return { question, answers, ...rest };
}

/** @throws ApiError when it is not said by which trait */
function byTrait(trait: string | undefined): { readonly trait: string } {
  if (trait !== undefined) return { trait };
  throw new ApiError("validation_error", "sortTrait is missing: sort=trait needs the trait's name.");
}
