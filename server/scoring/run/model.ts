/**
 * The model that serves on a day. Rungs are trained and back-tested once a week, on the data of its Monday.
 * BG/BB is fitted every day, because it takes a second and needs no labels.
 */
import { formatDay } from "../../calendar/days.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import { backtestSteps, type FittedSnapshot, type Fold, fitSnapshot } from "../churn/backtest.ts";
import { baseRateDays, observedBaseRate } from "../churn/base-rate.ts";
import { type BgbbParameters, priorParameters } from "../churn/bgbb.ts";
import { type BgbbFit, fitBgbb } from "../churn/bgbb-fit.ts";
import { bgbbLogOdds, type ChurnModel, groupsOfModel, type Rung, silenceBy } from "../churn/churn-model.ts";
import type { FeatureGroup } from "../churn/columns.ts";
import { columnsIn, columnsOf, type Design, designFor } from "../churn/design.ts";
import type { ArmRows, LabelWeights } from "../churn/entered.ts";
import {
  calibrationDaysOf,
  foldsWithKnownOutcomes,
  hasKnownOutcomes,
  leastLogDays,
  planFolds,
  trainingDaysFor,
} from "../churn/folds.ts";
import { chooseRung, type Incumbent, incumbentOf } from "../churn/ladder.ts";
import { allRows, type Snapshot } from "../churn/snapshot.ts";
import type { Steps } from "../churn/steps.ts";
import { countData, type DataCounts, trainRungSteps, trainRungs } from "../churn/train.ts";
import { type CellRow, cellsQuery } from "../queries/cell-query.ts";
import { spansWithoutDepartures } from "../queries/departure-days.ts";
import type { EntityKind, Population } from "../queries/engagement-events.ts";
import { daysWithUnknownChurn } from "../queries/label-query.ts";
import { type ChurnedCell, churnedQuery } from "../queries/lists/churned-query.ts";
import { read } from "../queries/query.ts";
import { keepFit } from "../queries/snapshot-fits.ts";
import type { SnapshotRows } from "../queries/snapshot-rows.ts";
import { readSnapshots } from "../queries/snapshots.ts";
import { snapshotFor } from "../queries/stored-snapshots.ts";
import { bandFailures } from "../scores/band-separation.ts";
import { isDeclared } from "../scores/features.ts";
import { modelKey } from "../scores/settings.ts";
import type { CountedLabels } from "../statistics/platt.ts";
import { inSteps } from "./in-steps.ts";
import { declaredKey, populationOf, type ScoredOrganization, weightsOf, withOutages } from "./population.ts";
import { realisedChurn } from "./realised.ts";
import type { RunBody, TrainedRungs } from "./record-bodies.ts";
import { keepRecord, newestRecord, recordsOf } from "./records.ts";
import type { Trainings } from "./trainings.ts";

export type ServingModel = Pick<
  RunBody,
  | "model"
  | "bgbb"
  | "choice"
  | "counts"
  | "trainedDay"
  | "backtest"
  | "observedBaseRate"
  | "noDeparturesFrom"
  | "bandFailures"
  | "arms"
> & {
  /** Entities seen in the window that are active or new. */
  readonly scored: number;
};

/** The Monday on or before a day: 1970-01-01 was a Thursday. */
function trainingDayOf(day: number): number {
  return day - ((((day - 4) % 7) + 7) % 7);
}

/** The last of every fourth Monday since 1970, on or before this Monday. */
function fourthMondayOf(monday: number): number {
  return monday - ((((monday - 4) % 28) + 28) % 28);
}

interface ServingQuestion {
  readonly snapshot: SnapshotRows;
  /** Nothing is trained, and rung 1 serves if it needs no labels. */
  readonly beforeTraining: boolean;
  /** A day of the past has the model of its Monday, if that was trained, and else of every fourth Monday: a
   * training takes three times as long as the scores of a day. */
  readonly isOfPast: boolean;
}

/** Fits, trains if it is time, and chooses the rung. If training fails the last model serves.
 * @param report is called with the present step */
export async function modelFor(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  { snapshot, beforeTraining, isOfPast, ...about }: Omit<OfDay, "day"> & ServingQuestion,
  report: (step: string) => void,
): Promise<ServingModel> {
  const { churnHorizonDays: horizonDays } = organization.settings;
  const population = populationOf(organization, kind);
  const monday = trainingDayOf(snapshot.day);
  const fourth = fourthMondayOf(monday);
  // Before there is enough data to train on, a training takes no time, and the next Monday may have enough.
  const day = isOfPast && fourth >= about.firstDay + leastLogDays(horizonDays) ? fourth : monday;
  const trained = beforeTraining
    ? { trained: untrained(horizonDays), trainedDay: monday, failure: "the first model is being trained" }
    : await trainedModel(warehouse, organization, kind, { monday, day, isOfPast, ...about }, report);
  const before = await incumbentBefore(warehouse, organization, kind, trained.trainedDay);
  report("fitting");
  return servingModelOn(warehouse, population, { snapshot, horizonDays, before }, trained);
}

