/** All entities as of one day: the data to which models are fitted, and on which they are trained and
 * evaluated. */

import { silence } from "../../../contract/api/churn-targets.ts";
import { isCanceling, isMetByEnd } from "../scores/billing.ts";
import type { FeatureSettings, Features } from "../scores/features.ts";
import type { ScoredFeatures } from "../scores/state.ts";
import type { BgbbFit, CountedCell } from "./bgbb-fit.ts";
import type { Outcome } from "./departures.ts";
import { type ArmRows, repeated } from "./entered.ts";

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
  /** How many of the rows are of entities in experiments; left out where there are none. */
  readonly arms?: ArmRows | undefined;
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
  /** Of a control: how many rows it stands for. */
  readonly weight?: number | undefined;
}

/** The rows on which models are trained: with the churned rows beside a sample. */
export function allRows({ rows, beside }: Snapshot): SnapshotRow[] {
  return [...rows, ...(beside?.churned ?? [])];
}

/** The rows by which models are judged, and which make up base rates, controls as often as they weigh. An end
 * that is scheduled is known, and not predicted: models are trained with such rows, and not judged by
 * them. */
export function judgedRows({ rows }: Pick<Snapshot, "rows">): readonly SnapshotRow[] {
  return repeated(rows.filter(isJudged));
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
