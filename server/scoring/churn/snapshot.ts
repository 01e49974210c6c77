/** All entities as of one day, from their logs: the data to which models are fitted, and on which they are trained
 * and evaluated. */

import { type DayEvent, type FeatureSettings, type Features, featuresOf } from "../scores/features.ts";
import { isScored, type ScoredFeatures } from "../scores/state.ts";
import type { CountedCell } from "./bgbb-fit.ts";
import type { Outcome } from "./departures.ts";

/** With traits, accounts and settings as they were on that day. */
export interface Snapshot {
  readonly cutoffDay: number;
  /** All entities seen in the window of 26 weeks, silent ones included. */
  readonly cells: readonly CountedCell[];
  /** Active and new entities with their outcomes. */
  readonly rows: readonly SnapshotRow[];
}

export interface SnapshotRow extends Outcome {
  readonly features: ScoredFeatures;
  /** By `clusterOf`. */
  readonly cluster: number;
}

/** Outcomes that may be alike have the same number: those of a user's account, or else those of an entity.
 * @param account null or 0 without one */
export function clusterOf(entity: number, account: number | null = null): number {
  return account === null || account === 0 ? -entity : account;
}

export interface EntityLog {
  /** In the order of days. */
  readonly log: readonly DayEvent[];
  /** Of a user. */
  readonly account?: number;
  /** Of the snapshot's day. */
  readonly traits?: Features["traits"];
  readonly members?: Features["members"];
}

/** The reference for the warehouse's result; an entity's number is its place. Labels are right if the logs are complete before day + horizon. */
export function snapshotOf(
  entities: readonly EntityLog[],
  cutoffDay: number,
  horizonDays: number,
  settings: FeatureSettings = {},
): Snapshot {
  const cells = new Map<string, CountedCell>();
  const rows: SnapshotRow[] = [];
  for (const [index, { log, account, traits = {}, members = null }] of entities.entries()) {
    const features = featuresOf(log, cutoffDay, settings, { traits, members });
    if (features === null || features.cell === null) continue;
    const { x, t, n } = features.cell;
    const key = `${x} ${t} ${n}`;
    cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
    if (isScored(features, horizonDays)) {
      const entity = index + 1;
      const label = hasChurned(log, cutoffDay, horizonDays, settings);
      rows.push({ features, label, entity, cutoffDay, cluster: clusterOf(entity, account) });
    }
  }
  return { cutoffDay, cells: [...cells.values()], rows };
}

/**
 * The label of churn risk: no engagement event in [T, T+H), or the churn event in it without an engagement event on a
 * later day of it.
 */
function hasChurned(
  log: readonly DayEvent[],
  cutoffDay: number,
  horizonDays: number,
  settings: FeatureSettings,
): boolean {
  const horizon = log.filter(({ day }) => day >= cutoffDay && day < cutoffDay + horizonDays);
  const then = featuresOf(horizon, cutoffDay + horizonDays, settings);
  return then === null || then.hasLeft;
}