/** Training reads snapshots of a year. With fewer users it takes less than two seconds. */
const usersOfLongTraining = 10_000;

/** Scores older than this say too little about a day: its new scores are then shown before the training. */
const recentDays = 28;

/** Whether a run as of a day takes long for its training, while no recent complete run (see status.ts) is
 * there to be shown. An import in the order of time has scores of a day of last spring, from its first
 * events. */
export async function isFirstOfMany(
  warehouse: Warehouse,
  organization: number,
  day: number,
): Promise<boolean> {
  const [row] = await warehouse.rows<{ isLong: boolean }>(
    `SELECT toBool(uniqExact(user) >= ${usersOfLongTraining}) AS isLong FROM user_spans
     WHERE organization = {organization:UInt32} AND NOT EXISTS (
       SELECT 1 FROM score_records WHERE organization = {organization:UInt32} AND kind = 'account' AND what = 'run'
         AND day > addDays(toDate32('1970-01-01'), {fromDay:Int32}))`,
    { organization, fromDay: day - recentDays },
  );
  return row?.isLong === true;
}

/**
 * The model that would serve under other settings, trained and back-tested as it will be when they are saved.
 * Missing snapshots of features are stored with their fits, and nothing else.
 * @param trainedDay the day as of which it is trained
 */
export async function modelUnder(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  { day, trainedDay, ...about }: Omit<OfDay, "trainings"> & { readonly trainedDay: number },
): Promise<ServingModel> {
  const { churnHorizonDays: horizonDays } = organization.settings;
  const { eventsFromDay = null, readEntered } = organization;
  const asOfThen = populationOf(await withOutages(warehouse, organization, trainedDay), kind);
  const training = { day: trainedDay, eventsFromDay, readEntered, ...about };
  const trained = await train(warehouse, asOfThen, training, horizonDays);
  const population = populationOf(await withOutages(warehouse, organization, day), kind);
  const snapshot = await snapshotFor(warehouse, population, day);
  return servingModelOn(
    warehouse,
    population,
    { snapshot, horizonDays, before: null },
    { trained, trainedDay, failure: null },
  );
}

/** The rung that serves on a day, on the day's fit of BG/BB. */
async function servingModelOn(
  warehouse: Warehouse,
  population: Population,
  {
    snapshot,
    horizonDays,
    before,
  }: { readonly snapshot: SnapshotRows; readonly horizonDays: number; readonly before: Incumbent | null },
  { trained, trainedDay, failure }: Trained,
): Promise<ServingModel> {
  const rows = await read<CellRow>(warehouse, cellsQuery(population, snapshot, horizonDays));
  const cells = rows.map(({ x, t, n, count }) => ({ x, t, n, count }));
  const fit = fitBgbb(cells, trained.bgbb);
  const { churnedLabels, retainedLabels } = trained;
  const counts: DataCounts = { ...countData(cells, [], horizonDays), churnedLabels, retainedLabels };
  const rungs = trained.rungs.map(({ rung }) => rung);
  const backtest = failure !== null && trained.backtest.folds === 0 ? null : trained.backtest;
  const chosen = chooseRung(counts, backtest, rungs, before, isDeclared(population.settings));
  const why = backtest === null && chosen.rung === null ? "there is no churn risk yet" : chosen.why;
  const choice = failure === null ? chosen : { ...chosen, why: `${why}; ${failure}` };
  return {
    model: servingModel(choice.rung, trained.rungs, fit.parameters, horizonDays),
    bgbb: { parameters: fit.parameters, isConverged: fit.isConverged, isAtBound: fit.isAtBound },
    choice,
    counts,
    trainedDay,
    backtest: trained.backtest,
    observedBaseRate: trained.observedBaseRate ?? null,
    noDeparturesFrom: trained.noDeparturesFrom ?? null,
    bandFailures: trained.bandFailures ?? 0,
    arms: trained.arms,
    scored: rows.reduce((sum, { scored }) => sum + scored, 0),
  };
}

/** The model that served on the last day before a training, under equal settings; null if no model served. */
async function incumbentBefore(
  warehouse: Warehouse,
  { id, settings }: ScoredOrganization,
  kind: EntityKind,
  trainedDay: number,
): Promise<Incumbent | null> {
  const run = await newestRecord(warehouse, { organization: id, kind, what: "run" }, trainedDay - 1);
  if (run === undefined || modelKey(run.body.settings, kind) !== modelKey(settings, kind)) return null;
  const incumbent = incumbentOf(run.body.choice, run.body.backtest);
  return incumbent && { ...incumbent, groups: groupsOfModel(run.body.model) };
}

