/**
 * How MRR moved in each period, and which part of it was kept: sums over all payers, without a row for each payer in
 * this process. The definitions are those of `movementsOf` and `retentionBetween` (revenue/figures/).
 */
import {
  type Movement,
  type Movements,
  type RevenueRetention,
  ratiosOf,
  sumOfMovements,
} from "../../revenue/revenue.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { jsonSettings } from "../sql/json-text.ts";
import type { Sql } from "../sql/sql.ts";
import { type PayerGroup, planOf, type RevenueSplit, ranked, traitsOfPayers } from "./payer-groups.ts";
import { isIncludedPayer, type RevenueQuestion, stepsOf, unratedOf } from "./steps.ts";

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

/** Months of one query. A payer has two sums for each of them, so that more months take more memory at once. */
const monthsOfQuery = 12;

/** The periods of all payers, or of groups of them.
 * @param periods consecutive, the oldest first
 * @throws WarehouseError */
export async function revenue(
  warehouse: Warehouse,
  question: RevenueQuestion,
  periods: readonly RevenuePeriod[],
  split: RevenueSplit | null,
): Promise<GroupRevenue[]> {
  const groups = new Map<string, { group: PayerGroup; periods: PeriodRevenue[] }>();
  if (split === null) groups.set("all", { group: all, periods: [] });
  for (const [done, some] of inQueries(periods)) {
    const edges = edgesOf(some);
    const { text, parameters } = movementsQuery(question, some, edges, split);
    const rows = await warehouse.rows<SumsRow>(text, parameters);
    for (const row of rows) {
      const key = keyOf(row);
      // A group that begins between two queries has nothing before.
      const before = Array.from({ length: done }, () => nothing);
      if (!groups.has(key)) groups.set(key, { group: { kind: row.kind, value: row.value }, periods: before });
    }
    const byGroup = Map.groupBy(rows, keyOf);
    for (const [key, { periods: known }] of groups) {
      known.push(...periodsOf(some, byGroup.get(key) ?? []));
    }
  }
  return [...groups.values()].map(({ group, periods: known }) => ({ ...group, periods: known }));
}

const all: PayerGroup = { kind: "all", value: null };
const none: Movement = { mrr: 0, payers: 0 };

function keyOf({ kind, value }: PayerGroup): string {
  return value === null ? kind : `value ${value}`;
}

/** Whole periods of at most so many months, each with the number of periods before them. */
function* inQueries(periods: readonly RevenuePeriod[]): Generator<[number, readonly RevenuePeriod[]]> {
  let from = 0;
  while (from < periods.length) {
    let [until, months] = [from, 0];
    for (let next = periods[until]; next !== undefined; next = periods[until]) {
      months += next.monthsMs.length;
      if (months > monthsOfQuery && until > from) break;
      until += 1;
    }
    yield [from, periods.slice(from, until)];
    from = until;
  }
}

/** The first instants of all months, and the end. */
function edgesOf(periods: readonly RevenuePeriod[]): number[] {
  return [...periods.flatMap(({ monthsMs }) => monthsMs), periods.at(-1)?.endMs ?? 0];
}

const movementNames = ["new", "reactivated", "expansion", "contraction", "churned", "involuntary"] as const;
type SumName = `${(typeof movementNames)[number]}_${"mrr" | "payers"}`;

/** Sums of a group at one place: 0 for what was before, then each month from 1, then each period of several months. */
interface SumsRow extends PayerGroup, Readonly<Record<SumName, number>> {
  readonly place: number;
}

/** Places of periods of several months begin here. */
const periodPlaces = 1_000;
/** Before any step. */
const beginning = -9_007_199_254_740_991;

