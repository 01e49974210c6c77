/** Users or accounts as a list, searched, filtered and sorted by any column. First the numbers of a page's
 * rows are found, by only the columns that this needs; then the rows are read. */

import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { engagementParameters, type PassiveEvents } from "../../warehouse/schema/engagement.ts";
import { jsonSettings } from "../json-text.ts";
import type { Sql, UsersQuestion } from "../sql.ts";
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
  isScoreOrder,
  joinedSql,
  type ScoreFilter,
  type ScoresOfList,
  type ScoresOfRow,
  scoreColumns,
  scoreConditions,
  scored,
  scoresJoined,
  seenConditions,
} from "./list-scores.ts";
import { type OwnerFilter, ownerOrder, ownerSql } from "./owners.ts";
import { type SortTrait, sortedTrait, type TraitFilter, traitCondition, traitOrder } from "./trait-filter.ts";

/** Which rows a list has. */
export interface ListSelection
  extends UsersQuestion,
    ScoreFilter,
    ScoresOfList,
    ActivityFilter,
    BillingFilter,
    BillingOfList,
    OwnerFilter,
    SetFilter {
  /** Only rows with this text in the id, the name or the e-mail address, ignoring case; empty for all. */
  readonly search: string;
  /** Only this account, or its members; undefined for all. */
  readonly accountId?: string | undefined;
  /** All of them have to match. */
  readonly traits?: readonly TraitFilter[];
  /** Whether a list of users has those who are excluded from figures; by default it does not. */
  readonly excluded?: "leftOut" | "only" | "included";
}

/** An order by a column, or by the name of a trait. */
export type ListSort<Column> = Column | BillingSort | "owner" | SortTrait;

/** A page of a list. */
export interface ListQuestion<Column> extends ListSelection {
  readonly sort: ListSort<Column>;
  readonly descending: boolean;
  readonly limit: number;
  readonly offset: number;
}

/** What the columns of rows depend on, beside their numbers. */
export type RowsQuestion = UsersQuestion & ScoresOfList;

/** What users and accounts have in common as rows. */
export interface ListRow extends ScoresOfRow {
  /** The number of the user or the account within the organization. */
  readonly entity: number;
  /** Traits or attributes, as JSON text. */
  readonly traits: string;
  /** In days since 1970-01-01, of the user's or of the members' events; null without any. */
  readonly firstDay: number | null;
  readonly lastDay: number | null;
}

/** What users and accounts do not have in common. Queries name a row of their table `listed`. */
export interface ListKind<Column> {
  readonly kind: EntityKind;
  /** The columns of the table that orders and conditions read. */
  readonly columns: string;
  /** The columns that a search looks in. */
  readonly searched: readonly string[];
  /** Conditions on columns of the table. */
  readonly conditions: (selection: ListSelection) => readonly Sql[];
  /** The expressions of orders. */
  readonly orders: Readonly<Record<Column & string, string>> & { readonly lastSeen: string };
  /** The joins that only this order needs. */
  readonly joins: (selection: ListSelection, order: string) => readonly Sql[];
  /** A subquery of first and last days. @param which a condition on the column of numbers; all without it */
  readonly seen: (passive: PassiveEvents, which?: string) => string;
  /** The columns of rows that only this kind has. */
  readonly ownColumns: string;
  /** The joins that these columns need. @param which a condition on the column of numbers */
  readonly ownJoins: (question: RowsQuestion, which: string) => Sql;
}

const newestFirst = "DESC NULLS LAST";

/** The list of a kind. Its methods throw WarehouseError. */
export class EntityList<Row extends ListRow, Column extends string> {
  readonly #of: ListKind<Column>;
  /** The number of a row. */
  readonly #number: string;

  constructor(of: ListKind<Column>) {
    this.#of = of;
    this.#number = `listed.${of.kind}`;
  }

  /** One page; rows without a value to sort by come last. */
  async page(warehouse: Warehouse, question: ListQuestion<Column>): Promise<Row[]> {
    return this.rows(warehouse, question, await this.numbers(warehouse, question));
  }

  /** The numbers of a page, in order. */
  async numbers(warehouse: Warehouse, question: ListQuestion<Column>): Promise<number[]> {
    const { sort, descending, limit, offset } = question;
    const by = this.#order(question, sort);
    const { text, parameters } = this.#selected(question, by);
    const direction = `${descending ? "DESC" : "ASC"} NULLS LAST`;
    const order = (typeof sort === "object" ? traitOrder("listed.traits") : [by]).map(
      (one) => `${one} ${direction}`,
    );
    const ties = isScoreOrder(by) ? [`${this.#of.orders.lastSeen} ${newestFirst}`] : [];
    const rows = await warehouse.rows<{ entity: number }>(
      `SELECT ${this.#number} AS entity ${text} ORDER BY ${[...order, ...ties, this.#number].join(", ")}
       LIMIT {limit:UInt32} OFFSET {offset:UInt32} ${jsonSettings}`,
      { ...parameters, ...(typeof sort === "object" && sortedTrait(sort)), limit, offset },
    );
    return rows.map(({ entity }) => entity);
  }

