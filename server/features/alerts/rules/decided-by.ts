/** How the last day was decided. The day may be scored again with another model or other settings; its record
 * is then of the later run. See docs/decisions/0086. */
import { createHash } from "node:crypto";
import { type JsonObject, objectOf } from "../../../../contract/json.ts";
import { groundKey, rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import { excludedOfKey } from "../../../scoring/run/population.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { Watermark } from "../store/decisions.ts";

type Run = ScoreRecord<RunBody>;

/** The part of a watermark's cursor about the run which decided the last day. */
interface DecidedBy {
  readonly day: number;
  /** A hash of the settings, the declared outages, the kind of model and the timezone. */
  readonly ground: string;
  /** A hash of its `rulesKey`. */
  readonly rules: string;
  readonly firstPublishedAtMs: number;
  /** A key of the set of excluded users. */
  readonly excluded: string;
}

/** The cursor of a rule after a day that was decided by a run. */
export function cursorAfter(cursor: Watermark["cursor"], run: Run, timezone: string): JsonObject {
  return { ...cursor, decidedBy: { ...decidedByRun(run, timezone) } };
}

function decidedByRun(run: Run, timezone: string): DecidedBy {
  return {
    day: run.day,
    ground: hashOf(JSON.stringify([groundKey(run), timezone])),
    rules: hashOf(rulesKey(run)),
    firstPublishedAtMs: run.body.firstPublishedAtMs,
    excluded: excludedIn(run),
  };
}

/** How the last decided day was decided. */
export interface LastDecision {
  /** When the scores that decided the day were first shown. */
  readonly sinceMs: number;
  /** What a run has that did not decide the day. `ground`: other settings, declared outages, another kind of
   * model or timezone. `weights`: a refit of the model, or another scale. */
  readonly changeTo: (run: Run) => "ground" | "weights" | undefined;
  /** The newest run with the excluded users of that decision, of the day or an earlier day. */
  readonly members: Run | undefined;
}

/** How the last day was decided. Watermarks of earlier releases lack it: then the stored run of the day
 * counts.
 * @param runs in order. @param last the stored run of the day */
export function lastDecision(
  { cursor }: Pick<Watermark, "cursor">,
  runs: readonly Run[],
  last: Run,
  timezone: string,
): LastDecision {
  const decidedBy = decidedByOf(cursor, last.day) ?? decidedByRun(last, timezone);
  return {
    sinceMs: decidedBy.firstPublishedAtMs,
    changeTo: (run) => {
      const { ground, rules } = decidedByRun(run, timezone);
      if (ground !== decidedBy.ground) return "ground";
      return rules === decidedBy.rules ? undefined : "weights";
    },
    members: runs.findLast((run) => run.day <= last.day && excludedIn(run) === decidedBy.excluded),
  };
}

function decidedByOf(cursor: Watermark["cursor"], lastDay: number): DecidedBy | undefined {
  const { day, ground, rules, excluded, firstPublishedAtMs } = objectOf(cursor?.decidedBy);
  if (day !== lastDay || typeof firstPublishedAtMs !== "number") return undefined;
  const areTexts = typeof ground === "string" && typeof rules === "string" && typeof excluded === "string";
  return areTexts ? { day: lastDay, ground, rules, excluded, firstPublishedAtMs } : undefined;
}

function excludedIn({ body }: Run): string {
  return excludedOfKey(body.settingsKey);
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
