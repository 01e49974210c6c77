/** The beginning of all answers about scores. */

import { churnMeans } from "../../contract/api/churn-targets.ts";
import type { Settings } from "../../contract/settings.ts";
import { formatDay } from "../calendar/days.ts";
import { msPerDay } from "../calendar/zone.ts";
import type { OrganizationContext } from "../http/api/context.ts";
import { dayOfParameter } from "../http/api/days.ts";
import type { ActivityOrder } from "../scoring/churn/activity-order.ts";
import { provenBaseRate, servingResult } from "../scoring/churn/ladder.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { type OfRun, orderByActivity } from "../scoring/queries/lists/reading.ts";
import { rowsOf } from "../scoring/run/entity.ts";
import type { RunBody } from "../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../scoring/run/records.ts";
import { newestRun } from "../scoring/run/status.ts";
import { riskLeads } from "../scoring/scores/band-separation.ts";
import { absoluteRiskScale, type RiskScale, riskScaleOf } from "../scoring/scores/risk-scale.ts";

/** The part of a handler's context that scores need. */
export type RunContext = Pick<
  OrganizationContext,
  "warehouse" | "organization" | "zone" | "nowMs" | "sources"
>;
/** A run of users or accounts. */
export type Run = ScoreRecord<RunBody>;

export interface ScoreContext {
  /** The newest run; undefined before the first. */
  readonly run: Run | undefined;
  readonly head: { readonly day: string | null; readonly dataStoppedSince: string | null };
}

/** The newest run of users or accounts, and whether data flows. */
export async function scoreContext(context: RunContext, kind: EntityKind): Promise<ScoreContext> {
  const { warehouse, organization, zone, nowMs, sources } = context;
  const today = zone.dayOf(nowMs());
  const run = await newestRun(warehouse, organization.id, kind, today);
  const stopped = await sources.stoppedFor({ id: organization.id, zone }, today);
  return {
    run,
    head: {
      day: run === undefined ? null : formatDay(run.day),
      dataStoppedSince: stopped === null ? null : formatDay(zone.dayOf(stopped.sinceMs)),
    },
  };
}

/** The newest run as of a day or before, and before the newest of all. */
export async function earlierRun(
  { warehouse, organization }: RunContext,
  kind: EntityKind,
  newest: Run,
  sinceDay: number,
): Promise<Run | undefined> {
  return newestRun(warehouse, organization.id, kind, Math.min(sinceDay, newest.day - 1));
}

/** Where the scores of accounts are, as of a day; undefined before the first run. */
export async function accountsRun(
  { warehouse, organization }: Pick<RunContext, "warehouse" | "organization">,
  day: number,
): Promise<OfRun | undefined> {
  const run = await newestRun(warehouse, organization.id, "account", day);
  return run && rowsOf(organization.id, "account", run);
}

/** The order by activity of a run without a model; undefined where one serves. */
export async function activityOrderOfRun(
  { warehouse, organization }: Pick<RunContext, "warehouse" | "organization">,
  kind: EntityKind,
  run: Run,
): Promise<ActivityOrder | undefined> {
  return run.body.model === null ? orderByActivity(warehouse, rowsOf(organization.id, kind, run)) : undefined;
}

/** The end of the horizon of a run's churn risks, if they are those of losing the subscription; null
 * otherwise.
 * @param run undefined before the first */
export function lossUntilMs(run: Run | undefined, kind: EntityKind, nowMs: number): number | null {
  if (run?.body.settings.churnTargets[kind].by !== "subscription") return null;
  return nowMs + run.body.settings.churnHorizonDays * msPerDay;
}

/** The calibration of the model that serves, in its back-test; null without one. */
export function calibrationOf({ choice, backtest }: Pick<RunBody, "choice" | "backtest">) {
  const metrics = servingResult(choice, backtest)?.metrics;
  const {
    calibrationSlope: slope,
    calibrationIntercept: intercept,
    calibrationCovariance: covariance,
  } = metrics ?? {};
  const isKnown = slope != null && intercept != null && covariance != null;
  return isKnown ? { slope, intercept, covariance } : null;
}

/** The limits of churn risks of a run. @param run undefined before the first */
export function riskScaleOfRun(run: Run | undefined): RiskScale {
  return run?.body.riskScale ?? absoluteRiskScale;
}

/** The limits that an answer has. */
export function limitsOf(run: Run) {
  const { medium, high, cap } = run.body.riskScale;
  const byBaseRate = riskScaleOf(provenBaseRate(run.body));
  return { medium, high, cap, byBaseRate: { medium: byBaseRate.medium, high: byBaseRate.high } };
}

/** The settings of a run, or, before the first, those of now. */
export async function settingsOf(
  { ledger, organization }: Pick<OrganizationContext, "ledger" | "organization">,
  run: Run | undefined,
): Promise<Settings> {
  return run?.body.settings ?? (await ledger.settings.get(organization.id)).settings;
}

/** The meaning of churn under these settings. */
export function churnDefinitionOf({ churnTargets, churnHorizonDays }: Settings, kind: EntityKind) {
  const churnTarget = churnTargets[kind];
  return { churnTarget, churnMeans: churnMeans(churnTarget, churnHorizonDays) };
}

/** Whether lists and cards lead with churn risk, because health bands do not separate. @param run undefined
 * before the first */
export function leadsWithRisk(run: Run | undefined): boolean {
  return run !== undefined && run.body.model !== null && riskLeads(run.body.bandFailures);
}

/** The share that churned in the back-test; null without one. */
export function baseRateOf({ body }: Run): number | null {
  return body.backtest.results.find(({ model }) => model === "recency")?.metrics.baseRate ?? null;
}

interface BothRuns {
  /** Undefined before the first run. */
  readonly runs:
    | {
        readonly run: OfRun;
        readonly earlier: OfRun | undefined;
        readonly activityOrder: ActivityOrder | undefined;
      }
    | undefined;
  readonly newest: ScoreContext["run"];
  readonly head: ScoreContext["head"] & {
    readonly sinceDay: string | null;
    readonly rulesChanged: boolean;
  };
}

/** The newest run, and the one that its changes are told against. @throws ApiError when `since` is no date */
export async function bothRuns(
  context: RunContext,
  kind: EntityKind,
  since: string | undefined,
  defaultDays: number,
): Promise<BothRuns> {
  const asked = since === undefined ? undefined : dayOfParameter("since", since);
  const { run, head } = await scoreContext(context, kind);
  if (run === undefined) {
    return { runs: undefined, newest: run, head: { ...head, sinceDay: null, rulesChanged: false } };
  }
  const earlier = await earlierRun(context, kind, run, asked ?? run.day - defaultDays);
  const { id } = context.organization;
  return {
    runs: {
      run: rowsOf(id, kind, run),
      earlier: earlier && rowsOf(id, kind, earlier),
      activityOrder: await activityOrderOfRun(context, kind, run),
    },
    newest: run,
    head: {
      ...head,
      sinceDay: earlier === undefined ? null : formatDay(earlier.day),
      rulesChanged: earlier !== undefined && earlier.body.settingsKey !== run.body.settingsKey,
    },
  };
}
