/**
 * How MRR moved in each period, and which part of it was kept: sums over all payers, without a row for each
 * payer in this process. Tests compare them with test/revenue/movements.ts, payer by payer.
 *
 * A payer without MRR at a period's start is reactivated if it had MRR before the start, and else new. Who
 * left and came back between two edges is kept. MRR that passed to another payer is kept as long as that
 * payer keeps it.
 */
import { type Movement, type Movements, sumOfMovements } from "../../revenue/movements.ts";
import { type RevenueRetention, ratiosOf } from "../../revenue/retention.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { jsonSettings } from "../json-text.ts";
import type { Sql } from "../sql.ts";
import {
  groupAt,
  groupPlace,
  largestValues,
  type PayerGroup,
  planOf,
  type RevenueSplit,
  traitsOfPayers,
} from "./payer-groups.ts";
import { isIncludedPayer, payersOf, type RevenueQuestion } from "./steps.ts";

/** A period by the first instants of its months, and the first instant after it. */
export interface RevenuePeriod {
  readonly monthsMs: readonly number[];
  readonly endMs: number;
}

/** A period of a group of payers. */
export interface PeriodRevenue {
  /** Of the months of the period together. */
  readonly movements: Movements;
  /** Between the ends of the period. */
  readonly retention: RevenueRetention;
  readonly endPayers: number;
}

export interface GroupRevenue extends PayerGroup {
  readonly periods: readonly PeriodRevenue[];
}

/** The periods of all payers, or of groups of them.
 * @param periods consecutive, the oldest first
 * @throws WarehouseError */
export async function revenue(
  warehouse: Warehouse,
  question: RevenueQuestion,
  periods: readonly RevenuePeriod[],
  split: RevenueSplit | null,
): Promise<GroupRevenue[]> {
  const values = await valuesOf(warehouse, question, split);
  const sumsAt = async (edges: readonly number[]) => {
    const { text, parameters } = movementsQuery(question, edges, split);
    const rows = await warehouse.rows<SumsRow>(text, { ...parameters, ...(values !== null && { values }) });
    return sumsByPlace(rows, edges);
  };
  const endMs = periods.at(-1)?.endMs ?? 0;
  const isMonthly = periods.every(({ monthsMs }) => monthsMs.length === 1);
  // Movements of a long period are those of its months. Its retention compares its ends, by the same query.
  const [months, ends] = await Promise.all([
    sumsAt([...periods.flatMap(({ monthsMs }) => monthsMs), endMs]),
    isMonthly ? undefined : sumsAt([...periods.flatMap(({ monthsMs: [first = 0] }) => [first]), endMs]),
  ]);
  if (split === null && months.size === 0) months.set(0, { opening: none, spans: [] });
  return [...months].map(([place, sums]) => ({
    ...groupAt(values, place),
    periods: periodsOf(periods, sums, ends === undefined ? sums : ends.get(place)),
  }));
}

/** Values that are groups of their own. */
const splitValues = 20;
const none: Movement = { mrr: 0, payers: 0 };

/** How a payer's MRR moved from one edge to the next. */
const moves = [
  "new",
  "reactivated",
  "expansion",
  "contraction",
  "left",
  "leftInvoluntarily",
  "transferredIn",
  "transferredOut",
] as const;
type Moved = Readonly<Partial<Record<(typeof moves)[number], Movement>>>;

/** A sum of a group, between an edge and the next. At `beginning` it is what was before the first edge. */
interface SumsRow extends Movement {
  /** That of a group. */
  readonly place: number;
  readonly edge: number;
  /** The place in `moves`. */
  readonly move: number;
}

/** Before any edge. */
const beginning = -9_007_199_254_740_991;

/** The sums of a group between consecutive edges. */
interface GroupSums {
  readonly opening: Movement;
  readonly spans: readonly Moved[];
}

