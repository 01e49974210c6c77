/** The scored days that a rule is to decide, by its watermark. See docs/decisions/0086. */
import { zoneOf } from "../../../calendar/zone.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import type { RuleToDecide, RuleVersion, Watermark } from "../store/decisions.ts";
import { isAfterBulkChange } from "./bulk-changes.ts";
import { lastDecision } from "./decided-by.ts";
import type { DecisionParts } from "./decision-parts.ts";
import { type DailyRuleCondition, type OfSegments, segmentsOfRule } from "./segments.ts";

export type Run = ScoreRecord<RunBody>;

/** A rule and the days that it has to decide. */
export interface DueRule {
  readonly version: RuleVersion;
  /** The organization's timezone. */
  readonly timezone: string;
  readonly kind: EntityKind;
  readonly segments: OfSegments;
  /** Runs of the days to decide and of the days that conditions compare with, in order. */
  readonly runs: readonly Run[];
  /** Runs of the days to decide, in order. At least one. */
  readonly days: readonly Run[];
  /** Where the first day begins, and whether it takes the state over. */
  readonly watermark: Watermark;
  /** The stored `decidedThrough`, which stays until all entities of the first day are decided. */
  readonly through: number | null;
  /** Whether the past, or a segment of the rule, changed in bulk since the last decided day: then those who
   * come inside on the first day have no alert. */
  readonly isAfterBulkChange: boolean;
}

/** How many days back the earlier value of a rise, or the last decided day, may be: the longest rise takes 28
 * days, and its first day may have no scores. */
const earlierDays = 2 * 28;

/** The days that a rule has to decide; undefined while no new day is scored. A rule that is new, or takes the
 * state over, decides only the newest scored day. So does a rule about a segment, whose members are read as
 * of now.
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
  // Most runs of the job, every ten seconds, read only this.
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
  // A new rule compares with no day, so that no change is a reason to take the state over.
  const hasChanged =
    watermark.decidedThrough !== null &&
    (await hasChangedInBulk(parts, organization, { watermark, runs, segments, decidedThrough }));
  const takesOver = watermark.takesOver || isDecidedBefore;
  return {
    version,
    timezone: organization.timezone,
    kind,
    segments,
    runs,
    days: isNewestOnly ? due.slice(-1) : due,
    watermark: { ...watermark, takesOver },
    through: stored.decidedThrough,
    isAfterBulkChange: hasChanged,
  };
}

async function hasChangedInBulk(
  parts: DecisionParts,
  { id, timezone }: Organization,
  {
    watermark,
    runs,
    segments,
    decidedThrough,
  }: Pick<DueRule, "watermark" | "runs" | "segments"> & { readonly decidedThrough: number },
): Promise<boolean> {
  const last = runs.findLast(({ day }) => day <= decidedThrough);
  if (last === undefined) return false;
  const { sinceMs } = lastDecision(watermark, runs, last, timezone);
  return isAfterBulkChange(parts, id, { runs, last, segments, sinceMs });
}

/** In another timezone, today may have begun a day earlier. */
const aheadDays = 1;

/** The watermark, without a day in the future: the clock was ahead, or was set back since. The rule goes on
 * from today and takes its state over. The cursor keeps the day that was decided. */
function notOfFuture(watermark: Watermark, today: number): Watermark {
  const { decidedThrough, part } = watermark;
  const decidedUpto = Math.max(decidedThrough ?? 0, part?.day ?? 0);
  if (decidedUpto <= today + aheadDays) return watermark;
  return { ...watermark, decidedThrough: null, part: null, takesOver: true, cursor: { decidedUpto } };
}

/** Whether the clock was set back and has reached the decided day again: the days before it would fire a
 * second time. */
function wereDecidedBefore({ cursor }: Watermark, newestDay: number, due: readonly Run[]): boolean {
  const decidedUpto = cursor?.decidedUpto;
  if (typeof decidedUpto !== "number" || newestDay < decidedUpto) return false;
  return due.some(({ day }) => day < decidedUpto);
}
