/** GET /api/model: the card of the model that serves an organization. */

import { riskModels } from "../../contract/api/model-names.ts";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { advisedHorizon, usageIntervals } from "../analytics/usage-intervals.ts";
import { formatDay } from "../calendar/days.ts";
import type { AnalysisHandlers } from "../http/api/context.ts";
import { today, usersQuestion } from "../http/api/days.ts";
import type { ModelResult } from "../scoring/churn/backtest.ts";
import { failuresOf, lacksData, proofOf, servingResult } from "../scoring/churn/ladder.ts";
import { canServe, nameOfModel, nameOfRung } from "../scoring/churn/model-names.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { type RealisedChurn, realisedChurn } from "../scoring/run/realised.ts";
import { wilson } from "../scoring/statistics/wilson.ts";
import {
  baseRateOf,
  churnDefinitionOf,
  leadsWithRisk,
  type Run,
  scoreContext,
  settingsOf,
} from "./score-context.ts";

type Card = RouteAnswer<"GET /api/model">;

export const modelHandlers = {
  /** Which model serves, why, how good it was, and what the next one is waiting for. */
  "GET /api/model": async (context) => {
    const { warehouse, organization, zone, query } = context;
    const { kind } = query;
    const { run, head } = await scoreContext(context, kind);
    if (run === undefined) {
      const settings = await settingsOf(context, run);
      const { churnHorizonDays: horizonDays } = settings;
      return { kind, ...head, ...noCard, horizonDays, ...churnDefinitionOf(settings, kind) };
    }
    const { id, eventsFromDay } = organization;
    const of = { id, zone, eventsFromDay, readEntered: context.readEntered };
    const realised = await realisedChurn(warehouse, of, kind, run.day);
    const intervals = await usageIntervals(warehouse, await usersQuestion(context, today(context)));
    return {
      kind,
      ...head,
      ...cardOf(run, kind),
      advisedHorizonDays: advisedHorizon(intervals) ?? null,
      realised: realised.map(realisedAnswer),
    };
  },
} satisfies Partial<AnalysisHandlers>;

const noCard = {
  isCurrent: true,
  model: null,
  isProven: false,
  isProvisional: false,
  why: "no scores have been computed yet",
  advisedHorizonDays: null,
  trainedDay: null,
  baseRate: null,
  observedBaseRate: null,
  lacksData: true,
  leadsWithRisk: false,
  noDeparturesSince: null,
  scale: null,
  next: null,
  proof: null,
  trainedOn: null,
  parameters: null,
  isReturnCalibrated: false,
  isConverged: true,
  models: [],
  withCanceling: [],
  reliability: [],
  outages: [],
  realised: [],
};

function cardOf(
  run: Run,
  kind: EntityKind,
): Omit<Card, "kind" | "day" | "dataStoppedSince" | "advisedHorizonDays" | "realised"> {
  const { body, stale } = run;
  const {
    choice,
    settings,
    scale,
    scaleDay,
    trainedDay,
    backtest,
    bgbb,
    observedBaseRate,
    noDeparturesFrom,
  } = body;
  const { awaitsTraining = false } = body;
  const serving = servingResult(choice, backtest);
  const { entities, churnedLabels, retainedLabels } = body.counts;
  const { activeDays, volume, eventNames, halfLifeDays } = scale.scale;
  return {
    isCurrent: !stale || awaitsTraining,
    model: nameOfRung(choice.rung),
    why: choice.why,
    isProven: choice.isProven,
    isProvisional: choice.isProvisional,
    horizonDays: settings.churnHorizonDays,
    ...churnDefinitionOf(settings, kind),
    trainedDay: awaitsTraining ? null : formatDay(trainedDay),
    baseRate: baseRateOf(run),
    observedBaseRate: observedBaseRate == null ? null : { ...observedBaseRate },
    lacksData: lacksData(body),
    leadsWithRisk: leadsWithRisk(run),
    noDeparturesSince: noDeparturesFrom == null ? null : formatDay(noDeparturesFrom),
    scale: { measuredDay: formatDay(scaleDay), activeDays, volume, eventNames, halfLifeDays },
    next: choice.next === null ? null : nextAnswer(choice.next),
    proof: proofAnswer(body),
    trainedOn: { entities, churnedLabels, retainedLabels, controlGroups: body.arms ?? null },
    parameters: { ...bgbb.parameters },
    isReturnCalibrated: body.model?.churnedPlatt !== undefined,
    isConverged: bgbb.isConverged && backtest.isConverged,
    models: backtest.results.map((result) => modelAnswer(result, choice.isProven && result === serving)),
    withCanceling: backtest.results.flatMap(({ model, withCanceling }) =>
      withCanceling === undefined ? [] : [metricsAnswer({ model, ...withCanceling })],
    ),
    reliability: (serving?.metrics.reliability ?? []).map(({ interval, ...bin }) => ({
      ...bin,
      ...interval,
    })),
    outages: outagesOf(run),
  };
}

/** Outages within so many days before a run are shown. */
const shownOutageDays = 365;

function outagesOf({ day, body }: Run): Card["outages"] {
  const declared = JSON.parse(body.declaredOutages) as readonly {
    from: number;
    to: number;
  }[];
  return body.outages
    .filter(({ to }) => to > day - shownOutageDays)
    .map(({ from, to }) => ({
      from: formatDay(from),
      to: formatDay(to - 1),
      isDeclared: declared.some((span) => span.from <= from && span.to >= to),
    }))
    .reverse();
}

function proofAnswer({ backtest }: Run["body"]): Card["proof"] {
  const { cutoffs, rarerLabels } = proofOf(backtest);
  return { cutoffs: { ...cutoffs }, rarerLabels: { ...rarerLabels } };
}

function nextAnswer({ rung, missing, failures }: NonNullable<Run["body"]["choice"]["next"]>) {
  return { model: riskModels[rung], missing: missing.map((each) => ({ ...each })), failures: [...failures] };
}

function modelAnswer(result: ModelResult, isServing: boolean): Card["models"][number] {
  const { model, folds: cutoffs, recencyLogLoss } = result;
  const failures = canServe(model) ? failuresOf(result, isServing) : [];
  return { ...metricsAnswer(result), cutoffs, recencyLogLoss, failures };
}

/** The figures of a set of predictions of a model. */
type MetricsOfModel = Pick<ModelResult, "model"> & NonNullable<ModelResult["withCanceling"]>;

function metricsAnswer({
  model,
  metrics,
  departures,
  involuntary,
}: MetricsOfModel): Card["withCanceling"][number] {
  const { count, baseRate, auc, logLoss, brier, brierSkill, ece, eceFloor } = metrics;
  const { calibrationSlope, calibrationIntercept, calibrationSlopeError, biasError, topDecileLift } = metrics;
  return {
    model: nameOfModel(model),
    count,
    departures,
    involuntaryDepartures: involuntary,
    baseRate,
    auc,
    logLoss,
    brier,
    brierSkill,
    calibrationError: ece,
    calibrationErrorOfPerfection: eceFloor,
    calibrationSlope,
    calibrationIntercept,
    calibrationSlopeError,
    biasError,
    topDecileLift,
  };
}

function realisedAnswer({
  healthBand,
  count,
  churned,
  involuntary,
}: RealisedChurn): Card["realised"][number] {
  return { healthBand, count, churned, involuntary, rate: churned / count, ...wilson(churned, count) };
}