function movementsQuery(
  question: RevenueQuestion,
  edges: readonly number[],
  split: RevenueSplit | null,
): Sql {
  const { text, parameters } = spansQuery(question, edges, split);
  const at = (name: (typeof moves)[number]) => moves.indexOf(name);
  // A payer's own movement is beside what passed to it or from it: whoever passed all subscriptions on did
  // not churn, and who took them over is not new.
  const own = `multiIf(
    after > held, if(before = 0 AND taken <= 0, if(first_paid >= edge, ${at("new")}, ${at("reactivated")}), ${at("expansion")}),
    after > 0, ${at("contraction")},
    bitAnd(code, 1) = 1, ${at("left")}, ${at("leftInvoluntarily")})`;
  const transfer = `(if(taken > 0, ${at("transferredIn")}, ${at("transferredOut")}), abs(taken),
    if(taken > 0, before = 0, after = 0 AND held <= 0))`;
  const { hasTransfers } = question;
  const moved = [`(${own}, abs(after - held), after != held)`, ...(hasTransfers ? [transfer] : [])];
  const rows = `
    SELECT place, edge, moved.1 AS move, sum(moved.2) AS mrr, sum(moved.3) AS payers
    FROM (${text})
    ARRAY JOIN [${moved.map((one) => `tuple${one}`).join(", ")}] AS moved
    WHERE moved.2 != 0 OR edge = ${beginning}
    GROUP BY place, edge, move ORDER BY place = 0, place = -1, place`;
  return { text: `${rows} ${jsonSettings}`, parameters };
}

/**
 * Rows of payers whose MRR moved between two edges: `payer`, `place` (of the group), `edge` (the first of the
 * two), `code` (of the last step before the second one), `before` and `after` (MRR at the edges), `taken`
 * (what passed to the payer from others) and `held` (`before + taken`). Queries need `jsonSettings`.
 */
function spansQuery(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const { text, parameters } = splitPayers(question, edges, split);
  const previous = (array: string) => `arrayPushFront(arrayPopBack(${array}), toInt64(0))`;
  /** Of sums up to each step: that at the start of the step's span. */
  const fromStart = (sums: string) =>
    `arrayFill((start, own, earlier) -> own != earlier, ${previous(sums)}, step_edges, ${previous("step_edges")})`;
  const { hasTransfers } = question;
  const taken = hasTransfers ? "passed - passed_before" : "toInt64(0)";
  // A step ends its span when the next one is in another. Its code is then the largest, so it says how the
  // payer left.
  const spans = `
    SELECT payer, place, edge, first_paid, code, before, after, ${taken} AS taken, before + taken AS held
    FROM (
      SELECT payer, first_paid, ${split === null ? "0" : groupPlace} AS place,
        arrayPushFront(steps, (toInt64(${beginning * 2}), opening, toInt64(0))) AS all_steps, all_steps.1 AS codes,
        arrayMap(code -> roundDown(bitShiftRight(code, 1), {edges:Array(Int64)}), codes) AS step_edges,
        arrayPushBack(arrayPopFront(step_edges), toInt64(0)) AS next_edges,
        arrayCumSum(all_steps.2) AS ends,
        ${fromStart("ends")} AS starts
        ${hasTransfers ? `, arrayCumSum(all_steps.3) AS all_passed, ${fromStart("all_passed")} AS passed_starts` : ""}
      FROM (${text}))
    ARRAY JOIN step_edges AS edge, next_edges AS next_edge, codes AS code, starts AS before, ends AS after
      ${hasTransfers ? ", all_passed AS passed, passed_starts AS passed_before" : ""}
    WHERE edge != next_edge AND (before != after ${hasTransfers ? "OR passed != passed_before" : ""} OR edge = ${beginning})`;
  return { text: spans, parameters: { ...parameters, edges: [beginning, ...edges] } };
}

/**
 * Rows of departures, those that the movements count as churned: `payer`, `place` (of the group), `edge` (the
 * first instant of the month), `left_ms` (when the last subscription ended), `mrr` (what the payer paid at
 * the edge) and `is_involuntary`. Queries need `jsonSettings`, and with a split the parameter `values`.
 * @param edges the first instants of consecutive months, and the first instant after the last
 */
export function departuresQuery(
  question: RevenueQuestion,
  edges: readonly number[],
  split: RevenueSplit | null,
): Sql {
  const { text, parameters } = spansQuery(question, edges, split);
  return {
    text: `
      SELECT payer, place, edge, bitShiftRight(code, 1) AS left_ms, held - after AS mrr, bitAnd(code, 1) = 0 AS is_involuntary
      FROM (${text}) WHERE edge != ${beginning} AND after < held AND after <= 0`,
    parameters,
  };
}

/** The values of a split that are groups of their own, the largest first; null without a split.
 * @throws WarehouseError */
