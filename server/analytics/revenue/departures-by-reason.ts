/** Departures and the MRR that left, by month and reason. Departures are those that movements of MRR count as
 * churned. */

import { currencyDigits } from "../../../contract/billing/currencies.ts";
import {
  billingReasons,
  churnReasonLimits,
  failedPaymentReason,
  mrrBandEdges,
  type ReasonSource,
} from "../../../contract/churn-reasons.ts";
import type { EntityKind } from "../../scoring/queries/engagement-events.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonSettings } from "../json-text.ts";
import type { Sql } from "../sql.ts";
import { type ReasonsQuestion, sourceAt, withReasons } from "./churn-reasons.ts";
import { groupAt, type PayerGroup, type RevenueSplit } from "./payer-groups.ts";
import { departuresQuery, valuesOf } from "./revenue.ts";
import { accountPayers, isPaying, type RevenueQuestion } from "./steps.ts";

/** `mrr`: by bands of the MRR that left. `ending`: by whether payments failed. */
export type DeparturesSplit = "none" | "plan" | "owner" | "mrr" | "ending";

export interface DeparturesQuestion extends RevenueQuestion, ReasonsQuestion {
  /** The first instants of consecutive months, and the first instant after the last. */
  readonly edges: readonly number[];
  readonly split: DeparturesSplit;
  /** At most this many comments are read. */
  readonly comments: number;
}

/** Departures of one group, month and reason. */
export interface ReasonSums extends PayerGroup {
  /** The first instant of the month. */
  readonly edge: number;
  /** Null for none given. */
  readonly reason: string | null;
  readonly mrr: number;
  readonly payers: number;
  readonly involuntaryMrr: number;
  readonly involuntaryPayers: number;
  readonly fromTeam: number;
  readonly fromBilling: number;
  readonly fromEvent: number;
}

/** A departure with a comment. */
export interface CommentedDeparture {
  readonly kind: EntityKind;
  readonly id: string;
  /** May be empty. */
  readonly name: string;
  readonly leftMs: number;
  readonly mrr: number;
  readonly isInvoluntary: boolean;
  readonly reason: string;
  readonly reasonFrom: ReasonSource | null;
  readonly comment: string;
}

export interface DeparturesByReason {
  readonly sums: readonly ReasonSums[];
  readonly commentTotal: number;
  /** The newest departure first. */
  readonly comments: readonly CommentedDeparture[];
}

type SumsRow = Omit<ReasonSums, "kind" | "value" | "reason"> & {
  readonly place: number;
  /** Empty for none. */
  readonly reason: string;
};

/** The departures of consecutive months by reason, and what was said about them. @throws WarehouseError */
export async function departuresByReason(
  warehouse: Warehouse,
  question: DeparturesQuestion,
): Promise<DeparturesByReason> {
  const split = splits[question.split];
  const values = await valuesOf(warehouse, question, split);
  const ofValues = values !== null && { values };
  const { text, parameters } = reasonedQuery(question, split);
  const [rows, said] = await Promise.all([
    warehouse.rows<SumsRow>(`${sumsOf(text)} ${jsonSettings}`, { ...parameters, ...ofValues }),
    commentsOf(warehouse, question, { text, parameters: { ...parameters, ...ofValues } }),
  ]);
  const names = values ?? namesOf(question);
  const sums = rows.map(({ place, ...row }) => ({ ...groupAt(names, place), ...row }));
  return { sums: withFewReasons(sums), ...said };
}

const splits: Readonly<Record<DeparturesSplit, RevenueSplit | null>> = {
  none: null,
  plan: { by: "plan" },
  owner: { by: "trait", trait: "owner" },
  mrr: null,
  ending: null,
};

/** The names of the groups by a departure itself; null without such a split. */
function namesOf({ split, reporting }: DeparturesQuestion): readonly string[] | null {
  if (split === "ending") return ["voluntary", failedPaymentReason];
  if (split !== "mrr") return null;
  const edges = mrrBandEdges(currencyDigits(reporting));
  const [first = 0] = edges;
  return [
    `under ${first}`,
    ...edges.slice(1).map((edge, index) => `${edges[index]} to ${edge}`),
    `${edges.at(-1)} and more`,
  ];
}

/** Departures with their reasons and the place of their group. */
function reasonedQuery(question: DeparturesQuestion, split: RevenueSplit | null): Sql {
  const { text, parameters } = departuresQuery(question, question.edges, split);
  const digits = currencyDigits(question.reporting);
  const place = {
    mrr: "1 + arrayCount(edge -> mrr >= edge, {bandEdges:Array(Int64)})",
    ending: "if(is_involuntary, 2, 1)",
    none: "0",
    plan: "place",
    owner: "place",
  }[question.split];
  const rows = {
    text: `SELECT * EXCEPT (place), toInt32(${place}) AS group_place, toInt64(0) AS since_ms FROM (${text})`,
    parameters: {
      ...parameters,
      ...(question.split === "mrr" && {
        bandEdges: mrrBandEdges(digits).map((edge) => edge * 10 ** digits),
      }),
    },
  };
  return withReasons(rows, question, { columns: ["group_place", "edge", "mrr"] });
}

