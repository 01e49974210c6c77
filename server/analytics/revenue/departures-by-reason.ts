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
import { numberOf, type ReasonsQuestion, sourceAt, withReasons } from "./churn-reasons.ts";
import { groupAt, type PayerGroup, type RevenueSplit } from "./payer-groups.ts";
import { departuresQuery, valuesOf } from "./revenue.ts";
import { namesOfPayers } from "./revenue-at-risk.ts";
import { accountPayers, type RevenueQuestion } from "./steps.ts";

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

type Top = readonly [
  order: number,
  payer: number,
  mrr: number,
  isInvoluntary: boolean,
  reason: string,
  source: number,
  comment: string,
];

/** The row of all departures together has the newest comments. */
interface Row extends SumsRow {
  readonly commented: number;
  readonly top: readonly Top[];
}

/** Of the row of all departures: no departure is in the month that begins in 1970. */
const allEdge = 0;

/** The departures of consecutive months by reason, and what was said about them. @throws WarehouseError */
export async function departuresByReason(
  warehouse: Warehouse,
  question: DeparturesQuestion,
): Promise<DeparturesByReason> {
  const split = splits[question.split];
  const values = await valuesOf(warehouse, question, split);
  const { text, parameters } = reasonedQuery(question, split);
  const rows = await warehouse.rows<Row>(`${sumsOf(text)} ${jsonSettings}`, {
    ...parameters,
    ...(values !== null && { values }),
    // The function takes no 0.
    comments: Math.max(question.comments, 1),
  });
  const names = values ?? namesOfGroups(question);
  const all = rows.find(({ edge }) => edge === allEdge);
  const sums = rows.flatMap(({ place, top: _, commented: __, ...row }) =>
    row.edge === allEdge ? [] : [{ ...groupAt(names, place), ...row }],
  );
  return {
    sums: withFewReasons(sums),
    commentTotal: all?.commented ?? 0,
    comments: await named(warehouse, question.organization, all?.top.slice(0, question.comments) ?? []),
  };
}

const splits: Readonly<Record<DeparturesSplit, RevenueSplit | null>> = {
  none: null,
  plan: { by: "plan" },
  owner: { by: "trait", trait: "owner" },
  mrr: null,
  ending: null,
};

/** The names of the groups by a departure itself; null without such a split. */
function namesOfGroups({ split, reporting }: DeparturesQuestion): readonly string[] | null {
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

/** Sums by group, month and reason, and the newest comments of all, in one pass over the departures. */
function sumsOf(text: string): string {
  const payersFrom = (source: ReasonSource) => `countIf(source = ${numberOf(source)})`;
  const top = "(-left_ms, payer, own_mrr, toBool(is_involuntary), reason, source, comment)";
  return `
    SELECT group_place AS place, edge, reason, sum(own_mrr) AS mrr, count() AS payers,
      sumIf(own_mrr, is_involuntary) AS involuntaryMrr, countIf(is_involuntary) AS involuntaryPayers,
      ${payersFrom("team")} AS fromTeam, ${payersFrom("billing")} AS fromBilling, ${payersFrom("event")} AS fromEvent,
      countIf(comment != '') AS commented,
      if(edge = ${allEdge}, groupArraySortedIf({comments:UInt32})(${top}, comment != ''), []) AS top
    FROM (SELECT *, mrr AS own_mrr FROM (${text}))
    GROUP BY GROUPING SETS ((group_place, edge, reason), ())`;
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

/** The departures with the ids and names of their payers. */
async function named(
  warehouse: Warehouse,
  organization: number,
  top: readonly Top[],
): Promise<CommentedDeparture[]> {
  const namesOf = async (kind: EntityKind, entities: readonly number[]) =>
    entities.length === 0 ? new Map() : await namesOfPayers(warehouse, { kind, organization }, entities);
  const accounts = top.flatMap(([, payer]) => (payer >= accountPayers ? [payer - accountPayers] : []));
  const users = top.flatMap(([, payer]) => (payer < accountPayers ? [payer] : []));
  const names = { account: await namesOf("account", accounts), user: await namesOf("user", users) };
  return top.map(([order, payer, mrr, isInvoluntary, reason, source, comment]) => {
    const kind = payer >= accountPayers ? "account" : "user";
    const { id, name } = names[kind].get(payer % accountPayers) ?? { id: "", name: "" };
    return {
      kind,
      id,
      name,
      leftMs: -order,
      mrr,
      isInvoluntary,
      reason,
      reasonFrom: sourceAt(source),
      comment,
    };
  });
}
