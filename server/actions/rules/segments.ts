/** The segments that a rule names, as the decision reads them: their members as of now. See
 * docs/decisions/0086. */
import type { RuleCondition } from "../../../contract/actions/rules.ts";
import { type EntitySet, numbersOfSet } from "../../analytics/analytics.ts";
import type { Organization, RuleVersion } from "../../ledger/ledger.ts";
import type { Warehouse } from "../../warehouse/warehouse.ts";
import type { DailyCondition, SegmentNow } from "./conditions.ts";
import type { Reading } from "./step.ts";

/** The condition of a rule that is decided once a scored day, as it is saved. */
export type DailyRuleCondition = Exclude<
  RuleCondition,
  { readonly kind: "sourceSilent" | "paymentFailed" | "cancellationScheduled" | "lastOwnerRemoved" }
>;

/** The part of a decision that segments change. */
export interface OfSegments {
  /** The condition with the members of its segment. */
  readonly condition: DailyCondition;
  /** Those that the rule looks at; undefined for all. */
  readonly scope: EntitySet | undefined;
  /** When the segments of scope and condition were changed last, if the rule was there already; else null. */
  readonly changedAtMs: number | null;
  /** Whether scores decide who is in one of them. */
  readonly readsScores: boolean;
  /** Whether days without data change who is in one of them. */
  readonly countsDays: boolean;
}

/** The stores that segments are read from. */
export interface SegmentParts {
  readonly warehouse: Warehouse;
  /** A segment and its members as of now. @throws ApiError when there is none */
  readonly segmentOf: (organization: Organization, segment: number) => Promise<SegmentNow>;
}

type Rule = Pick<RuleVersion, "scope" | "createdAtMs">;

/** Reads the segments of scope and condition. @throws ApiError when there is no such segment */
export async function segmentsOfRule(
  { segmentOf }: Pick<SegmentParts, "segmentOf">,
  organization: Organization,
  { scope, createdAtMs }: Rule,
  condition: DailyRuleCondition,
): Promise<OfSegments> {
  const named: SegmentNow[] = [];
  const read = async (id: number) => {
    const segment = await segmentOf(organization, id);
    named.push(segment);
    return segment;
  };
  const ofScope = scope.segment === undefined ? undefined : (await read(scope.segment)).members;
  const judged =
    condition.kind === "inSegment" ? { ...condition, of: await read(condition.segment) } : condition;
  const changes = named.map(({ changedAtMs }) => changedAtMs).filter((atMs) => atMs > createdAtMs);
  return {
    condition: judged,
    scope: ofScope,
    changedAtMs: changes.length === 0 ? null : Math.max(...changes),
    readsScores: named.some(({ readsScores }) => readsScores),
    countsDays: named.some(({ countsDays }) => countsDays),
  };
}

/** A function that says whether an entity gets its alert without a draw of the hold-out. An unknown MRR may
 * be the highest of all.
 * @param firing the entities that fire @throws ApiError when there is no such segment */
export async function exemptOf(
  parts: SegmentParts,
  organization: Organization,
  { segment, mrrAbove }: RuleVersion["exemptions"],
  firing: readonly number[],
): Promise<(number: number, mrr: number | null | undefined) => boolean> {
  const exempt = await withinSegment(parts, organization, segment, firing);
  return (number, mrr = 0) =>
    (segment !== undefined && exempt.has(number)) ||
    (mrrAbove !== undefined && (mrr === null || mrr > mrrAbove));
}

/** Those of some entities that are in a segment; all of them where none is named. @throws ApiError when there
 * is no such segment */
export async function withinSegment(
  { warehouse, segmentOf }: SegmentParts,
  organization: Organization,
  segment: number | undefined,
  entities: readonly number[],
): Promise<ReadonlySet<number>> {
  if (segment === undefined || entities.length === 0) return new Set(entities);
  const members = new Set(await numbersOfSet(warehouse, (await segmentOf(organization, segment)).members));
  return new Set(entities.filter((entity) => members.has(entity)));
}

/** The reading of an entity in the scope, or beyond it: there it is out, so that its alert ends.
 * @param isBySettings whether an entity that came inside is there by settings */
export function readingInScope(
  reading: Reading,
  { isIn, isBySettings }: { readonly isIn: boolean; readonly isBySettings: boolean },
): Reading {
  // Only an entity that is inside is taken over.
  const standing = reading.standing === "adopted" ? "present" : reading.standing;
  if (!isIn) return { ...reading, isInside: false, isInsideAsBefore: false, isOut: true, standing };
  return isBySettings ? { ...reading, isInsideAsBefore: false } : reading;
}
