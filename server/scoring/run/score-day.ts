/**
 * The run: scores all users, then all accounts, of one organization as of one day. All of it may be repeated:
 * a run that was cut off has no record, and the next run's rows replace its rows.
 */
import type { Settings } from "../../../contract/settings.ts";
import { versionAbove } from "../../process/time.ts";
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";
import type { BgbbParameters } from "../churn/bgbb.ts";
import type { Rung } from "../churn/churn-model.ts";
import { provenBaseRate } from "../churn/ladder.ts";
import { cellRisks } from "../queries/cell-table.ts";
import type { EntityKind } from "../queries/engagement-events.ts";
import { scoringLimits } from "../queries/query.ts";
import { insertScoresQuery } from "../queries/score-query.ts";
import { snapshotFor } from "../queries/stored-snapshots.ts";
import { riskScaleOf } from "../scores/risk-scale.ts";
import { settingsKey } from "../scores/settings.ts";
import { memberRisksOf } from "./member-risks.ts";
import { modelFor, type OfDay } from "./model.ts";
import {
  declaredKey,
  firstDayOf,
  populationOf,
  runKey,
  type ScoredOrganization,
  withOutages,
} from "./population.ts";
import type { RunBody } from "./record-bodies.ts";
import { keepRecord, recordOf, type ScoreRecord } from "./records.ts";
import { type ScaleOfDay, scaleFor } from "./scale.ts";
import { storeShifts } from "./shifts.ts";
import { Trainings } from "./trainings.ts";

export interface DayRequest {
  readonly organization: ScoredOrganization;
  /** T: only events before it count. */
  readonly day: number;
  readonly report: (step: string) => void;
  readonly nowMs: () => number;
  /** Left out by callers that remember no failures. */
  readonly trainings?: Trainings;
  /** Scores without training a model. The day stays due. */
  readonly beforeTraining?: boolean;
  /** Whether the day is of the past: then its model may be up to four weeks older. */
  readonly isOfPast?: boolean;
  /** Whether the run's data has grown so much since it began that its scores would be false. Asked before
   * they are stored. */
  readonly isOvertaken?: () => Promise<boolean>;
}

/** Ends a run that its data has overtaken. Nothing of it is shown. */
export class Overtaken extends Error {
  constructor() {
    super("events of earlier days arrived while they were scored");
  }
}

export interface KindSummary {
  readonly kind: EntityKind;
  /** How many entities have scores. */
  readonly entities: number;
  readonly rung: Rung | null;
  readonly tookMs: number;
}

/** Scores all entities as of a day; none when there is no event before it. @throws Overtaken */
export async function scoreDay(warehouse: Warehouse, request: DayRequest): Promise<KindSummary[]> {
  const { day } = request;
  const organization = await withOutages(warehouse, request.organization, day);
  const firstDay = await firstDayOf(warehouse, organization.id, day);
  if (firstDay === undefined) return [];
  request.report("measuring");
  const scale = await scaleFor(warehouse, organization, day, firstDay);
  const ofDay = { ...request, organization };
  const about = { firstDay, scale, userFits: new Map<number, BgbbParameters>() };
  const users = await scoreKind(warehouse, ofDay, { kind: "user", ...about });
  const accounts = await scoreKind(warehouse, ofDay, { kind: "account", ...about, users });
  return [summaryOf("user", users), summaryOf("account", accounts)];
}

function summaryOf(kind: EntityKind, { body }: { readonly body: RunBody }): KindSummary {
  return { kind, entities: body.entities, rung: body.choice.rung, tookMs: body.tookMs };
}

type Run = Omit<ScoreRecord<RunBody>, "stale">;

interface KindRequest {
  readonly kind: EntityKind;
  readonly firstDay: number;
  readonly scale: ScaleOfDay;
  readonly userFits: OfDay["userFits"];
  /** The run of the users, which accounts need. */
  readonly users?: Run;
}

async function scoreKind(
  warehouse: Warehouse,
  request: DayRequest,
  { kind, firstDay, scale, userFits, users }: KindRequest,
): Promise<Run> {
  const startedMs = performance.now();
  const { organization, day, report, nowMs, trainings = new Trainings(nowMs) } = request;
  const { beforeTraining = false, isOfPast = false, isOvertaken } = request;
  const { settings, id, outages = [] } = organization;
  const { churnHorizonDays: horizonDays, healthWeights, healthTraits } = settings;
  const say = (step: string) => report(`${kind}s: ${step}`);
  const population = populationOf(organization, kind);
  say("computing features");
  const snapshot = await snapshotFor(warehouse, population, day);
  const serving = await modelFor(
    warehouse,
    organization,
    kind,
    { snapshot, firstDay, userFits, trainings, beforeTraining, isOfPast },
    say,
  );
  const { model, scored, ...rest } = serving;
  const riskScale = riskScaleOf(provenBaseRate(serving), settings.riskBands[kind]);
  say("scoring");
  const key = { organization: id, kind, what: "run" } as const;
  const before = await recordOf(warehouse, key, day);
  // Above every row of a run that was cut off, and above a mark that the last run is stale.
  const version = versionAbove(before?.version ?? 0);
  const insert = insertScoresQuery(population, {
    snapshot,
    version,
    horizonDays,
    healthWeights,
    healthTraits,
    riskScale,
    model,
    scale: scale.scale.scale,
    cells: cellRisks(model?.bgbb ?? serving.bgbb.parameters, horizonDays),
    ...(users !== undefined && { memberRisks: memberRisksOf(users.body, horizonDays) }),
  });
  if (await isOvertaken?.()) throw new Overtaken();
  await warehouse.command(insert.sql, insert.parameters, scoringLimits);
  const body: RunBody = {
    rowsVersion: version,
    settings,
    settingsKey: runKey(organization),
    outages,
    ...scale,
    model,
    ...rest,
    riskScale,
    scored,
    declaredOutages: declaredKey(organization, day),
    ...(beforeTraining && { awaitsTraining: true }),
    entities: await countScores(warehouse, id, kind, day, version),
    firstPublishedAtMs: firstPublishedAtMs(before?.body, settings) ?? nowMs(),
    finishedAtMs: nowMs(),
    tookMs: Math.round(performance.now() - startedMs),
  };
  await storeShifts(warehouse, organization, kind, { day, body });
  await keepRecord(warehouse, key, { day, version, stale: beforeTraining, body });
  return { day, version, body };
}

/** When the scores of before were first shown, if the settings are the same. */
function firstPublishedAtMs(before: RunBody | undefined, settings: Settings): number | undefined {
  return before !== undefined && settingsKey(before.settings) === settingsKey(settings)
    ? before.firstPublishedAtMs
    : undefined;
}

async function countScores(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  day: number,
  version: number,
): Promise<number> {
  const [row] = await warehouse.rows<{ entities: number }>(
    `SELECT count() AS entities FROM ${kind}_scores
     WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})
       AND version = {version:UInt64}`,
    { organization, day, version },
  );
  return row?.entities ?? 0;
}