/** A rung as it was trained, on today's fit of BG/BB. */
function servingModel(
  rung: Rung | null,
  trained: readonly ChurnModel[],
  bgbb: ChurnModel["bgbb"],
  horizonDays: number,
): ChurnModel | null {
  if (rung === null) return null;
  const found = trained.find((model) => model.rung === rung);
  if (found !== undefined) return { ...found, bgbb, isByDay: true };
  // Rung 1 needs no labels. On Monday there were too few entities for rung 1, and today there are enough.
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
  /** BG/BB as it was fitted to users while this run trained them, by day; the training of accounts reads it
   * again. */
  readonly userFits: Map<number, BgbbParameters>;
  readonly trainings: Trainings;
}

type Training = Omit<OfDay, "trainings"> &
  Required<Pick<ScoredOrganization, "eventsFromDay" | "readEntered">>;

interface Trained {
  readonly trained: TrainedRungs;
  readonly trainedDay: number;
  /** The message when this week's training failed, or has not begun; null otherwise. */
  readonly failure: string | null;
}

/** The model of `monday` if it was trained, else the model of `day`, which is trained if it is missing. */
async function trainedModel(
  warehouse: Warehouse,
  organization: ScoredOrganization,
  kind: EntityKind,
  { monday, isOfPast, ...ofDay }: OfDay & { readonly monday: number; readonly isOfPast: boolean },
  report: (step: string) => void,
): Promise<Trained> {
  const { day, trainings } = ofDay;
  const key = { organization: organization.id, kind, what: "model" } as const;
  const settings = modelKey(organization.settings, kind);
  const kept = await recordsOf(warehouse, key, [monday, day]);
  for (const trainedDay of [monday, day]) {
    const { stale = true, body } = kept.get(trainedDay) ?? {};
    const isOfSettings = body?.settingsKey === settings;
    if (!stale && isOfSettings && body.declaredOutages === declaredKey(organization, trainedDay)) {
      return { trained: body, trainedDay, failure: null };
    }
  }
  const declaredOutages = declaredKey(organization, day);
  const { eventsFromDay = null, readEntered } = organization;
  const { churnHorizonDays: horizonDays } = organization.settings;
  const trained = await trainings.attempt(
    { ...key, of: `${day} ${settings} ${declaredOutages}` },
    async () => {
      report("training and back-testing");
      const asOfThen = await withOutages(warehouse, organization, day);
      const training = { ...ofDay, eventsFromDay, readEntered };
      const before = await incumbentBefore(warehouse, organization, kind, day);
      const proven = before?.passed === true ? before : undefined;
      const earlier = await newestRecord(warehouse, key, day - 1);
      // Past days are scored the newest first, so there are no scores before them whose horizon is over.
      const realised = isOfPast ? [] : await realisedChurn(warehouse, organization, kind, day);
      const body = {
        ...(await train(warehouse, populationOf(asOfThen, kind), training, horizonDays, proven)),
        bandFailures: bandFailures(realised, earlier?.body.bandFailures ?? 0),
        settingsKey: settings,
        declaredOutages,
      };
      await keepRecord(warehouse, key, { day, version: (kept.get(day)?.version ?? 0) + 1, body });
      return body;
    },
  );
  if (trained !== undefined) return { trained, trainedDay: day, failure: null };
  const last = await newestRecord(warehouse, key, day);
  if (last?.body.settingsKey === settings) {
    const failure = `the model of ${formatDay(last.day)} serves, because training failed`;
    return { trained: last.body, trainedDay: last.day, failure };
  }
  return { trained: untrained(horizonDays), trainedDay: day, failure: "training failed" };
}

/** Rung 1 serves without a training. */
function untrained(horizonDays: number): TrainedRungs {
  return {
    rungs: [],
    churnedLabels: 0,
    retainedLabels: 0,
    bgbb: priorParameters,
    backtest: { horizonDays, folds: 0, results: [], isConverged: true },
  };
}

