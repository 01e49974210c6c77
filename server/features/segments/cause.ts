/** When a segment is evaluated, and why its members changed. Pure. */

import { ownerTrait } from "../../../contract/notes-and-tasks.ts";
import type { SegmentCause } from "../../../contract/segments/segments.ts";
import type { ErasedAccounts } from "../../ledger/erasures.ts";
import type { Segment } from "../../ledger/rules/segment-rules.ts";
import { clocksDifferMs } from "../../scoring/run/changed-days.ts";
import type { Evaluation, EvaluationGround } from "./evaluations.ts";
import type { Touched } from "./touched.ts";

/** The time from the end of an evaluation of a segment to the next evaluation for new data. */
const betweenMs = 15 * 60_000;

/** What decides, beside the ground of an evaluation, whether a segment is due. */
export interface Moment {
  readonly nowMs: number;
  /** Whether data has stopped, so that scores wait: then only edits are evaluated. */
  readonly isStopped: boolean;
  /** Whether events or people may have been loaded since the last evaluation. */
  readonly hasNewData: boolean;
}

/** Whether a segment is to be evaluated.
 * @param last its last evaluation; undefined before the first */
export function isDue(
  last: Evaluation | undefined,
  now: Omit<EvaluationGround, "loadedUptoMs">,
  moment: Moment,
): boolean {
  if (last === undefined || last.content !== now.content) return true;
  if (moment.isStopped) return false;
  if (last.day !== now.day || last.scoredDay !== now.scoredDay) return true;
  const hasNews =
    moment.hasNewData ||
    last.scoredAtMs !== now.scoredAtMs ||
    last.rules !== now.rules ||
    last.ground !== now.ground;
  // A clock that was set back must not delay the evaluation.
  return hasNews && Math.abs(moment.nowMs - last.atMs) >= betweenMs;
}

/** Why members changed since the last evaluation. In doubt it is not `change`, the only cause that may start
 * anything.
 * @param readsScores whether scores decide who is a member
 * @param bulkLoadedAtMs when an import last stored rows, if there was one */
export function causeOf(
  last: Evaluation | undefined,
  now: EvaluationGround,
  { readsScores, bulkLoadedAtMs }: { readonly readsScores: boolean; readonly bulkLoadedAtMs: number | null },
): SegmentCause {
  if (last === undefined) return "first";
  if (last.content !== now.content) return "edit";
  if (readsScores && last.rules !== now.rules) return "scores";
  const isAfterImport = bulkLoadedAtMs !== null && bulkLoadedAtMs >= unknownSinceMs(last, readsScores);
  // On days without an evaluation data had stopped, or the service was off.
  const isAfterGap = Math.abs(now.day - last.day) > 1;
  return isAfterImport || isAfterGap || last.ground !== now.ground ? "bulk" : "change";
}

/** An evaluation may not include imports and erasures since this time. Scores include them later than
 * rows. */
export function unknownSinceMs(
  { loadedUptoMs, scoredAtMs }: Pick<Evaluation, "loadedUptoMs" | "scoredAtMs">,
  readsScores: boolean,
): number {
  return (readsScores ? Math.min(loadedUptoMs, scoredAtMs) : loadedUptoMs) - clocksDifferMs;
}

/** Erasures and owners since an evaluation.
 * @param erased erasures of the organization, at least since `unknownSinceMs`
 * @param segments the segment and the segments in its filter. @param readsScores whether scores decide who is
 * a member */
export function touchedSince(
  erased: readonly ErasedAccounts[],
  last: Evaluation,
  segments: readonly Pick<Segment, "filter">[],
  readsScores: boolean,
): Touched {
  const since = erased.filter(({ requestedAtMs }) => requestedAtMs >= unknownSinceMs(last, readsScores));
  return {
    accounts: [...new Set(since.flatMap(({ ofAccounts }) => ofAccounts))],
    isAccountErased: since.some(({ account }) => account !== 0),
    ownersSinceMs: readsOwner(segments) ? unknownSinceMs(last, false) : null,
  };
}

/** Whether one of the segments asks for the owner. */
function readsOwner(segments: readonly Pick<Segment, "filter">[]): boolean {
  return segments.some(
    ({ filter }) =>
      filter?.owner !== undefined || filter?.traits?.some(({ trait }) => trait === ownerTrait) === true,
  );
}
