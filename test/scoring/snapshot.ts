/** All entities as of one day, from their logs: what `server/scoring/queries/snapshots.ts` is compared
 * with. */
import { silence } from "../../contract/api/churn-targets.ts";
import type { CountedCell } from "../../server/scoring/churn/bgbb-fit.ts";
import {
  clusterOf,
  isCancelingRow,
  type Snapshot,
  type SnapshotRow,
} from "../../server/scoring/churn/snapshot.ts";
import type { ChurnChange, DaySpan } from "../../server/scoring/scores/churn-changes.ts";
import { type FeatureSettings, type Features, isDeclared } from "../../server/scoring/scores/features.ts";
import { isScored } from "../../server/scoring/scores/state.ts";
import { hasLeftBy, wasUnseen } from "./churn-changes.ts";
import { type DayEvent, featuresOf } from "./features.ts";
import type { Standing } from "./standing.ts";

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

/** The snapshot of a day; an entity's number is its place. Labels are right if the logs are complete before
 * day + horizon. */
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