function movementsQuery(
  question: RevenueQuestion,
  periods: readonly RevenuePeriod[],
  edges: readonly number[],
  split: RevenueSplit | null,
): Sql {
  const payers = payersOf(question, edges, split);
  const sums = sumNames.map((name) => `${sumSql[name]} AS ${name}`);
  const said = split === null ? "" : "said, countIf(place = 0) AS said_payers, ";
  const rows = `
    SELECT ${said}place, ${sums.join(", ")}
    FROM (
      SELECT ${split === null ? "" : "said, "}first_paid, place, start_mrr, end_mrr, left_code, edge_ms
      FROM (${payers.text})
      ARRAY JOIN ${pairsOf(periods, edges)}
      WHERE start_mrr != end_mrr OR place = 0)
    GROUP BY ${split === null ? "" : "said, "}place`;
  const text =
    split === null
      ? `SELECT 'all' AS kind, NULL AS value, * FROM (${rows})`
      : ranked(rows, ["place"], Object.fromEntries(sumNames.map((name) => [name, "sum"] as const)));
  return { text: `${text} ${jsonSettings}`, parameters: payers.parameters };
}

const [begins, leaves] = ["start_mrr = 0 AND end_mrr > 0", "start_mrr > 0 AND end_mrr = 0"];
/** The condition of each movement, and the MRR that moves. */
const movementSql: Readonly<Record<(typeof movementNames)[number], readonly [where: string, mrr: string]>> = {
  new: [`${begins} AND first_paid >= edge_ms`, "end_mrr"],
  reactivated: [`${begins} AND first_paid < edge_ms`, "end_mrr"],
  expansion: ["start_mrr > 0 AND end_mrr > start_mrr", "end_mrr - start_mrr"],
  contraction: ["end_mrr > 0 AND end_mrr < start_mrr", "start_mrr - end_mrr"],
  churned: [leaves, "start_mrr"],
  involuntary: [`${leaves} AND bitAnd(left_code, 1) = 0`, "start_mrr"],
};
const sumNames = movementNames.flatMap((name) => [`${name}_mrr`, `${name}_payers`] as const);
const sumSql = Object.fromEntries(
  movementNames.flatMap((name) => {
    const [where, mrr] = movementSql[name];
    return [
      [`${name}_mrr`, `sumIf(${mrr}, ${where})`],
      [`${name}_payers`, `countIf(${where})`],
    ];
  }),
) as Readonly<Record<SumName, string>>;

/** Rows of payers: `first_paid`, `b0` to `bN` (MRR at each edge), `c1` to `cN` (the newest `code` in each month), `said`. */
function payersOf(question: RevenueQuestion, edges: readonly number[], split: RevenueSplit | null): Sql {
  const steps = stepsOf(question, split?.by === "plan");
  const buckets = [beginning, ...edges.slice(0, -1)];
  const moved = buckets.map((from, index) => `sumIf(amount_by, bucket = ${from}) AS d${index}`);
  const codes = buckets.slice(1).map((from, index) => `maxIf(code, bucket = ${from}) AS c${index + 1}`);
  const plan = split?.by === "plan" ? `, nullIf(${planOf("now")}, '') AS said` : "";
  const payers = `
    SELECT payer, min(moment) AS first_paid, ${[...moved, ...codes].join(", ")}${plan}
    FROM (SELECT *, roundDown(moment, {bounds:Array(Int64)}) AS bucket FROM (${steps.text}))
    GROUP BY payer
    ${unratedOf(question).length === 0 ? "" : "HAVING max(is_unrated) = 0"}`;
  const balances = buckets.map(
    (_, index) => `${index === 0 ? "d0" : `b${index - 1} + d${index}`} AS b${index}`,
  );
  const traits = split?.by === "trait" ? traitsOfPayers(split.trait) : undefined;
  const joined =
    traits === undefined
      ? `(${payers})`
      : `(SELECT payers.*, said FROM (${payers}) AS payers LEFT JOIN (${traits.text}) AS traits ON of_payer = payers.payer)`;
  return {
    text: `SELECT *, ${balances.join(", ")} FROM ${joined} WHERE ${isIncludedPayer}`,
    parameters: { ...steps.parameters, ...traits?.parameters, bounds: [beginning, ...edges] },
  };
}

