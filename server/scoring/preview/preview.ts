/**
 * The effect of a change of score settings before it is saved: how many entities change their bands, and
 * whether the scores would have predicted better. No score and no model is stored.
 */
import type { Settings } from "../../../contract/settings.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { ModelResult } from "../churn/backtest.ts";
import type { BgbbParameters } from "../churn/bgbb.ts";
import { entropyOf, provenBaseRate, servingResult } from "../churn/ladder.ts";
import { cellRisks } from "../queries/cell-table.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import type { Query } from "../queries/query.ts";
import { snapshotFor } from "../queries/stored-snapshots.ts";
import { rowsOf } from "../run/entity.ts";
import { memberRisksOf } from "../run/member-risks.ts";
import { modelUnder, type ServingModel } from "../run/model.ts";
import { firstDayOf, populationOf, type ScoredOrganization, withOutages } from "../run/population.ts";
import type { RunBody } from "../run/record-bodies.ts";
import type { ScoreRecord } from "../run/records.ts";
import { newestRun } from "../run/status.ts";
import { riskScaleOf } from "../scores/risk-scale.ts";
import { modelKey } from "../scores/settings.ts";
import { type DefinitionPreview, previewDefinition } from "./definition.ts";
import { type BandMove, bandMoves, newScoresUnder, storedScoresUnder } from "./moves.ts";
import { type PastHealth, pastHealth } from "./past-health.ts";

interface ProofMetrics extends Pick<ModelResult["metrics"], "auc" | "logLoss" | "baseRate" | "count"> {
  /** 1 − the log loss / that of always saying the base rate: horizons have other base rates. */
  readonly skill: number | null;
}

/** A back-test of the churn risk by one horizon. */
export interface HorizonProof {
  readonly horizonDays: number;
  /** Null when there is too little data for a model. */
  readonly metrics: ProofMetrics | null;
  readonly departures: number;
  readonly cutoffs: number;
}

/** The effect of a change on users, or on accounts. */
export interface KindPreview {
  readonly kind: EntityKind;
  /** The day of the scores that are compared; null before the first. */
  readonly day: number | null;
  readonly moves: readonly BandMove[];
  /** When parts of health or their weights change. */
  readonly health: PastHealth | null;
  /** When the target changes, or the days of silence. */
  readonly definition: DefinitionPreview | null;
  /** When the horizon changes: by the old horizon and by the new one. */
  readonly horizons: { readonly before: HorizonProof; readonly after: HorizonProof } | null;
}

export interface PreviewQuestion {
  readonly organization: Omit<ScoredOrganization, "settings">;
  /** Today. */
  readonly day: number;
  /** The settings before and after the change, as runs apply them. */
  readonly before: Settings;
  readonly after: Settings;
}

/** Settings whose effect on bands a preview does not count. */
export const uncountedSettings = ["churnTargets", "passiveEvents", "eventWeights", "keyEvents"] as const;

/** The effect on users and on accounts. Another horizon stores missing snapshots of features. */
export async function previewSettings(
  warehouse: Warehouse,
  question: PreviewQuestion,
): Promise<KindPreview[]> {
  const { before } = question;
  const targets = question.after.churnTargets;
  const uncounted = Object.fromEntries(uncountedSettings.map((name) => [name, before[name]]));
  const fitted: FittedQuestion = {
    ...question,
    targets,
    after: { ...question.after, ...uncounted },
    userFits: new Map(),
  };
  return [await previewKind(warehouse, fitted, "user"), await previewKind(warehouse, fitted, "account")];
}

/** A question, and the fits of BG/BB to users by day, which do not depend on the horizon. */
interface FittedQuestion extends PreviewQuestion {
  /** The churn targets after the change. `after` keeps the old targets, whose bands are stored. */
  readonly targets: Settings["churnTargets"];
  readonly userFits: Map<number, BgbbParameters>;
}

async function previewKind(
  warehouse: Warehouse,
  question: FittedQuestion,
  kind: EntityKind,
): Promise<KindPreview> {
  const { organization, day, before, after } = question;
  const run = await newestRun(warehouse, organization.id, kind, day);
  if (run === undefined)
    return { kind, day: null, moves: [], health: null, definition: null, horizons: null };
  const isOtherHorizon = before.churnHorizonDays !== after.churnHorizonDays;
  // The model of the run is of other settings if settings were saved since.
  const isOfRun = modelKey(run.body.settings, kind) === modelKey(before, kind);
  const [oldModel, newModel] = isOtherHorizon
    ? [
        isOfRun ? run.body : await modelOf(warehouse, question, kind, run, before),
        await modelOf(warehouse, question, kind, run, after),
      ]
    : [undefined, undefined];
  const scores =
    newModel === undefined
      ? storedUnder(question, kind, run)
      : await scoredUnder(warehouse, question, kind, run, newModel);
  const isOtherHealth = healthOf(before) !== healthOf(after);
  return {
    kind,
    day: run.day,
    moves: await bandMoves(warehouse, rowsOf(organization.id, kind, run), run.body.riskScale, scores),
    health: isOtherHealth ? await pastHealth(warehouse, organization, kind, day, { before, after }) : null,
    definition: await definitionOf(warehouse, question, kind, run),
    horizons:
      oldModel === undefined || newModel === undefined
        ? null
        : {
            before: proofOf(oldModel, before.churnHorizonDays),
            after: proofOf(newModel, after.churnHorizonDays),
          },
  };
}

