/** MRR that cohorts of payers kept: a payer is in the cohort of the period in which it first had MRR. */
import { type KeptMrr, keptMrrOf } from "../../revenue/revenue.ts";
import { uniformFrom } from "../../scoring/scoring.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { jsonSettings } from "../sql/json-text.ts";
import type { Sql } from "../sql/sql.ts";
import { type PayerGroup, planOf, type RevenueSplit, ranked, withTraitAtEntry } from "./payer-groups.ts";
import { isIncludedPayer, type RevenueQuestion, stepsOf, unratedOf } from "./steps.ts";

/** Groups of a split besides "other" and "none": each cell draws intervals. */
const splitValues = 5;
/** The same payers have the same intervals each time. */
const seed = 77;
/** Before any step. */
const beginning = -9_007_199_254_740_991;

export interface RevenueCohort extends PayerGroup {
  /** The place of its period among the edges, from 0. */
  readonly cohort: number;
  readonly payers: number;
  /** When the payers entered. */
  readonly entryMrr: number;
  /** At the end of its own period and of each later one. */
  readonly cells: readonly KeptMrr[];
}

interface CohortRow extends PayerGroup {
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
  const { text, parameters } = cohortsQuery(question, edges, split);
  const rows = await warehouse.rows<CohortRow>(text, parameters);
  const cohorts: RevenueCohort[] = [];
  for (const { kind, value, cohort, entries, laters } of rows) {
    const periods = edges.length - 1 - cohort;
    const later = Array.from({ length: periods }, (_, period) => laters.map((mrrs) => mrrs[period] ?? 0));
    const cells = keptMrrOf(entries, later, uniformFrom(seed));
    const entryMrr = entries.reduce((sum, mrr) => sum + mrr, 0);
    cohorts.push({ kind, value, cohort, payers: entries.length, entryMrr, cells });
    // Another request may take the thread: intervals of a cohort of 100,000 payers take .2 s.
    await Bun.sleep(1);
  }
  return cohorts;
}

function cohortsQuery(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const { text, parameters } = payersAtEntry(question, edges, split);
  const [said, counted] = split === null ? ["", ""] : ["said, ", "said, count() AS said_payers, "];
  // In one order, so that the same payers have the same intervals.
  const rows = `
    SELECT ${split === null ? "" : "said, said_payers, "}cohort, arrayMap(one -> one.2, pairs) AS entries, arrayMap(one -> one.3, pairs) AS laters
    FROM (
      SELECT ${counted}cohort, arraySort(groupArray((payer, entry, arraySlice(ends, cohort + 1)))) AS pairs
      FROM (${text})
      GROUP BY ${said}cohort)`;
  const grouped =
    split === null
      ? `SELECT 'all' AS kind, NULL AS value, * FROM (${rows})`
      : ranked(rows, ["cohort"], { entries: "groupArrayArray", laters: "groupArrayArray" }, splitValues);
  return { text: `SELECT * FROM (${grouped}) ORDER BY kind, value, cohort ${jsonSettings}`, parameters };
}

/** Rows of `payer`, `first_paid`, `entry` (its first MRR), `cohort` (from 0), `ends` (MRR at each later edge) and `said`. */
function payersAtEntry(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const steps = stepsOf(question, split?.by === "plan");
  const buckets = [beginning, ...edges.slice(0, -1)];
  const moved = buckets.map((from, index) => `sumIf(amount_by, bucket = ${from}) AS d${index}`);
  const balances = buckets.map(
    (_, index) => `${index === 0 ? "d0" : `b${index - 1} + d${index}`} AS b${index}`,
  );
  const ends = buckets.slice(1).map((_, index) => `b${index + 1}`);
  const plan = split?.by === "plan" ? `, nullIf(${planOf("entry")}, '') AS said` : "";
  const [firstEdge = 0, lastEdge = 0] = [edges[0], edges.at(-1)];
  const payers: Sql = {
    text: `
      SELECT payer, first_paid, entry, toUInt32(indexOf({bounds:Array(Int64)}, roundDown(first_paid, {bounds:Array(Int64)})) - 2) AS cohort,
        [${ends.join(", ")}] AS ends ${plan === "" ? "" : ", said"}
      FROM (
        SELECT *, ${balances.join(", ")}, arraySum(arrayMap((one, by) -> if(one = first_paid, by, toInt64(0)), moments, rises)) AS entry
        FROM (
          SELECT payer, min(moment) AS first_paid, groupArray(moment) AS moments, groupArray(amount_by) AS rises,
            ${moved.join(", ")}${plan}
          FROM (SELECT *, roundDown(moment, {bounds:Array(Int64)}) AS bucket FROM (${steps.text}))
          GROUP BY payer
          HAVING first_paid >= ${firstEdge} AND first_paid < ${lastEdge}
            ${unratedOf(question).length === 0 ? "" : "AND max(is_unrated) = 0"}))
      WHERE entry > 0 AND ${isIncludedPayer}`,
    parameters: { ...steps.parameters, bounds: [beginning, ...edges] },
  };
  if (split?.by !== "trait") return payers;
  return withTraitAtEntry(payers, split.trait, ["payer", "first_paid", "entry", "cohort", "ends"]);
}