/** The pairs of edges that are compared, as parallel arrays. */
function pairsOf(periods: readonly RevenuePeriod[], edges: readonly number[]): string {
  const months = edges.slice(1).map((_, index) => ({ place: index + 1, from: index, to: index + 1 }));
  const longer: { place: number; from: number; to: number }[] = [];
  let month = 0;
  for (const [index, { monthsMs }] of periods.entries()) {
    const to = month + monthsMs.length;
    if (monthsMs.length > 1) longer.push({ place: periodPlaces + index, from: month, to });
    month = to;
  }
  const pairs = [...months, ...longer];
  const newest = (from: number, to: number) => {
    const codes = Array.from({ length: to - from }, (_, index) => `c${from + index + 1}`);
    return codes.length === 1 ? (codes[0] ?? "") : `greatest(${codes.join(", ")})`;
  };
  const arrays = {
    place: ["0", ...pairs.map(({ place }) => String(place))],
    start_mrr: ["toInt64(0)", ...pairs.map(({ from }) => `b${from}`)],
    end_mrr: ["b0", ...pairs.map(({ to }) => `b${to}`)],
    left_code: ["toInt64(0)", ...pairs.map(({ from, to }) => newest(from, to))],
    edge_ms: ["0", ...pairs.map(({ from }) => String(edges[from] ?? 0))],
  };
  return Object.entries(arrays)
    .map(([name, values]) => `[${values.join(", ")}] AS ${name}`)
    .join(", ");
}

/** The periods of a group by its sums. */
function periodsOf(periods: readonly RevenuePeriod[], rows: readonly SumsRow[]): PeriodRevenue[] {
  const byPlace = new Map(rows.map((row) => [row.place, row]));
  const opening = byPlace.get(0);
  let [mrr, payers, month] = [opening?.new_mrr ?? 0, opening?.new_payers ?? 0, 0];
  return periods.map(({ monthsMs }, index) => {
    const startPayers = payers;
    const months = monthsMs.map(() => {
      month += 1;
      const movements = movementsAt(byPlace.get(month), mrr);
      mrr = movements.endMrr;
      payers += movements.new.payers + movements.reactivated.payers - movements.churned.payers;
      return movements;
    });
    const movements = months.length === 1 && months[0] !== undefined ? months[0] : sumOfMovements(months);
    const ends =
      monthsMs.length === 1 ? movements : movementsAt(byPlace.get(periodPlaces + index), movements.startMrr);
    return { movements, retention: retentionOf(ends, startPayers), endPayers: payers };
  });
}

function movementsAt(row: SumsRow | undefined, startMrr: number): Movements {
  const at = (name: (typeof movementNames)[number]): Movement =>
    row === undefined ? none : { mrr: row[`${name}_mrr`], payers: row[`${name}_payers`] };
  const moved = {
    ...{ new: at("new"), reactivated: at("reactivated"), expansion: at("expansion") },
    ...{ contraction: at("contraction"), churned: at("churned"), churnedInvoluntarily: at("involuntary") },
  };
  const gained = moved.new.mrr + moved.reactivated.mrr + moved.expansion.mrr;
  return { startMrr, ...moved, endMrr: startMrr + gained - moved.contraction.mrr - moved.churned.mrr };
}

/** Payers with MRR at the start have at the end what they had, with their own movements. */
function retentionOf(ends: Movements, payers: number): RevenueRetention {
  const { startMrr, expansion, contraction, churned, churnedInvoluntarily } = ends;
  const keptMrr = startMrr - contraction.mrr - churned.mrr;
  return ratiosOf({
    ...{ startMrr, endMrr: keptMrr + expansion.mrr, keptMrr, payers },
    ...{ left: churned.payers, leftInvoluntarily: churnedInvoluntarily.payers },
  });
}

const nothing: PeriodRevenue = {
  movements: movementsAt(undefined, 0),
  retention: retentionOf(movementsAt(undefined, 0), 0),
  endPayers: 0,
};