async function train(
  warehouse: Warehouse,
  population: Population,
  { day, firstDay, userFits, eventsFromDay, readEntered }: Training,
  horizonDays: number,
  kept?: Incumbent,
): Promise<TrainedRungs> {
  const { organization: id, kind } = population;
  const { outages = [], keyEvents } = population.settings;
  const stopped = await spansWithoutDepartures(warehouse, population, day);
  const lost = await daysWithUnknownChurn(warehouse, population, eventsFromDay);
  const unknown = [...outages, ...lost, ...stopped];
  const folds = foldsWithKnownOutcomes(planFolds(firstDay, day, horizonDays), horizonDays, unknown);
  const trainingDays = trainingDaysFor(day, firstDay, horizonDays).filter((cutoffDay) =>
    hasKnownOutcomes(cutoffDay, horizonDays, unknown),
  );
  const rateDays = isDeclared(population.settings) ? baseRateDays(firstDay, day, horizonDays, unknown) : [];
  const days = [
    ...trainingDays,
    ...folds.flatMap((fold) => [fold.cutoffDay, ...fold.trainingDays]),
    ...rateDays,
  ];
  const span = { fromDay: Math.min(day, ...days), day, horizonDays };
  const weights = await weightsOf({ id, readEntered }, kind, span);
  const snapshots = await readSnapshots(warehouse, population, days, {
    horizonDays,
    userFits,
    weights,
    trainingDays: [...trainingDays, ...folds.flatMap((fold) => fold.trainingDays)],
  });
  const at = (cutoffDay: number) => snapshotAt(snapshots, cutoffDay);
  const cells = await read<CellRow>(
    warehouse,
    cellsQuery(population, await snapshotFor(warehouse, population, day), horizonDays),
  );
  const counts = countData(cells, trainingDays.map(at).flatMap(allRows), horizonDays);
  const [newest] = trainingDays;
  const isByDeclaration = isDeclared(population.settings);
  const design = designFor(
    newest === undefined ? [] : at(newest).rows,
    keyEvents,
    isByDeclaration ? horizonDays : undefined,
  );
  const keptGroups = kept?.groups && otherGroups(design, kept.groups);
  const fits = new Map<Snapshot, FittedSnapshot>();
  const judged = await inSteps(
    backtestSteps(
      folds.map(
        (fold): Fold => ({
          scoring: at(fold.cutoffDay),
          training: fold.trainingDays.map(at),
          keyEvents,
          kept: kept?.rung,
          keptGroups,
        }),
      ),
      horizonDays,
      fits,
    ),
  );
  const fitted = await inSteps(fitSteps(trainingDays.map(at), horizonDays, fits));
  for (const [snapshot, { fit }] of fits) {
    const { cutoffDay, cells } = snapshot;
    if (population.kind === "user") userFits.set(cutoffDay, fit.parameters);
    if (snapshot.fit === undefined) await keepFit(warehouse, population, cutoffDay, { cells, fit });
  }
  const rows = fitted.flatMap((snapshot) => snapshot.rows);
  const bgbb = fitBgbb(cells).parameters;
  const churned: CountedLabels[] = [];
  const calibrationDays = isDeclared(population.settings) ? [] : calibrationDaysOf(trainingDays);
  for (const [index, { fit }] of fitted.entries()) {
    const cutoffDay = trainingDays[index] ?? day;
    if (!calibrationDays.includes(cutoffDay)) continue;
    churned.push(...(await churnedAt(warehouse, population, { day: cutoffDay, fit, horizonDays, weights })));
  }
  const input = { horizonDays, counts, bgbb, rows, design, churned, ridge: judged.ridge, kept: kept?.rung };
  return {
    rungs: await inSteps(trainRungSteps({ ...input, isDeclared: isByDeclaration })),
    churnedLabels: counts.churnedLabels,
    retainedLabels: counts.retainedLabels,
    bgbb,
    backtest: judged,
    arms: armsOf(trainingDays.map(at)),
    observedBaseRate: observedBaseRate(rateDays.map(at)),
    noDeparturesFrom: stopped.find(({ to }) => to === day)?.from ?? null,
  };
}

/** How many rows are of each arm; undefined where nobody was in an experiment. */
function armsOf(snapshots: readonly Snapshot[]): ArmRows | undefined {
  const found = snapshots.flatMap(({ arms }) => arms ?? []);
  const sum = (arm: keyof ArmRows) => found.reduce((all, own) => all + own[arm], 0);
  if (found.length === 0) return undefined;
  return { treated: sum("treated"), control: sum("control"), exempt: sum("exempt") };
}

/** The groups of a model that served; undefined when a new model has no others. */
function otherGroups(design: Design, groups: readonly FeatureGroup[]): readonly FeatureGroup[] | undefined {
  return columnsIn(design, groups).length === columnsOf(design).length ? undefined : groups;
}

/** The outcomes of entities that were churned on a day, by BG/BB's fit of then. */
async function churnedAt(
  warehouse: Warehouse,
  population: Population,
  {
    day,
    fit,
    horizonDays,
    weights,
  }: {
    readonly day: number;
    readonly fit: BgbbFit;
    readonly horizonDays: number;
    readonly weights: LabelWeights;
  },
): Promise<CountedLabels[]> {
  const snapshot = await snapshotFor(warehouse, population, day);
  const cells = await read<ChurnedCell>(warehouse, churnedQuery(population, snapshot, horizonDays, weights));
  const silence = silenceBy(horizonDays, fit.parameters);
  return cells.map(({ count, returned, idleDays, ...cell }) => ({
    logOdds: bgbbLogOdds(silence.on({ cell, idleDays })),
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
