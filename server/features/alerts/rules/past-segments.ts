/** The segments that a previewed rule names, as of each scored day of the past. */
import type { RuleCondition, RuleScope } from "../../../../contract/alerts/rules.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { DaySets } from "../../../analytics/segments/past/day-sets.ts";
import { formatDay } from "../../../calendar/days.ts";
import { rulesKey } from "../../../scoring/preview/scores-by-rules.ts";
import type { RunBody } from "../../../scoring/run/record-bodies.ts";
import type { ScoreRecord } from "../../../scoring/run/records.ts";
import { daysWithin } from "../../../scoring/scores/observed-days.ts";
import { readingInScope } from "./segments.ts";
import type { Reading } from "./step.ts";

/** A segment whose filter has a history. */
export interface SegmentInPast {
  readonly name: string;
  /** Whether its members follow from scores. */
  readonly readsScores: boolean;
  /** Whether its members follow from events within some days, so that days without data change them. */
  readonly countsDays: boolean;
  /** Its members also follow from scores of this many days before; 0 if they do not. */
  readonly comparedDays: number;
  /** The first day whose members are known, if a fixed segment is among the conditions; else null. */
  readonly sinceDay: number | null;
  /** Reads its members as of the starts of at most 128 days. */
  readonly membersOn: (days: readonly number[]) => Promise<DaySets>;
}

/** The places where a rule names a segment. */
export type SegmentField = "scope.segment" | "condition.segment";

/** Finds a segment. @throws Refusal when there is no such segment of the scope's kind, or a condition has no
 * history */
export type FindSegment = (
  field: SegmentField,
  segment: number,
  kind: RuleScope["kind"],
) => Promise<SegmentInPast>;

/** The segments of scope and condition. */
export type NamedSegments = Readonly<Partial<Record<SegmentField, SegmentInPast>>>;

/** Reads which segments a rule names. @throws Refusal as `FindSegment` */
export async function segmentsNamed(
  find: FindSegment,
  { scope, condition }: { readonly scope: RuleScope; readonly condition: RuleCondition },
): Promise<NamedSegments> {
  const named: Partial<Record<SegmentField, SegmentInPast>> = {};
  if (scope.segment !== undefined) {
    named["scope.segment"] = await find("scope.segment", scope.segment, scope.kind);
  }
  if (condition.kind === "inSegment") {
    named["condition.segment"] = await find("condition.segment", condition.segment, scope.kind);
  }
  return named;
}

/** The first day whose members are known; null if no segment is fixed. */
export function knownSince(named: NamedSegments): number | null {
  const days = Object.values(named).flatMap(({ sinceDay }) => sinceDay ?? []);
  return days.length === 0 ? null : Math.max(...days);
}

/** From how many earlier days the members of a day follow. */
export function comparedDaysOf(named: NamedSegments): number {
  return Math.max(0, ...Object.values(named).map(({ comparedDays }) => comparedDays));
}

/** Refuses a preview whose first day is before the last change of a fixed segment. @throws Refusal */
export function refuseYoung(named: NamedSegments, firstDay: number | undefined): void {
  for (const [field, { name, sinceDay }] of Object.entries(named)) {
    if (firstDay === undefined || sinceDay === null || sinceDay <= firstDay) continue;
    throw new Refusal(
      `${field} has no preview: the fixed segment ${name} is known from ${formatDay(sinceDay)} on, and the preview begins on ${formatDay(firstDay)}.`,
    );
  }
}

type Run = ScoreRecord<RunBody>;

/** The members of a preview without a scored day: no entity has a reading. */
const none = { scope: undefined, judged: undefined };

/** The members on the scored days of a preview. */
export class MembersInPast {
  readonly #days: readonly number[];
  readonly #places: ReadonlyMap<number, number>;
  readonly #changed: ReadonlySet<number>;
  /** Undefined for a rule about all users or accounts. */
  readonly scope: DaySets | undefined;
  /** Undefined for a condition that is about no segment. */
  readonly judged: DaySets | undefined;

  private constructor(
    days: readonly number[],
    changed: ReadonlySet<number>,
    { scope, judged }: Pick<MembersInPast, "scope" | "judged">,
  ) {
    this.#days = days;
    this.#places = new Map(days.map((day, place) => [day, place]));
    this.#changed = changed;
    this.scope = scope;
    this.judged = judged;
  }

  /** @param runs of the days, in order @throws WarehouseError */
  static async on(named: NamedSegments, runs: readonly Run[]): Promise<MembersInPast> {
    const days = runs.map(({ day }) => day);
    if (days.length === 0) return new MembersInPast(days, new Set(), none);
    const segments = Object.values(named);
    const changed = [
      ...(segments.some(({ readsScores }) => readsScores) ? daysWithOtherRules(runs) : []),
      ...(segments.some(({ countsDays }) => countsDays) ? daysAfterOutages(runs) : []),
    ];
    return new MembersInPast(days, new Set(changed), {
      scope: await named["scope.segment"]?.membersOn(days),
      judged: await named["condition.segment"]?.membersOn(days),
    });
  }

  /** The readings of an entity as a live rule has them; undefined for an entity that was never in the
   * scope. */
  readings(entity: number, readings: readonly Reading[]): readonly Reading[] | undefined {
    const { scope } = this;
    if (scope?.hasAny(entity, 0, this.#days.length) === false) return undefined;
    if (scope === undefined && this.#changed.size === 0) return readings;
    return readings.map((reading) => {
      const isIn = scope === undefined || scope.has(entity, this.placeOf(reading.day));
      return readingInScope(reading, { isIn, isBySettings: this.#changed.has(reading.day) });
    });
  }

  /** Whether an entity was in the scope on a day, or on the scored day before a day without scores. */
  isInScope(entity: number, day: number): boolean {
    const place = this.#days.findLastIndex((each) => each <= day);
    return this.scope === undefined || (place >= 0 && this.scope.has(entity, place));
  }

  /** Whether an entity was in the scope on any scored day from one day (inclusive) to another (exclusive). */
  wasInScope(entity: number, fromDay: number, toDay: number): boolean {
    const placeOf = (day: number) => this.#days.filter((each) => each < day).length;
    return this.scope === undefined || this.scope.hasAny(entity, placeOf(fromDay), placeOf(toDay));
  }

  /** The place of a scored day in the sets. */
  placeOf(day: number): number {
    return this.#places.get(day) ?? 0;
  }
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
