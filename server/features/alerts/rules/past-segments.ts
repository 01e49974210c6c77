/** The segments that a previewed rule names, with the members that were recorded on past days. */
import type { RuleCondition, RuleScope } from "../../../../contract/alerts/rules.ts";
import {
  type MembersQuestion,
  memberDigits,
  type RecordedDay,
} from "../../../analytics/entities/recorded-days.ts";
import { formatDay } from "../../../calendar/days.ts";
import { rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import type { EntityKind } from "../../../scoring/queries/engagement-events.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import { daysWithin } from "../../../scoring/scores/observed-days.ts";
import type { Warehouse } from "../../../warehouse/engine/warehouse.ts";
import { readingInScope } from "./segments.ts";
import type { Reading } from "./step.ts";

export interface SegmentInPast {
  readonly id: number;
  readonly name: string;
  /** Whether its members follow from scores. */
  readonly readsScores: boolean;
  /** Whether its members follow from events within some days, so that days without data change them. */
  readonly countsDays: boolean;
  /** The days on which its members were recorded since its last edit, in order. */
  readonly recorded: readonly RecordedDay[];
}

/** The places where a rule names a segment. */
export type SegmentField = "scope.segment" | "condition.segment";

/** Finds a segment. @throws Refusal when there is no such segment of the scope's kind */
export type FindSegment = (
  field: SegmentField,
  segment: number,
  kind: RuleScope["kind"],
) => Promise<SegmentInPast>;

/** The segments of scope and condition. */
export interface NamedSegments {
  readonly scope?: SegmentInPast | undefined;
  readonly condition?: SegmentInPast | undefined;
}

/** Reads which segments a rule names. @throws Refusal as `FindSegment` */
export async function segmentsNamed(
  find: FindSegment,
  { scope, condition }: { readonly scope: RuleScope; readonly condition: RuleCondition },
): Promise<NamedSegments> {
  return {
    scope: scope.segment === undefined ? undefined : await find("scope.segment", scope.segment, scope.kind),
    condition:
      condition.kind === "inSegment"
        ? await find("condition.segment", condition.segment, scope.kind)
        : undefined,
  };
}

/** The segments as the preview takes them: a scope without recorded days before today is left out. */
export function knownSegments({ scope, condition }: NamedSegments, today: number): NamedSegments {
  const isNew = (scope?.recorded[0]?.day ?? today) >= today;
  return { scope: isNew ? undefined : scope, condition };
}

/** The days on which the members of all segments are known; undefined without a segment. */
export function knownDays(known: NamedSegments): ReadonlySet<number> | undefined {
  const all = [known.scope, known.condition].filter((one) => one !== undefined);
  const days = all.map(({ recorded }) => new Set(recorded.map(({ day }) => day)));
  return days.length === 0 ? undefined : days.reduce((some, other) => some.intersection(other));
}

/** What a preview says about segments that were not recorded on all of its days: a sentence each; null where
 * there is nothing to say. @param fromDay the first day that the preview would have */
export function noteOnSegments(
  { scope, condition }: NamedSegments,
  {
    kind,
    today,
    fromDay,
  }: { readonly kind: RuleScope["kind"]; readonly today: number; readonly fromDay: number },
): string | null {
  const known = knownSegments({ scope, condition }, today);
  const sentences = [
    ...(scope !== undefined && known.scope === undefined
      ? [
          `The segment ${scope.name} has no recorded members of past days yet, so the preview is for all ${kind}.`,
        ]
      : []),
    ...[known.scope, known.condition].flatMap((segment) => {
      if (segment === undefined) return [];
      const since = segment.recorded[0]?.day;
      if (since === undefined) return [`The members of the segment ${segment.name} are not recorded yet.`];
      return since <= fromDay
        ? []
        : [`The members of the segment ${segment.name} are recorded from ${formatDay(since)} on.`];
    }),
  ];
  return sentences.length === 0 ? null : [...new Set(sentences)].join(" ");
}

type Run = ScoreRecord<RunBody>;

interface Of {
  readonly organization: number;
  readonly kind: EntityKind;
}

/** The members on the scored days of a preview. */
export class MembersInPast {
  readonly #days: readonly number[];
  readonly #places: ReadonlyMap<number, number>;
  readonly #changed: ReadonlySet<number>;
  /** Undefined for a rule about all users or accounts. */
  readonly #digits: ReadonlyMap<number, string> | undefined;
  /** Undefined for a rule about all users or accounts. */
  readonly scope: MembersQuestion | undefined;
  /** Undefined for a condition that is about no segment. */
  readonly judged: MembersQuestion | undefined;

  private constructor(
    days: readonly number[],
    changed: ReadonlySet<number>,
    { scope, judged }: Pick<MembersInPast, "scope" | "judged">,
    digits: ReadonlyMap<number, string> | undefined,
  ) {
    this.#days = days;
    this.#places = new Map(days.map((day, place) => [day, place]));
    this.#changed = changed;
    this.#digits = digits;
    this.scope = scope;
    this.judged = judged;
  }

  /** @param runs of the days, in order, on which all segments are known @throws WarehouseError */
  static async on(
    warehouse: Warehouse,
    { scope, condition }: NamedSegments,
    { organization, kind }: Of,
    runs: readonly Run[],
  ): Promise<MembersInPast> {
    const days = runs.map(({ day }) => day);
    const segments = [scope, condition].filter((one) => one !== undefined);
    const changed = [
      ...(segments.some(({ readsScores }) => readsScores) ? daysWithOtherRules(runs) : []),
      ...(segments.some(({ countsDays }) => countsDays) ? daysAfterOutages(runs) : []),
    ];
    const question = (of: SegmentInPast | undefined) =>
      of && { organization, segment: of.id, of: kind, evaluations: evaluationsOf(of, days) };
    const asked = { scope: question(scope), judged: question(condition) };
    const digits = asked.scope && (await memberDigits(warehouse, asked.scope));
    return new MembersInPast(days, new Set(changed), asked, digits);
  }

  /** The readings of an entity as a live rule has them; undefined for an entity that was never in the
   * scope. */
  readings(entity: number, readings: readonly Reading[]): readonly Reading[] | undefined {
    if (this.#digits?.has(entity) === false) return undefined;
    if (this.#digits === undefined && this.#changed.size === 0) return readings;
    return readings.map((reading) => {
      const isIn = this.#isIn(entity, this.placeOf(reading.day));
      return readingInScope(reading, { isIn, isBySettings: this.#changed.has(reading.day) });
    });
  }

  /** Whether an entity was in the scope on a day, or on the scored day before a day without scores. */
  isInScope(entity: number, day: number): boolean {
    const place = this.#days.findLastIndex((each) => each <= day);
    return this.#isIn(entity, place);
  }

  /** Whether an entity was in the scope on any scored day from one day (inclusive) to another (exclusive). */
  wasInScope(entity: number, fromDay: number, toDay: number): boolean {
    return this.#days.some((day, place) => day >= fromDay && day < toDay && this.#isIn(entity, place));
  }

  /** The place of a scored day among the evaluations. */
  placeOf(day: number): number {
    return this.#places.get(day) ?? 0;
  }

  #isIn(entity: number, place: number): boolean {
    return this.#digits === undefined || this.#digits.get(entity)?.[place] === "1";
  }
}

function evaluationsOf({ recorded }: SegmentInPast, days: readonly number[]): number[] {
  const of = new Map(recorded.map(({ day, evaluation }) => [day, evaluation]));
  return days.map((day) => of.get(day) ?? 0);
}

/** Whether there were days without data between two scored days. */
export function hadOutage(fromDay: number, { day, body }: Run): boolean {
  return daysWithin(body.outages, fromDay, day) > 0;
}

/** The first scored days after days without data. */
function daysAfterOutages(runs: readonly Run[]): number[] {
  return runs
    .filter((run, at) => {
      const before = runs[at - 1];
      return before !== undefined && hadOutage(before.day, run);
    })
    .map(({ day }) => day);
}

/** The scored days on which the model, the bands or the settings differ from the scored day before. */
function daysWithOtherRules(runs: readonly Run[]): number[] {
  return runs
    .filter((run, at) => {
      const before = runs[at - 1];
      return before !== undefined && rulesKey(before) !== rulesKey(run);
    })
    .map(({ day }) => day);
}
