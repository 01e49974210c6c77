/** The scored days that a rule is to decide, by its watermark. See docs/decisions/0086. */
import { zoneOf } from "../../calendar/calendar.ts";
import type { Organization, RuleToDecide, RuleVersion, Watermark } from "../../ledger/ledger.ts";
import type { EntityKind, RunBody, ScoreRecord } from "../../scoring/scoring.ts";
import { isAfterBulkChange } from "../rules/bulk-changes.ts";
import type { DecisionParts } from "../rules/decision-parts.ts";
import { type DailyRuleCondition, type OfSegments, segmentsOfRule } from "../rules/segments.ts";
import { lastDecision } from "./decided-by.ts";

export type Run = ScoreRecord<RunBody>;

/** A rule and the days that it has to decide. */
export interface DueRule {
  readonly version: RuleVersion;
  readonly kind: EntityKind;
  readonly segments: OfSegments;
  /** Those that conditions compare with, too. In order. */
  readonly runs: readonly Run[];
  /** Runs of the days, in order. At least one. */
  readonly days: readonly Run[];
  /** Where the first day begins. It takes the state over, if so. */
  readonly watermark: Watermark;
  /** `decidedThrough` as it is stored, until the first day is decided for all. */
  readonly through: number | null;
}

/** As far back as a rise or the last decided day is looked for: the longest rise takes 28 days, and its day
 * may have no scores. */
const earlierDays = 2 * 28;

/** The days of a rule. Undefined while no new day is scored. A new rule, and one that takes the state over,
 * begins with the newest scored day. So does each decision of a rule about a segment, which is read as of
 * now.
 * @throws ApiError when a segment of the rule is not there */
export async function dueDays(
  parts: DecisionParts,
  organization: Organization,
  { version, watermark: stored }: RuleToDecide,
  saved: DailyRuleCondition,
): Promise<DueRule | undefined> {
  const today = zoneOf(organization.timezone).dayOf(parts.nowMs());
  const watermark = notOfFuture(stored, today);
  const kind: EntityKind = version.scope.kind === "users" ? "user" : "account";
  const decidedThrough = watermark.decidedThrough ?? today - 1;
  // A look each ten seconds reads this alone.
  const newest = await parts.newestRun(organization.id, kind, today);
  if (newest === undefined || newest.day <= decidedThrough || newest.body.awaitsTraining) return undefined;
  const segments = await segmentsOfRule(parts, organization, version, saved);
  const firstDay = Math.min(decidedThrough, today - 1) - earlierDays;
  const span = { fromDay: firstDay, toDay: today };
  const runs = await parts.runsBetween({ organization: organization.id, kind }, span);
  const due = runs.filter(({ day }) => day > decidedThrough);
  const isDecidedBefore = wereDecidedBefore(watermark, newest.day, due);
  const isNewestOnly =
    watermark.takesOver ||
    isDecidedBefore ||
    watermark.decidedThrough === null ||
    segments.condition.kind === "inSegment" ||
    version.scope.segment !== undefined;
  // A rule that is new decides as its settings say: it compares with no day.
  const hasChanged =
    watermark.decidedThrough !== null &&
    (await hasChangedInBulk(parts, organization, { watermark, runs, newest, segments, decidedThrough }));
  const takesOver = watermark.takesOver || hasChanged || isDecidedBefore;
  return {
    version,
    kind,
    segments,
    runs,
    days: isNewestOnly ? due.slice(-1) : due,
    watermark: { ...watermark, takesOver },
    through: stored.decidedThrough,
  };
}

async function hasChangedInBulk(
  parts: DecisionParts,
  { id, timezone }: Organization,
  {
    watermark,
    runs,
    newest,
    segments,
    decidedThrough,
  }: Pick<DueRule, "watermark" | "runs" | "segments"> & {
    readonly newest: Run;
    readonly decidedThrough: number;
  },
): Promise<boolean> {
  const last = runs.findLast(({ day }) => day <= decidedThrough);
  if (last === undefined) return false;
  const { sinceMs, isElsewhere } = lastDecision(watermark, runs, last);
  return isAfterBulkChange(parts, id, {
    runs,
    last,
    segments,
    sinceMs,
    isElsewhere: isElsewhere(newest, timezone),
  });
}

/** A day that another timezone began earlier. */
const aheadDays = 1;

/** A watermark of the future is not trusted, because the clock was ahead then or is set back now: the rule
 * goes on from today, and takes its state over. The cursor keeps the day that was decided. */
function notOfFuture(watermark: Watermark, today: number): Watermark {
  const { decidedThrough, part } = watermark;
  const decidedUpto = Math.max(decidedThrough ?? 0, part?.day ?? 0);
  if (decidedUpto <= today + aheadDays) return watermark;
  return { ...watermark, decidedThrough: null, part: null, takesOver: true, cursor: { decidedUpto } };
}

/** Whether the clock was set back, and has come again to the day that was decided before: days until then
 * would fire anew. */
function wereDecidedBefore({ cursor }: Watermark, newestDay: number, due: readonly Run[]): boolean {
  const decidedUpto = cursor?.decidedUpto;
  if (typeof decidedUpto !== "number" || newestDay < decidedUpto) return false;
  return due.some(({ day }) => day < decidedUpto);
}