export async function valuesOf(
  warehouse: Warehouse,
  question: RevenueQuestion,
  split: RevenueSplit | null,
): Promise<string[] | null> {
  return split && (await largestValues(warehouse, valuesQuery(question, split), splitValues));
}

/** Payers with `said`, without their MRR. */
function valuesQuery(question: RevenueQuestion, split: RevenueSplit): Sql {
  if (split.by === "plan") return splitPayers(question, [], split);
  const { text, parameters } = traitsOfPayers(split.trait);
  return {
    text: `SELECT of_payer AS payer, said FROM (${text}) WHERE ${isIncludedPayer}`,
    parameters: { ...parameters, organization: question.organization },
  };
}

/** Payers, with `said` by the split. */
function splitPayers(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const span = { fromMs: edges[0] ?? 0, untilMs: edges.at(-1) ?? 0 };
  const payers = payersOf(question, span, {
    plan: split?.by === "plan" ? `nullIf(${planOf("now")}, '')` : undefined,
  });
  if (split?.by !== "trait") return payers;
  const { text, parameters } = traitsOfPayers(split.trait);
  return {
    text: `
      SELECT payers.payer AS payer, first_paid, opening, steps, said
      FROM (${payers.text}) AS payers LEFT JOIN (${text}) AS traits ON of_payer = payers.payer`,
    parameters: { ...payers.parameters, ...parameters },
  };
}

/** The sums of each group, by its place. */
function sumsByPlace(rows: readonly SumsRow[], edges: readonly number[]): Map<number, GroupSums> {
  const byPlace = Map.groupBy(rows, ({ place }) => place);
  return new Map(
    [...byPlace].map(([place, own]) => {
      const byEdge = Map.groupBy(own, ({ edge }) => edge);
      const movedAt = (edge: number): Moved =>
        Object.fromEntries(
          (byEdge.get(edge) ?? []).map(({ move, mrr, payers }) => [moves[move], { mrr, payers }]),
        );
      return [place, { opening: movedAt(beginning).new ?? none, spans: edges.slice(0, -1).map(movedAt) }];
    }),
  );
}

/** The periods of a group. @param ends its sums between the ends of periods */
function periodsOf(
  periods: readonly RevenuePeriod[],
  { opening, spans }: GroupSums,
  ends: GroupSums | undefined,
): PeriodRevenue[] {
  let [{ mrr, payers }, month] = [opening, 0];
  return periods.map(({ monthsMs }, index) => {
    const [startMrr, startPayers] = [mrr, payers];
    const months = monthsMs.map(() => {
      const movements = movementsBy(spans[month], mrr);
      month += 1;
      mrr = movements.endMrr;
      payers += movements.new.payers + movements.reactivated.payers - movements.churned.payers;
      payers += movements.transferredIn.payers - movements.transferredOut.payers;
      return movements;
    });
    const retention = retentionOf(movementsBy(ends?.spans[index], startMrr), startPayers);
    return { movements: sumOfMovements(months), retention, endPayers: payers };
  });
}

function movementsBy(moved: Moved = {}, startMrr: number): Movements {
  const at = (name: (typeof moves)[number]) => moved[name] ?? none;
  const [left, involuntary] = [at("left"), at("leftInvoluntarily")];
  const movements = {
    new: at("new"),
    reactivated: at("reactivated"),
    expansion: at("expansion"),
    contraction: at("contraction"),
    churned: { mrr: left.mrr + involuntary.mrr, payers: left.payers + involuntary.payers },
    churnedInvoluntarily: involuntary,
    transferredIn: at("transferredIn"),
    transferredOut: at("transferredOut"),
  };
  const gained = movements.new.mrr + movements.reactivated.mrr + movements.expansion.mrr;
  const passed = movements.transferredIn.mrr - movements.transferredOut.mrr;
  const endMrr = startMrr + gained + passed - movements.contraction.mrr - movements.churned.mrr;
  return { startMrr, ...movements, endMrr };
}

/** Payers with MRR at the start have at the end what they had, with their own movements. */
function retentionOf(ends: Movements, payers: number): RevenueRetention {
  const { startMrr, expansion, contraction, churned, churnedInvoluntarily } = ends;
  const keptMrr = startMrr - contraction.mrr - churned.mrr;
  return ratiosOf({
    startMrr,
    endMrr: keptMrr + expansion.mrr,
    keptMrr,
    payers,
    left: churned.payers,
    leftInvoluntarily: churnedInvoluntarily.payers,
  });
}
