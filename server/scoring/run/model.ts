/**
 * The model that serves on a day. Rungs are trained and back-tested once a week, as of its Monday, on what was known
 * then; BG/BB is fitted anew every day, because it costs a second and needs no labels.
 */
import type { Warehouse } from "../../warehouse/warehouse.ts";
import { backtestSteps, type FittedSnapshot, type Fold, fitSnapshot } from "../backtest.ts";
import type { BgbbParameters } from "../bgbb.ts";
import { type BgbbFit, fitBgbb } from "../bgbb-fit.ts";
import { bgbbLogOdds, type ChurnModel, segmentsOf, silenceOver, tablesFor } from "../churn-model.ts";
import { designFor } from "../design.ts";
import { planFolds, trainingDaysFor } from "../folds.ts";
import { type Choice, chooseRung } from "../ladder.ts";
import type { CountedLabels } from "../platt.ts";
import { type CellRow, cellsQuery } from "../queries/cell-query.ts";
import { type ChurnedCell, churnedQuery } from "../queries/churned-query.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { read } from "../queries/query.ts";
import { readSegments } from "../queries/segment-query.ts";
import { readSnapshots } from "../queries/snapshots.ts";
import { readFrequentValues } from "../queries/trait-reading.ts";
import { fitSegments } from "../segments.ts";
import { settingsKey } from "../settings.ts";
import type { Snapshot } from "../snapshot.ts";
import type { Steps } from "../steps.ts";
import { countData, type DataCounts, trainRungSteps, trainRungs } from "../train.ts";
import { inSteps } from "./in-steps.ts";
import { populationOf, type ScoredOrganization, withOutages } from "./population.ts";
import { keepRecord, type ModelBody, type RunBody, recordOf } from "./records.ts";

export type ServingModel = Pick<
  RunBody,
  "model" | "bgbb" | "choice" | "counts" | "trainedDay" | "backtest"
> & {
  /** Entities seen in the window that are active or new. */
  readonly scored: number;
};

/** The Monday on or before a day: 1970-01-01 was a Thursday. */
function trainingDayOf(day: number): number {
  return day - ((((day - 4) % 7) + 7) % 7);
}

/** Fits, trains if it is time, and chooses the rung. @param report is told what is being done */
export async function modelFor(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  { day, ...about }: OfDay,
  report: (step: string) => void,
): Promise<ServingModel> {
  const { churnHorizonDays: horizonDays } = organization.settings;
  const population = populationOf(organization, kind);
  const trainedDay = trainingDayOf(day);
  const trained = await trainedModel(warehouse, organization, kind, { day: trainedDay, ...about }, report);
  report("fitting");
  const rows = await read<CellRow>(warehouse, cellsQuery(population, day, horizonDays));
  const cells = rows.map(({ x, t, n, count }) => ({ x, t, n, count }));
  const fit = fitBgbb(cells, trained.bgbb);
  const { churnedLabels, retainedLabels } = trained;
  const counts: DataCounts = { ...countData(cells, []), churnedLabels, retainedLabels };
  const segments = trained.rungs.map(segmentsOf).find((each) => each !== null);
  const choice = chooseRung(counts, trained.backtest, segments?.trait);
  return {
    model: servingModel(choice, trained.rungs, fit.parameters, horizonDays),
    bgbb: { parameters: fit.parameters, isConverged: fit.isConverged, isAtBound: fit.isAtBound },
    ...{ choice, counts, trainedDay, backtest: trained.backtest },
    scored: rows.reduce((sum, { scored }) => sum + scored, 0),
  };
}

/** A rung as it was trained, on today's fit of BG/BB. Segments stay as they were trained. */
function servingModel(
  { rung, segmentTrait }: Choice,
  trained: readonly ChurnModel[],
  bgbb: ChurnModel["bgbb"],
  horizonDays: number,
): ChurnModel | null {
  if (rung === null) return null;
  const found = trained.find((model) => model.rung === rung && segmentsOf(model)?.trait === segmentTrait);
  if (found !== undefined) return rung === 0 ? found : { ...found, bgbb };
  // There were too few entities on Monday, and are enough today.
  const enough = { entities: 1e9, entitiesWithThreePeriods: 1e9, churnedLabels: 0, retainedLabels: 0 };
  const design = { hasMembers: false, traits: [] };
  const untrained = trainRungs({ horizonDays, counts: enough, bgbb, rows: [], design });
  const model = untrained.find((each) => each.rung === rung);
  if (model === undefined) throw new Error(`rung ${rung} was chosen and not trained`);
  return model;
}

export interface OfDay {
  readonly day: number;
  readonly firstDay: number;
  /** BG/BB as it was fitted to users while this run trained them, by day; the training of accounts reads it again. */
  readonly userFits: Map<number, BgbbParameters>;
}