  /** How many rows there are on all pages together. */
  async count(warehouse: Warehouse, selection: ListSelection): Promise<number> {
    const { text, parameters } = this.#selected(selection, "");
    const sql = `SELECT count() AS entities ${text} ${jsonSettings}`;
    const [row] = await warehouse.rows<{ entities: number }>(sql, parameters);
    return row?.entities ?? 0;
  }

  /** The rows on all pages together, as a set. */
  set(warehouse: Warehouse, selection: ListSelection): Promise<EntitySet> {
    const { text, parameters } = this.#selected(selection, "");
    const from = `${text} ${jsonSettings}`;
    return setOfRows(warehouse, this.#of.kind, { number: this.#number, from, parameters });
  }

  /** The rows with these numbers, in this order; numbers without a row are left out. At most a few thousand:
   * they are a part of the query. */
  async rows(warehouse: Warehouse, question: RowsQuestion, numbers: readonly number[]): Promise<Row[]> {
    if (numbers.length === 0) return [];
    const { organization, toDay, passiveEvents } = question;
    const { kind, seen, ownColumns, ownJoins } = this.#of;
    const among = `${kind} IN {numbers:Array(UInt32)}`;
    const scores = scoresJoined(question, [among]);
    const isChurned = accountChurned(question, "listed.account");
    const own = ownJoins(question, among);
    const rows = await warehouse.rows<Row>(
      `SELECT
         ${this.#number} AS entity, listed.traits AS traits, seen.firstDay AS firstDay, seen.lastDay AS lastDay,
         toBool(${isChurned.text}) AS isAccountChurned, ${scoreColumns}, ${ownColumns}
       FROM (SELECT * FROM ${kind}s FINAL WHERE organization = {organization:UInt32} AND ${among}) AS listed
       LEFT JOIN ${seen(passiveEvents, among)} AS seen ON seen.${kind} = ${this.#number}
       LEFT JOIN ${scores.text} AS score ON score.entity = ${this.#number}
       ${own.text} ${jsonSettings}`,
      {
        ...engagementParameters(passiveEvents),
        ...scores.parameters,
        ...isChurned.parameters,
        ...own.parameters,
        organization,
        toDay,
        numbers,
      },
    );
    const byNumber = new Map(rows.map((row) => [row.entity, row]));
    return numbers.flatMap((number) => byNumber.get(number) ?? []);
  }

  /** The expression of an order; empty for one by a trait. */
  #order(selection: ListSelection, sort: ListSort<Column>): string {
    const { kind, orders } = this.#of;
    if (typeof sort === "object") return "";
    if (sort === "owner") return ownerOrder(kind);
    return isBillingSort(sort) ? billingOrder(sort, selection, kind) : orders[sort];
  }

  /** The FROM and WHERE clauses that select rows, with the joins that the order needs. */
  #selected(selection: ListSelection, order: string): Sql {
    const { organization, toDay, passiveEvents } = selection;
    const { kind, joins, seen } = this.#of;
    const number = this.#number;
    const ofScores = scoreConditions(selection, number, accountChurned(selection, "listed.account"));
    const ofDays = seenConditions(selection, "seen.lastDay");
    const billing = billingSql(selection, kind, number, order);
    const owner = ownerSql(selection, kind, order);
    const conditions = [
      ...ofScores,
      ...ofDays,
      ...billing.conditions,
      ...owner.conditions,
      ...fallConditions(selection, number),
      ...activityConditions(selection, number),
      ...setConditions(selection, { account: "listed.account", [kind]: number }),
    ];
    const isSeen = ofDays.length > 0 || order.includes("seen.") || isScoreOrder(order);
    return joinedSql(
      [
        this.#table(selection),
        ...(isSeen
          ? [
              condition(`LEFT JOIN ${seen(passiveEvents)} AS seen ON seen.${kind} = ${number}`, {
                ...engagementParameters(passiveEvents),
                toDay,
              }),
            ]
          : []),
        ...(ofScores.length > 0 || isScoreOrder(order) ? [scored(selection, number)] : []),
        ...joins(selection, order),
        ...billing.joins,
        ...owner.joins,
        ...(conditions.length > 0 ? [condition("WHERE"), joinedSql(conditions, " AND ")] : []),
        condition("", { organization }),
      ],
      " ",
    );
  }

  #table(selection: ListSelection): Sql {
    const { search, traits = [] } = selection;
    const { kind, columns, searched, conditions } = this.#of;
    const found = searched.map((column) => `positionCaseInsensitiveUTF8(${column}, {search:String}) > 0`);
    const { text, parameters } = joinedSql(
      [
        condition("organization = {organization:UInt32}"),
        ...conditions(selection),
        ...(search === "" ? [] : [condition(`(${found.join(" OR ")})`, { search })]),
        ...traits.map(traitCondition),
      ],
      " AND ",
    );
    return condition(`FROM (SELECT ${columns} FROM ${kind}s FINAL WHERE ${text}) AS listed`, parameters);
  }
}