function sumsOf(text: string): string {
  const payersFrom = (number: number) => `countIf(source = ${number})`;
  return `
    SELECT group_place AS place, edge, reason, sum(own_mrr) AS mrr, count() AS payers,
      sumIf(own_mrr, is_involuntary) AS involuntaryMrr, countIf(is_involuntary) AS involuntaryPayers,
      ${payersFrom(1)} AS fromTeam, ${payersFrom(2)} AS fromBilling, ${payersFrom(3)} AS fromEvent
    FROM (SELECT *, mrr AS own_mrr FROM (${text}))
    GROUP BY place, edge, reason`;
}

/** Rare reasons in words of one's own count as `other`. */
function withFewReasons(sums: readonly (PayerGroup & Omit<SumsRow, "place">)[]): ReasonSums[] {
  const fixed = new Set<string>([...billingReasons, failedPaymentReason, ""]);
  const payersBy = new Map<string, number>();
  for (const { reason, payers } of sums) {
    if (!fixed.has(reason)) payersBy.set(reason, (payersBy.get(reason) ?? 0) + payers);
  }
  const frequent = [...payersBy]
    .toSorted(([one, payers], [other, others]) => others - payers || (one < other ? -1 : 1))
    .slice(0, churnReasonLimits.ownReasons);
  const kept = new Set([...fixed, ...frequent.map(([reason]) => reason)]);
  return addedUp(
    sums.map(({ reason, ...row }) => ({
      ...row,
      reason: reason === "" ? null : kept.has(reason) ? reason : "other",
    })),
    ({ edge }) => edge,
  );
}

/** Sums of one group, period and reason as one row. @param periodOf the period of a row */
export function addedUp(sums: readonly ReasonSums[], periodOf: (row: ReasonSums) => number): ReasonSums[] {
  const keyOf = (row: ReasonSums) => JSON.stringify([row.kind, row.value, periodOf(row), row.reason]);
  return [...Map.groupBy(sums, keyOf).values()].flatMap((rows) => {
    const [first] = rows;
    if (first === undefined) return [];
    const sumOf = (name: SumName) => rows.reduce((sum, row) => sum + row[name], 0);
    return [
      {
        ...first,
        mrr: sumOf("mrr"),
        payers: sumOf("payers"),
        involuntaryMrr: sumOf("involuntaryMrr"),
        involuntaryPayers: sumOf("involuntaryPayers"),
        fromTeam: sumOf("fromTeam"),
        fromBilling: sumOf("fromBilling"),
        fromEvent: sumOf("fromEvent"),
      },
    ];
  });
}

type SumName = Exclude<keyof ReasonSums, keyof PayerGroup | "edge" | "reason">;

interface CommentRow extends Omit<CommentedDeparture, "kind" | "reasonFrom"> {
  readonly isAccount: boolean;
  readonly source: number;
  readonly total: number;
}

/** The newest comments. */
async function commentsOf(
  warehouse: Warehouse,
  { comments, organization }: DeparturesQuestion,
  { text, parameters }: Sql,
): Promise<Omit<DeparturesByReason, "sums">> {
  const rows = await warehouse.rows<CommentRow>(
    `SELECT toBool(payer >= ${accountPayers}) AS isAccount, id, name, left_ms AS leftMs, mrr,
       toBool(is_involuntary) AS isInvoluntary, reason, source, comment, total
     FROM (
       SELECT payer, left_ms, mrr, is_involuntary, reason, source, comment, count() OVER () AS total
       FROM (${text}) WHERE comment != ''
       ORDER BY left_ms DESC, payer LIMIT {comments:UInt32}) AS said
     LEFT JOIN (
       SELECT toUInt64(account) + ${accountPayers} AS named_payer, account_id AS id, name
       FROM accounts FINAL WHERE organization = {organization:UInt32} AND ${isPaying.account}
       UNION ALL
       SELECT toUInt64(user), user_id, email FROM users FINAL
       WHERE organization = {organization:UInt32} AND ${isPaying.user}) AS named ON named_payer = payer
     ORDER BY leftMs DESC, payer ${jsonSettings}`,
    // Without a row the total would be unknown.
    { ...parameters, organization, comments: Math.max(comments, 1) },
  );
  return {
    commentTotal: rows[0]?.total ?? 0,
    comments: rows.slice(0, comments).map(({ isAccount, source, total: _, ...row }) => ({
      ...row,
      kind: isAccount ? "account" : "user",
      reasonFrom: sourceAt(source),
    })),
  };
}