type Run = ScoreRecord<RunBody>;

/** Null while the definition of churn stays. */
async function definitionOf(
  warehouse: Warehouse,
  { organization, before, after, targets }: FittedQuestion,
  kind: EntityKind,
  run: Run,
): Promise<DefinitionPreview | null> {
  const isSame = JSON.stringify(before.churnTargets[kind]) === JSON.stringify(targets[kind]);
  if (isSame && before.churnHorizonDays === after.churnHorizonDays) return null;
  const { outages } = run.body;
  const definitionBy = (settings: Settings) => ({
    population: populationOf({ ...organization, settings, outages }, kind),
    horizonDays: settings.churnHorizonDays,
  });
  const ofRun = rowsOf(organization.id, kind, run);
  return previewDefinition(
    warehouse,
    ofRun,
    definitionBy(before),
    definitionBy({ ...after, churnTargets: targets }),
  );
}

function healthOf({ healthWeights, healthTraits }: Settings): string {
  return JSON.stringify([healthWeights, healthTraits]);
}

/** The scores of the run by the new parts of health and the new bands. */
function storedUnder({ organization, after }: PreviewQuestion, kind: EntityKind, run: Run): Query {
  const population = populationOf({ ...organization, settings: after }, kind);
  const riskScale = riskScaleOf(provenBaseRate(run.body), after.riskBands[kind]);
  const { healthWeights, healthTraits } = after;
  return storedScoresUnder(population, rowsOf(organization.id, kind, run), {
    healthWeights,
    healthTraits,
    riskScale,
    scale: run.body.scale.scale,
    horizonDays: after.churnHorizonDays,
  });
}

async function modelOf(
  warehouse: Warehouse,
  { organization, userFits }: FittedQuestion,
  kind: EntityKind,
  run: Run,
  settings: Settings,
): Promise<ServingModel> {
  const firstDay = (await firstDayOf(warehouse, organization.id, run.day)) ?? run.day;
  const { day } = run;
  const about = { day, firstDay, userFits, trainedDay: run.body.trainedDay };
  return modelUnder(warehouse, { ...organization, settings }, kind, about);
}

/** The scores of the run's day by the new settings and a model for the new horizon. */
async function scoredUnder(
  warehouse: Warehouse,
  { organization, after }: PreviewQuestion,
  kind: EntityKind,
  run: Run,
  { model, bgbb, choice, backtest }: ServingModel,
): Promise<Query> {
  const asOf = await withOutages(warehouse, { ...organization, settings: after }, run.day);
  const horizonDays = after.churnHorizonDays;
  const { healthWeights, healthTraits } = after;
  const users = kind === "account" ? await newestRun(warehouse, organization.id, "user", run.day) : undefined;
  const population = populationOf(asOf, kind);
  const snapshot = await snapshotFor(warehouse, population, run.day);
  return newScoresUnder(population, {
    snapshot,
    horizonDays,
    healthWeights,
    healthTraits,
    model,
    scale: run.body.scale.scale,
    riskScale: riskScaleOf(provenBaseRate({ choice, backtest }), after.riskBands[kind]),
    cells: cellRisks(model?.bgbb ?? bgbb.parameters, horizonDays),
    ...(users !== undefined && { memberRisks: memberRisksOf(users.body, horizonDays) }),
  });
}

function proofOf(
  { choice, backtest }: Pick<ServingModel, "choice" | "backtest">,
  horizonDays: number,
): HorizonProof {
  const result = servingResult(choice, backtest);
  if (result === undefined) return { horizonDays, metrics: null, departures: 0, cutoffs: backtest.folds };
  const { auc, logLoss, baseRate, count } = result.metrics;
  const entropy = entropyOf(baseRate);
  return {
    horizonDays,
    metrics: { auc, logLoss, baseRate, count, skill: entropy === 0 ? null : 1 - logLoss / entropy },
    departures: result.departures,
    cutoffs: result.folds,
  };
}
