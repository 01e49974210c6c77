/**
 * All entities as of some days, read from the warehouse: the data to which models are fitted, and on which
 * they are trained and evaluated. Tests compare them with test/scoring/snapshot.ts.
 *
 * One query after the other: each uses all cores, and the dashboard's queries need a free reader meanwhile.
 */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { Fold } from "../churn/backtest.ts";
import type { BgbbParameters } from "../churn/bgbb.ts";
import { fitBgbb } from "../churn/bgbb-fit.ts";
import { type LabelWeights, noWeights } from "../churn/entered.ts";
import type { FoldDays } from "../churn/folds.ts";
import type { BesideSample, Snapshot } from "../churn/snapshot.ts";
import { isDeclared } from "../scores/features.ts";
import { type CellRow, cellsQuery } from "./cell-query.ts";
import { type CellRisks, cellRisks } from "./cell-table.ts";
import type { Population } from "./engagement-events.ts";
import { read } from "./query.ts";
import { type LabelledRow, outcomesQuery, type RowsInput, rowsQuery, snapshotRow } from "./row-query.ts";
import { storedFit } from "./snapshot-fits.ts";
import type { SnapshotRows } from "./snapshot-rows.ts";
import { snapshotFor } from "./stored-snapshots.ts";
import { largestHash } from "./trait-query.ts";
import { noTraitFacts, readKnownTraits, readTraits } from "./trait-reading.ts";

export interface SnapshotOptions {
  readonly horizonDays: number;
  /** Rows of all snapshots together, without rows beside a sample. */
  readonly maxRows?: number;
  /** Days that are trained at: a sample has rows beside it there. None by default. */
  readonly trainingDays?: readonly number[];
  /** All entities seen in the window are scored, instead of only active and new ones. */
  readonly everyone?: boolean;
  /** For accounts: BG/BB as it was fitted to their users, by day, where that was done before. */
  readonly userFits?: ReadonlyMap<number, BgbbParameters> | undefined;
  /** What rows weigh. */
  readonly weights?: LabelWeights;
  /** Called after every query with the finished share, 0 to 1. */
  readonly onProgress?: (fraction: number) => void;
}

/** Limits of training and back-tests. */
const defaultMaxRows = 50_000;
/** Churned rows beside a sample, as a share of its rows: few leave, and a model learns most from them. */
const shareBeside = 1 / 3;

/**
 * The snapshots of these days, by day. When there are more rows than `maxRows`, the largest snapshots are
 * sampled: other entities on each day, so that the rows are of as many entities as they can be.
 */
export async function readSnapshots(
  warehouse: Warehouse,
  population: Population,
  cutoffDays: Iterable<number>,
  {
    horizonDays,
    maxRows = defaultMaxRows,
    trainingDays = [],
    everyone = false,
    onProgress,
    userFits,
    weights = noWeights,
  }: SnapshotOptions,
): Promise<Map<number, Snapshot>> {
  const days = new Set(cutoffDays);
  const stored = new Map<number, SnapshotRows>();
  const cellsByDay = new Map<number, readonly CellRow[]>();
  const snapshots = new Map<number, Snapshot>();
  const progress = () => onProgress?.((cellsByDay.size + snapshots.size) / (2 * days.size));
  for (const cutoffDay of days) {
    const snapshot = await snapshotFor(warehouse, population, cutoffDay);
    stored.set(cutoffDay, snapshot);
    cellsByDay.set(cutoffDay, await read(warehouse, cellsQuery(population, snapshot, horizonDays)));
    progress();
  }
  const rowsOf = (cells: readonly CellRow[]) =>
    cells.reduce((sum, { count, scored }) => sum + (everyone ? count : scored), 0);
  const known = await readKnownTraits(warehouse, population);
  const maxRowsOfEach = fairShare([...cellsByDay.values()].map(rowsOf), maxRows);
  for (const [cutoffDay, snapshot] of stored) {
    const counted = cellsByDay.get(cutoffDay) ?? [];
    const cells = counted.map(({ x, t, n, count }) => ({ x, t, n, count }));
    const memberRisks =
      population.kind === "account" &&
      (await readMemberRisks(warehouse, population, { snapshot, horizonDays, userFits }));
    const input = { snapshot, horizonDays, everyone, ...(memberRisks && { memberRisks }) };
    const sample = await readSample(warehouse, population, input, {
      all: rowsOf(counted),
      maxRowsOfEach,
      isTraining: trainingDays.includes(cutoffDay),
    });
    const traits = await readTraits(warehouse, population, { cutoffDay, known, ...sample });
    const of = { cutoffDay, settings: population.settings };
    const arms = { treated: 0, control: 0, exempt: 0 };
    const asRows = (found: readonly LabelledRow[]) =>
      found.flatMap((row) => {
        const { arm, weight } = weights.of(row.entity, cutoffDay);
        if (arm !== null) arms[arm] += 1;
        if (weight === 0) return [];
        const taken = snapshotRow(row, of, traits.get(row.entity) ?? noTraitFacts);
        return [weight === 1 ? taken : { ...taken, weight }];
      });
    const rows = asRows(sample.rows);
    const churned = asRows(sample.churned);
    snapshots.set(cutoffDay, {
      cutoffDay,
      fit: await storedFit(warehouse, population, cutoffDay, cells),
      isDeclared: isDeclared(population.settings),
      cells,
      rows,
      ...(arms.treated + arms.control + arms.exempt > 0 && { arms }),
      ...(sample.weights && { beside: { churned, ...sample.weights } }),
    });
    progress();
  }
  return snapshots;
}

