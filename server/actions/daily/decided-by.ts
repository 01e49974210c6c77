/** The run that decided the last day. The day may be scored again by other rules, and then its record is that of the later run. See docs/decisions/0086. */
import { createHash } from "node:crypto";
import { type JsonObject, objectOf } from "../../../contract/json.ts";
import type { Watermark } from "../../ledger/ledger.ts";
import { type RunBody, rulesKey, type ScoreRecord } from "../../scoring/scoring.ts";

type Run = ScoreRecord<RunBody>;

/** The part of a watermark's cursor that names the run which decided the last day. */
interface DecidedBy {
  readonly day: number;
  /** A hash of its `rulesKey`. */
  readonly rules: string;
  readonly firstPublishedAtMs: number;
}

/** The cursor of a rule after a day that was decided by a run. */
export function cursorAfter(cursor: Watermark["cursor"], run: Run): JsonObject {
  const { day, body } = run;
  return {
    ...cursor,
    decidedBy: { day, rules: hashOfRules(run), firstPublishedAtMs: body.firstPublishedAtMs },
  };
}

/** The last decided day, as it was decided. */
export interface LastDecision {
  /** When the scores that decided it were first shown. */
  readonly sinceMs: number;
  /** Whether a run has the rules that decided it. */
  readonly hasSameRules: (run: Run) => boolean;
  /** The newest run with these rules, of the day or of one before. Undefined when none is stored. */
  readonly rules: Run | undefined;
}

/** How a day was decided. Watermarks of earlier releases do not say it: then the day's stored run counts.
 * @param runs in order. @param last the stored run of the day */
export function lastDecision(
  { cursor }: Pick<Watermark, "cursor">,
  runs: readonly Run[],
  last: Run,
): LastDecision {
  const decidedBy = decidedByOf(cursor, last.day);
  const rules = decidedBy?.rules ?? hashOfRules(last);
  const hasSameRules = (run: Run) => hashOfRules(run) === rules;
  return {
    ...{ sinceMs: decidedBy?.firstPublishedAtMs ?? last.body.firstPublishedAtMs, hasSameRules },
    rules: runs.findLast((run) => run.day <= last.day && hasSameRules(run)),
  };
}

function decidedByOf(cursor: Watermark["cursor"], lastDay: number): DecidedBy | undefined {
  const { day, rules, firstPublishedAtMs } = objectOf(cursor?.decidedBy);
  if (day !== lastDay || typeof rules !== "string" || typeof firstPublishedAtMs !== "number")
    return undefined;
  return { day: lastDay, rules, firstPublishedAtMs };
}

function hashOfRules(run: Run): string {
  return createHash("sha256").update(rulesKey(run)).digest("hex").slice(0, 16);
}
