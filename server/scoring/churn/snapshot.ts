/** All entities as of one day, from their logs: the data to which models are fitted, and on which they are
 * trained and evaluated. */

import { silence } from "../../../contract/api/churn-targets.ts";
import { isCanceling, isMetByEnd, type Standing } from "../scores/billing.ts";
import { type ChurnChange, type DaySpan, hasLeftBy, wasUnseen } from "../scores/churn-changes.ts";
import {
  type DayEvent,
  type FeatureSettings,
  type Features,
  featuresOf,
  isDeclared,
} from "../scores/features.ts";
import { isScored, type ScoredFeatures } from "../scores/state.ts";
import type { BgbbFit, CountedCell } from "./bgbb-fit.ts";
import type { Outcome } from "./departures.ts";

/** All entities as of a day, with traits, accounts and settings as they were on that day. */
export interface Snapshot {
  readonly cutoffDay: number;
  /** Whether outcomes are of a declared churn target, and not of silence. */
  readonly isDeclared?: boolean;
  /** All entities seen in the window of 26 weeks, silent ones included. */
  readonly cells: readonly CountedCell[];
  /** BG/BB as it was fitted to the cells before. */
  readonly fit?: BgbbFit | undefined;
  /** Entities with a churn risk, and their outcomes. A sample, if there are too many. */
  readonly rows: readonly SnapshotRow[];
  /** More rows than the sample has, if `rows` are a sample. */
  readonly beside?: BesideSample;
}

/** More rows than a sample has, for training alone. Models are judged by the sample. */
export interface BesideSample {
  /** More churned entities. */
  readonly churned: readonly SnapshotRow[];
  /** How many entities a churned row stands for, in the sample and beside it: the inverse of the sampling
   * rate. */
  readonly churnedWeight: number;
  readonly retainedWeight: number;
}

export interface SnapshotRow extends Outcome {
  readonly features: ScoredFeatures;
  /** By `clusterOf`. */
  readonly cluster: number;
  /** Whether its end is scheduled, with a target that is met by this end. */
  readonly isCanceling: boolean;
}

/** The rows on which models are trained: with the churned rows beside a sample. */
export function allRows({ rows, beside }: Snapshot): SnapshotRow[] {
  return [...rows, ...(beside?.churned ?? [])];
}

/** The rows by which models are judged, and which make up base rates. An end that is scheduled is known, and
 * not predicted: models are trained with such rows, and not judged by them. */
export function judgedRows({ rows }: Pick<Snapshot, "rows">): SnapshotRow[] {
  return rows.filter(isJudged);
}

/** Whether models are judged by a row. */
export function isJudged({ isCanceling }: Pick<SnapshotRow, "isCanceling">): boolean {
  return !isCanceling;
}

/** `isCanceling` of a row. */
export function isCancelingRow(
  { billing }: Pick<Features, "billing">,
  { target = silence }: Pick<FeatureSettings, "target">,
): boolean {
  return isMetByEnd(target) && isCanceling(billing);
}

/** The cluster of a row: outcomes within a cluster may be alike. Users of one account are a cluster; others
 * are their own. @param account null or 0 without an account */
export function clusterOf(entity: number, account: number | null = null): number {
  return account === null || account === 0 ? -entity : account;
}

export interface EntityLog {
  /** In the order of days. */
  readonly log: readonly DayEvent[];
  /** Of a user. */
  readonly account?: number;
  /** Of the snapshot's day. `ownAccount` is that of a user. */
  readonly traits?: Features["traits"];
  readonly numbers?: Features["numbers"];
  readonly planIdleDays?: Features["planIdleDays"];
  readonly ownAccount?: Features["account"];
  readonly members?: Features["members"];
  /** Of the declared churn target, in any order. */
  readonly changes?: readonly ChurnChange[];
  /** By the entity's subscriptions, at the start of a day. */
  readonly standingOn?: (day: number) => Standing;
}

/** The reference for the warehouse's result; an entity's number is its place. Labels are right if the logs
 * are complete before day + horizon. */
export function snapshotOf(
  entities: readonly EntityLog[],
  cutoffDay: number,
  horizonDays: number,
  settings: FeatureSettings = {},
): Snapshot {
  const cells = new Map<string, CountedCell>();
  const rows: SnapshotRow[] = [];
  const { target = silence } = settings;
  const horizon = { from: cutoffDay, to: cutoffDay + horizonDays };
  for (const [index, entity] of entities.entries()) {
    const { log, account, changes = [], ownAccount = null, standingOn, ...facts } = entity;
    const hasLeftOn = (day: number) =>
      target.by === "subscription" ? (standingOn?.(day).left ?? null) !== null : hasLeftBy(changes, day);
    const features = featuresOf(log, cutoffDay, settings, {
      ...facts,
      hasLeft: hasLeftOn(cutoffDay),
      account: ownAccount,
      billing: standingOn?.(cutoffDay).billing ?? null,
    });
    if (features === null || features.cell === null) continue;
    const { x, t, n } = features.cell;
    const key = `${x} ${t} ${n}`;
    cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
    if (isScored(features, horizonDays, target) && !wasUnseen(target, changes, horizon)) {
      const number = index + 1;
      const label = target.by === "silence" ? isSilent(log, horizon, settings) : hasLeftOn(horizon.to);
      const isUnpaid = target.by === "subscription" && standingOn?.(horizon.to).left?.isInvoluntary === true;
      const cluster = clusterOf(number, account);
      const isEnding = isCancelingRow(features, settings);
      rows.push({
        features,
        label,
        entity: number,
        cutoffDay,
        cluster,
        isCanceling: isEnding,
        isInvoluntary: label && isUnpaid,
      });
    }
  }
  return { cutoffDay, isDeclared: isDeclared(settings), cells: [...cells.values()], rows };
}

/** Whether the entity has no engagement event in these days. */
function isSilent(log: readonly DayEvent[], { from, to }: DaySpan, settings: FeatureSettings): boolean {
  const within = log.filter(({ day }) => day >= from && day < to);
  return featuresOf(within, to, settings) === null;
}