interface Sample {
  readonly rows: readonly LabelledRow[];
  /** More churned rows, beside the sample. */
  readonly churned: readonly LabelledRow[];
  /** No row has a higher hash; undefined without rows. */
  readonly hashUpTo: string | undefined;
  /** Undefined when the rows are all there are. */
  readonly weights?: Omit<BesideSample, "churned">;
}

async function readSample(
  warehouse: Warehouse,
  population: Population,
  input: Omit<RowsInput, "maxRows" | "churnedAbove">,
  of: { readonly all: number; readonly maxRowsOfEach: number; readonly isTraining: boolean },
): Promise<Sample> {
  if (of.all === 0) return { rows: [], churned: [], hashUpTo: undefined };
  const readRows = (limits: Pick<RowsInput, "maxRows" | "churnedAbove">) =>
    read<LabelledRow>(warehouse, rowsQuery(population, { ...input, ...limits }));
  const rows = await readRows({ maxRows: of.maxRowsOfEach });
  const isAll = of.all <= of.maxRowsOfEach;
  const hashUpTo = isAll ? largestHash : (rows.at(-1)?.hash ?? largestHash);
  if (isAll || !of.isTraining) return { rows, churned: [], hashUpTo };
  const maxRows = Math.ceil(shareBeside * of.maxRowsOfEach);
  const churned = await readRows({ maxRows, churnedAbove: hashUpTo });
  const [all] = await read<Outcomes>(warehouse, outcomesQuery(population, input));
  return { rows, churned, hashUpTo, ...(all && { weights: weightsOf(rows, churned, all) }) };
}

interface Outcomes {
  readonly entities: number;
  readonly churned: number;
}

function weightsOf(
  rows: readonly LabelledRow[],
  beside: readonly LabelledRow[],
  { entities, churned }: Outcomes,
): Omit<BesideSample, "churned"> {
  const churnedInSample = rows.filter(({ label }) => label).length;
  return {
    churnedWeight: churned / Math.max(1, churnedInSample + beside.length),
    retainedWeight: (entities - churned) / Math.max(1, rows.length - churnedInSample),
  };
}

/** The folds of these days; a day that is in many of them is read once. */
export async function readFolds(
  warehouse: Warehouse,
  population: Population,
  folds: readonly FoldDays[],
  options: SnapshotOptions,
): Promise<Fold[]> {
  const days = folds.flatMap(({ cutoffDay, trainingDays }) => [cutoffDay, ...trainingDays]);
  const trainingDays = folds.flatMap((fold) => fold.trainingDays);
  const snapshots = await readSnapshots(warehouse, population, days, { ...options, trainingDays });
  const at = (day: number) => {
    const snapshot = snapshots.get(day);
    if (snapshot === undefined) throw new RangeError(`day ${day} was not read`);
    return snapshot;
  };
  return folds.map(({ cutoffDay, trainingDays }) => ({
    scoring: at(cutoffDay),
    training: trainingDays.map(at),
    keyEvents: population.settings.keyEvents,
  }));
}

/** The risks of an organization's users by BG/BB, which needs no labels and is there on the first day. */
async function readMemberRisks(
  warehouse: Warehouse,
  { entity: _, ...population }: Population,
  { snapshot, horizonDays, userFits }: { readonly snapshot: SnapshotRows } & SnapshotOptions,
): Promise<CellRisks> {
  const known = userFits?.get(snapshot.day);
  if (known !== undefined) return cellRisks(known, horizonDays);
  const { day, users } = snapshot;
  const query = cellsQuery({ ...population, kind: "user" }, { day, entities: users }, horizonDays);
  const cells = await read<CellRow>(warehouse, query);
  return cellRisks(fitBgbb(cells).parameters, horizonDays);
}

/** The largest limit of each count under which all together stay within the total. */
function fairShare(counts: readonly number[], total: number): number {
  let left = total;
  for (const [index, count] of counts.toSorted((a, b) => a - b).entries()) {
    const share = Math.floor(left / (counts.length - index));
    if (count > share) return share;
    left -= count;
  }
  return total;
}
