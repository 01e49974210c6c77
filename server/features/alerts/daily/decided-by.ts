/** The run that decided the last day. The day may be scored again with another model or other settings; its
 * record is then of the later run. See docs/decisions/0086. */
import { createHash } from "node:crypto";
import { type JsonObject, objectOf } from "../../../../contract/json.ts";
import type { Watermark } from "../../../ledger/ports/actions/rules.ts";
import { rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import { excludedOfKey } from "../../../scoring/run/population.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";

type Run = ScoreRecord<RunBody>;

/** The part of a watermark's cursor that names the run which decided the last day. */
interface DecidedBy {
  readonly day: number;
  /** A hash of its `rulesKey`. */
  readonly rules: string;
  readonly firstPublishedAtMs: number;
  /** A key of the set of excluded users. */
  readonly excluded: string;
  /** A hash of the timezone and the declared outages. */
  readonly place: string;
}

/** The cursor of a rule after a day that was decided by a run. */
export function cursorAfter(cursor: Watermark["cursor"], run: Run, timezone: string): JsonObject {
  const { firstPublishedAtMs } = run.body;
  const decidedBy: DecidedBy = {
    day: run.day,
    rules: hashOfRules(run),
    excluded: excludedIn(run),
    firstPublishedAtMs,
    place: placeOf(run, timezone),
  };
  return { ...cursor, decidedBy };
}

/** How the last decided day was decided. */
export interface LastDecision {
  /** When the scores that decided the day were first shown. */
  readonly sinceMs: number;
  /** Whether a run has the model and the settings that decided the day. */
  readonly hasSameRules: (run: Run) => boolean;
  /** The newest run with this model and these settings, of the day or an earlier day; undefined when none is
   * stored. */
  readonly rules: Run | undefined;
  /** The newest run with the excluded users of that decision, of the day or an earlier day. */
  readonly members: Run | undefined;
  /** Whether a run has another timezone or other declared outages. */
  readonly isElsewhere: (run: Run, timezone: string) => boolean;
}

/** How the last day was decided. Watermarks of earlier releases lack it: then the stored run of the day
 * counts.
 * @param runs in order. @param last the stored run of the day */
export function lastDecision(
  { cursor }: Pick<Watermark, "cursor">,
  runs: readonly Run[],
  last: Run,
): LastDecision {
  const decidedBy = decidedByOf(cursor, last.day);
  const rules = decidedBy?.rules ?? hashOfRules(last);
  const excluded = decidedBy?.excluded ?? excludedIn(last);
  const hasSameRules = (run: Run) => hashOfRules(run) === rules;
  return {
    sinceMs: decidedBy?.firstPublishedAtMs ?? last.body.firstPublishedAtMs,
    hasSameRules,
    rules: runs.findLast((run) => run.day <= last.day && hasSameRules(run)),
    members: runs.findLast((run) => run.day <= last.day && excludedIn(run) === excluded),
    isElsewhere: (run, timezone) => decidedBy !== undefined && decidedBy.place !== placeOf(run, timezone),
  };
}

function decidedByOf(cursor: Watermark["cursor"], lastDay: number): DecidedBy | undefined {
  const { day, rules, excluded, firstPublishedAtMs, place } = objectOf(cursor?.decidedBy);
  if (day !== lastDay || typeof firstPublishedAtMs !== "number") return undefined;
  const areTexts = typeof rules === "string" && typeof excluded === "string" && typeof place === "string";
  return areTexts ? { day: lastDay, rules, excluded, firstPublishedAtMs, place } : undefined;
}

function excludedIn({ body }: Run): string {
  return excludedOfKey(body.settingsKey);
}

function hashOfRules(run: Run): string {
  return hashOf(rulesKey(run));
}

function placeOf({ body }: Run, timezone: string): string {
  return hashOf(JSON.stringify([timezone, body.declaredOutages]));
}

function hashOf(text: string): string {
  return createHash("sha256").update(text).digest("hex").slice(0, 16);
}