async function trainedModel(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  ofDay: OfDay,
  report: (step: string) => void,
): Promise<ModelBody> {
  const { day } = ofDay;
  const key = { organization: organization.id, kind, what: "model" } as const;
  const settings = settingsKey(organization.settings);
  const kept = await recordOf(warehouse, key, day);
  if (kept !== undefined && !kept.stale && kept.body.settingsKey === settings) return kept.body;
  report("training and back-testing");
  const { churnHorizonDays: horizonDays } = organization.settings;
  const asOfThen = await withOutages(warehouse, organization, day);
  const body = await train(warehouse, populationOf(asOfThen, kind), ofDay, horizonDays);
  await keepRecord(warehouse, key, {
    day,
    version: (kept?.version ?? 0) + 1,
    body: { ...body, settingsKey: settings },
  });
  return { ...body, settingsKey: settings };
}

async function train(
  warehouse: Warehouse,
  population: Population,
  { day, firstDay, userFits }: OfDay,
  horizonDays: number,
): Promise<Omit<ModelBody, "settingsKey">> {
  const folds = planFolds(firstDay, day, horizonDays);
  const trainingDays = trainingDaysFor(day, firstDay, horizonDays);
  const days = [...trainingDays, ...folds.flatMap((fold) => [fold.cutoffDay, ...fold.trainingDays])];
  const values = await readFrequentValues(warehouse, population);
  const snapshots = await readSnapshots(warehouse, population, days, { horizonDays, userFits, values });
  const at = (cutoffDay: number) => snapshotAt(snapshots, cutoffDay);
  const fits = new Map<Snapshot, FittedSnapshot>();
  const judged = await inSteps(
    backtestSteps(
      folds.map((fold): Fold => ({ scoring: at(fold.cutoffDay), training: fold.trainingDays.map(at) })),
      horizonDays,
      fits,
    ),
  );
  const fitted = await inSteps(fitSteps(trainingDays.map(at), horizonDays, fits));
  if (population.kind === "user") {
    for (const [{ cutoffDay }, { fit }] of fits) userFits.set(cutoffDay, fit.parameters);
  }
  const rows = fitted.flatMap((snapshot) => snapshot.rows);
  const cells = await read<CellRow>(warehouse, cellsQuery(population, day, horizonDays));
  const counts = countData(cells, rows);
  const bgbb = fitBgbb(cells).parameters;
  const byTrait = await readSegments(warehouse, population, { cutoffDay: day, cells, values });
  const segments = byTrait === null ? null : await inSteps(fitSegments(byTrait, bgbb));
  const churned: CountedLabels[] = [];
  for (const [index, { fit }] of fitted.entries()) {
    churned.push(
      ...(await churnedAt(warehouse, population, { day: trainingDays[index] ?? day, fit, horizonDays })),
    );
  }
  const design = designFor((fitted[0]?.rows ?? []).map(({ features }) => features));
  return {
    rungs: await inSteps(trainRungSteps({ horizonDays, counts, bgbb, rows, design, segments, churned })),
    churnedLabels: counts.churnedLabels,
    retainedLabels: counts.retainedLabels,
    bgbb,
    backtest: judged,
  };
}

/** What became of those who were churned on a day, by BG/BB's fit of then. */
async function churnedAt(
  warehouse: Warehouse,
  population: Population,
  { day, fit, horizonDays }: { readonly day: number; readonly fit: BgbbFit; readonly horizonDays: number },
): Promise<CountedLabels[]> {
  const cells = await read<ChurnedCell>(warehouse, churnedQuery(population, day, horizonDays));
  const tables = tablesFor(fit.parameters, horizonDays);
  return cells.map(({ count, returned, ...cell }) => ({
    logOdds: bgbbLogOdds(silenceOver(horizonDays, tables, cell)),
    positives: count - returned,
    negatives: returned,
  }));
}

function* fitSteps(
  snapshots: readonly Snapshot[],
  horizonDays: number,
  fits: Map<Snapshot, FittedSnapshot>,
): Steps<FittedSnapshot[]> {
  const fitted: FittedSnapshot[] = [];
  for (const snapshot of snapshots) {
    const fit = fits.get(snapshot) ?? (yield* fitSnapshot(snapshot, horizonDays));
    fits.set(snapshot, fit);
    fitted.push(fit);
  }
  return fitted;
}

function snapshotAt(snapshots: ReadonlyMap<number, Snapshot>, day: number): Snapshot {
  const snapshot = snapshots.get(day);
  if (snapshot === undefined) throw new RangeError(`day ${day} was not read`);
  return snapshot;
}
