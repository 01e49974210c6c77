/** The segments that a rule names, as the decision reads them: their members as of now. See
 * docs/decisions/0086. */
import type { MomentCondition, RuleCondition } from "../../../../contract/alerts/rules.ts";
import { type EntitySet, numbersOfSet } from "../../../analytics/entities/entity-sets.ts";
import type { Organization } from "../../../ledger/stores/organization-rows.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import type { RuleVersion } from "../store/decisions.ts";
import type { DailyCondition, SegmentNow } from "./conditions.ts";
import type { Reading } from "./step.ts";

/** The condition of a rule that is decided once a scored day, as it is saved. */
export type DailyRuleCondition = Exclude<RuleCondition, MomentCondition | { readonly kind: "sourceSilent" }>;

/** The condition and the scope of a rule, with the members of their segments. */
export interface OfSegments {
  /** The condition with the members of its segment. */
  readonly condition: DailyCondition;
  /** The entities that the rule is about; undefined for all. */
  readonly scope: EntitySet | undefined;
  /** When the segments of scope and condition were changed last; null without a change since the rule was
   * created. */
  readonly changedAtMs: number | null;
  /** Whether members of one of the segments follow from scores. */
  readonly readsScores: boolean;
  /** Whether days without data change the members of one of the segments. */
  readonly countsDays: boolean;
}

/** The stores that segments are read from. */
export interface SegmentParts {
  readonly warehouse: Warehouse;
  /** Reads a segment and its members as of now. @throws ApiError when there is no such segment */
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

/** Reads who is exempt from the hold-out. @returns whether an entity is exempt, by its number and MRR.
 * @param firing the entities that fire @throws ApiError when there is no such segment */
export async function exemptOf(
  parts: SegmentParts,
  organization: Organization,
  { segment, mrrAbove }: RuleVersion["exemptions"],
  firing: readonly number[],
): Promise<(number: number, mrr: number | null | undefined) => boolean> {
  const exempt = await withinSegment(parts, organization, segment, firing);
  return (number, mrr) =>
    (segment !== undefined && exempt.has(number)) || (mrrAbove !== undefined && isAbove(mrr, mrrAbove));
}

/** Whether an MRR is above a limit. An unknown one (null) is, because it may be the highest of all. */
export function isAbove(mrr: number | null | undefined, limit: number): boolean {
  return mrr === null || (mrr ?? 0) > limit;
}

/** The entities of a list that are in a segment; all entities without a segment. @throws ApiError when there
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

/** A reading that respects the scope: outside the scope an entity is out, so that its alert ends.
 * @param isBySettings whether an entity that came inside did so by a change of the model or the settings */
export function readingInScope(
  reading: Reading,
  { isIn, isBySettings }: { readonly isIn: boolean; readonly isBySettings: boolean },
): Reading {
  // Only an entity that is inside is taken over.
  const standing = reading.standing === "adopted" ? "present" : reading.standing;
  if (!isIn) return { ...reading, isInside: false, isInsideAsBefore: false, isOut: true, standing };
  return isBySettings ? { ...reading, isInsideAsBefore: false } : reading;
}
