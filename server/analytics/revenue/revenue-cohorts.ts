/** MRR that cohorts of payers kept: a payer is in the cohort of the period in which it first had MRR. A
 * subscription that passed to another payer counts as that one's from its start: a transfer loses nothing,
 * and makes no new payer. */
import { CohortChance, type KeptMrr, keptMrrOf } from "../../revenue/kept-mrr.ts";
import { uniformFrom } from "../../scoring/statistics/random.ts";
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
  withTraitAtEntry,
} from "./payer-groups.ts";
import { payersOf, type RevenueQuestion } from "./steps.ts";

/** Groups of a split besides "other" and "none": each cell draws intervals. */
const splitValues = 5;
/** Of a seed: the same payers have the same intervals each time. */
const chance = new CohortChance(() => uniformFrom(77));

export interface RevenueCohort extends PayerGroup {
  /** The place of its period among the edges, from 0. */
  readonly cohort: number;
  readonly payers: number;
  /** When the payers entered. */
  readonly entryMrr: number;
  /** At the end of its own period and of each later one. */
  readonly cells: readonly KeptMrr[];
}

interface CohortRow {
  /** That of a group. */
  readonly place: number;
  readonly cohort: number;
  readonly entries: readonly number[];
  /** MRR of each payer at the ends of the cohort's period and of all later ones. */
  readonly laters: readonly (readonly number[])[];
}

/**
 * The cohorts of the periods between edges.
 * @param edges the first instants of consecutive periods, then the end of the last: now, if it goes on
 * @throws WarehouseError
 */
export async function revenueCohorts(
  warehouse: Warehouse,
  question: RevenueQuestion,
  edges: readonly number[],
  split: RevenueSplit | null,
): Promise<RevenueCohort[]> {
  const payers = payersAtEntry(question, edges, split);
  const values = split && (await largestValues(warehouse, payers, splitValues));
  const rows = await warehouse.rows<CohortRow>(cohortsOf(payers, values !== null), {
    ...payers.parameters,
    ...(values !== null && { values }),
  });
  const cohorts: RevenueCohort[] = [];
  for (const { place, cohort, entries, laters } of rows) {
    const periods = edges.length - 1 - cohort;
    const later = Array.from({ length: periods }, (_, period) => laters.map((mrrs) => mrrs[period] ?? 0));
    const cells = keptMrrOf(entries, later, chance);
    const entryMrr = entries.reduce((sum, mrr) => sum + mrr, 0);
    cohorts.push({ ...groupAt(values, place), cohort, payers: entries.length, entryMrr, cells });
    // Another request may take the thread: intervals of a cohort of 100,000 payers take .2 s.
    await Bun.sleep(1);
  }
  return cohorts;
}

/** The query of cohorts. Payers are in one order, so that the same payers have the same intervals. */
function cohortsOf({ text }: Sql, isSplit: boolean): string {
  return `
    SELECT place, cohort, arrayMap(one -> one.2, pairs) AS entries, arrayMap(one -> one.3, pairs) AS laters
    FROM (
      SELECT ${isSplit ? groupPlace : "0"} AS place, cohort,
        arraySort(groupArray((payer, entry, arraySlice(ends, cohort + 1)))) AS pairs
      FROM (${text})
      GROUP BY place, cohort)
    ORDER BY place = 0, place = -1, place, cohort ${jsonSettings}`;
}

/** Rows of `payer`, `first_paid`, `entry` (its first MRR), `cohort` (from 0), `ends` (MRR at each later edge)
 * and `said`. */
function payersAtEntry(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const span = { fromMs: edges[0] ?? 0, untilMs: edges.at(-1) ?? 0 };
  const followed: RevenueQuestion = { ...question, payers: "last", hasTransfers: false };
  const { text, parameters } = payersOf(followed, span, {
    plan: split?.by === "plan" ? `nullIf(${planOf("entry")}, '')` : undefined,
    // Of these payers all steps are within the span.
    having: "first_paid >= {fromMs:Int64} AND first_paid < {untilMs:Int64}",
  });
  const sumIf = (where: string) => `arraySum((code, by) -> if(${where}, by, toInt64(0)), steps.1, steps.2)`;
  const ends = edges.slice(1).map((edge) => sumIf(`code < ${2 * edge}`));
  const payers: Sql = {
    text: `
      SELECT payer, first_paid, ${sumIf("bitShiftRight(code, 1) = first_paid")} AS entry,
        toUInt32(indexOf({edges:Array(Int64)}, roundDown(first_paid, {edges:Array(Int64)})) - 1) AS cohort,
        [${ends.join(", ")}] AS ends ${split?.by === "plan" ? ", said" : ""}
      FROM (${text})`,
    parameters: { ...parameters, edges },
  };
  if (split?.by !== "trait") return payers;
  return withTraitAtEntry(payers, split.trait, ["payer", "first_paid", "entry", "cohort", "ends"]);
}
