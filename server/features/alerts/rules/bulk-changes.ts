/** Whether the past changed in bulk after a day was decided: then a difference between that day and the next
 * is no news. See docs/decisions/0086. */
import type { LateEvents, PastQuestion } from "../../../scoring/run/changed-days.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { OfSegments } from "./segments.ts";

type Run = ScoreRecord<RunBody>;

/** The stores that bulk changes are read from. */
export interface BulkParts {
  /** When an import last stored rows, if there was one. */
  readonly lastBulkLoadAtMs: (organization: number) => Promise<number | null>;
  /** Whether an import that came later changed the past in bulk. */
  readonly isPastImported: (question: PastQuestion) => Promise<boolean>;
  /** How much of the past came later. */
  readonly lateEvents: (question: PastQuestion) => Promise<LateEvents>;
}

export interface Decided {
  /** The runs of the last decided day and of days before it. */
  readonly runs: readonly Run[];
  /** The run of the last decided day. */
  readonly last: Run;
  /** When the scores that decided that day were first shown. */
  readonly sinceMs: number;
  readonly segments: Pick<OfSegments, "changedAtMs">;
}

/** Events of this many days before the last decided day are news: an import brings them on the next day,
 * after a weekend, or by days of another timezone. A change of fewer days may come from events that were
 * late around midnight. */
const recentDays = 3;

/** Whether the segments of a rule were edited, or the past changed in bulk, since the first run of the last
 * decided day. @throws WarehouseError */
export async function isAfterBulkChange(
  { lastBulkLoadAtMs, isPastImported, lateEvents }: BulkParts,
  organization: number,
  { runs, last, sinceMs, segments }: Decided,
): Promise<boolean> {
  if ((segments.changedAtMs ?? 0) > sinceMs) return true;
  const bulkLoadedAtMs = await lastBulkLoadAtMs(organization);
  const beforeDay = last.day - recentDays;
  // A single old row of an import has all later days scored again. Rows in the warehouse say at once how much
  // changed.
  if (bulkLoadedAtMs !== null && bulkLoadedAtMs > sinceMs) {
    return isPastImported({ organization, sinceMs, beforeDay });
  }
  if (!haveScoresChanged(runs, last.day, sinceMs)) return false;
  // With a stream of late events the past is scored again each night. Without late events the change has
  // another cause, for example a repair.
  const late = await lateEvents({ organization, sinceMs: sinceDayBefore(runs, last, sinceMs), beforeDay });
  return late !== "some";
}

/** The instant since which late events count: a day earlier than `sinceMs`, because late events cause scores
 * of the past only from the next day on, maybe after that day is decided. The past of a new organization is
 * scored after today. */
function sinceDayBefore(runs: readonly Run[], last: Run, sinceMs: number): number {
  const before = runs.findLast(({ day }) => day < last.day);
  return Math.min(sinceMs, before?.body.firstPublishedAtMs ?? sinceMs);
}

/** Whether the scores of several days before the last decided day changed since its first run, or are stale.
 * A day without scores at that time does not count: the schedule scores the past of a new organization after
 * today. */
export function haveScoresChanged(runs: readonly Run[], lastDay: number, sinceMs: number): boolean {
  const isScoredAgain = ({ body }: Run) => body.firstPublishedAtMs <= sinceMs && body.finishedAtMs > sinceMs;
  const changed = runs.filter((run) => run.day < lastDay && (run.stale || isScoredAgain(run)));
  return changed.length >= recentDays;
}
