/** Rules for the filters of segments, and for segments that are conditions of others. */

import { ApiError, Refusal } from "../../../contract/refusal.ts";
import { accountFilters, type Filter, userFilters } from "../../../contract/segments/filters.ts";
import { type SegmentKind, segmentLimits } from "../../../contract/segments/segments.ts";
import { parseDay } from "../../calendar/days.ts";

/** A segment among others. */
export interface SegmentNode {
  readonly id: number;
  readonly kind: SegmentKind;
  readonly name: string;
  /** Null for a fixed segment. */
  readonly filter: Filter | null;
}

/** A segment: a named filter over users or accounts, or a fixed list of them. */
export interface Segment extends SegmentNode {
  /** Users or accounts of a fixed segment; null for one with a filter. */
  readonly fixed: number | null;
  /** The name of its author. Null if the person does not exist any more, or was none. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** When its filter or its ids were changed last. */
  readonly contentAtMs: number;
}

/** Traits whose values name one user. */
const naming: ReadonlySet<string> = new Set(["email", "name", "username", "phone"]);

/** Whether a condition on a trait has a value that may name a user: an erasure would not find it in a saved
 * filter. */
export function mayNameUser({
  trait,
  value,
}: {
  readonly trait?: unknown;
  readonly value?: unknown;
}): boolean {
  return typeof trait === "string" && naming.has(trait.toLowerCase()) && typeof value === "string";
}

/** @throws Refusal when a filter has a condition that its kind does not have, or one that is not whole */
export function refuseInvalidFilter(kind: SegmentKind, filter: Filter): void {
  const conditions = kind === "accounts" ? accountFilters : userFilters;
  const unknown = Object.keys(filter).find((key) => !Object.hasOwn(conditions, key));
  if (unknown !== undefined) throw notValid(unknown, `${kind} have no such condition`);
  for (const condition of filter.traits ?? []) {
    const { match = "is", value } = condition;
    if (match !== "isEmpty" && match !== "isNotEmpty" && value === undefined) {
      throw notValid("traits", "send trait and value together");
    }
    if (mayNameUser(condition)) throw notValid("traits", "leave out values of names, which may name a user");
  }
  if (filter.owner === "me") throw notValid("owner", "send the id of a team member, or nobody");
  const { healthFellPoints, healthFellDays } = filter;
  if (healthFellDays !== undefined && healthFellPoints === undefined) {
    throw notValid("healthFellDays", "send healthFellPoints with it");
  }
  refuseInvalidDays(filter);
}

/** Longest period of a filter by activity. */
export const maxActiveDays = 800;

function refuseInvalidDays({ activeFrom, activeTo, lifecycle }: Filter): void {
  if (activeFrom === undefined && activeTo === undefined) {
    if (lifecycle !== undefined) throw notValid("lifecycle", "send activeFrom and activeTo with it");
    return;
  }
  const [from, to] = [parseDay(activeFrom ?? ""), parseDay(activeTo ?? "")];
  if (from === undefined || to === undefined || to < from || to - from >= maxActiveDays) {
    throw notValid("activeTo", `send activeFrom and activeTo, dates of at most ${maxActiveDays} days`);
  }
}

function notValid(condition: string, why: string): Refusal {
  return new Refusal(`filter.${condition} is not valid: ${why}.`);
}

/** A segment, and those that its filter names, on all levels, each once. None for an id that is not among
 * them. */
export function segmentWithThoseBelow<Node extends SegmentNode>(
  segments: readonly Node[],
  id: number,
): readonly Node[] {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  const found = new Map<number, Node>();
  const add = (one: number) => {
    const segment = byId.get(one);
    if (segment === undefined || found.has(one)) return;
    found.set(one, segment);
    for (const below of segment.filter?.segments ?? []) add(below.segment);
  };
  add(id);
  return [...found.values()];
}

/**
 * Checks the segments of an organization as they will be.
 * @throws Refusal when a filter has a segment that is not there or is of another kind, when segments lead
 * back to themselves, or when they lead over too many levels
 */
export function refuseInvalidSegments(segments: readonly SegmentNode[]): void {
  const byId = new Map(segments.map((segment) => [segment.id, segment]));
  const levels = new Map<number, number>();
  const levelsOf = (segment: SegmentNode, above: readonly number[]): number => {
    const known = levels.get(segment.id);
    if (known !== undefined) return known;
    const below = (segment.filter?.segments ?? []).map(({ segment: id }) => {
      const found = byId.get(id);
      if (found === undefined) throw notValid("segments", `there is no segment with the id ${id}`);
      if (segment.kind === "accounts" && found.kind === "users") {
        throw notValid("segments", `${found.name} is a segment of users`);
      }
      if (id === segment.id || above.includes(id)) {
        throw notValid("segments", `${found.name} would lead back to itself`);
      }
      return 1 + levelsOf(found, [...above, segment.id]);
    });
    const own = Math.max(0, ...below);
    if (own > segmentLimits.levels) {
      throw notValid("segments", `${segment.name} would lead over more than ${segmentLimits.levels} levels`);
    }
    levels.set(segment.id, own);
    return own;
  };
  for (const segment of segments) levelsOf(segment, []);
}

/** How many conditions have to be evaluated for these segments: a fixed one is one. */
export function countConditions(segments: readonly Pick<SegmentNode, "filter">[]): number {
  const lengths = segments.flatMap(({ filter }) =>
    filter === null ? [1] : Object.values(filter).map((value) => (Array.isArray(value) ? value.length : 1)),
  );
  return lengths.reduce((sum, length) => sum + length, 0);
}

/** @throws Refusal when a segment that was changed, or one above it, has too many conditions together with
 * those below it. Others may have more: they were saved before there was a limit. */
export function refuseTooManyConditions(segments: readonly SegmentNode[], changed: number): void {
  for (const { id, name } of segments) {
    const tree = segmentWithThoseBelow(segments, id);
    if (!tree.some((one) => one.id === changed)) continue;
    const count = countConditions(tree);
    if (count > segmentLimits.conditions) throw new Refusal(tooManyConditions(name, count));
  }
}

/** @param what has them, with the segments below */
export function tooManyConditions(what: string, count: number): string {
  return `${what} would have ${count} conditions, together with those of its segments: at most ${segmentLimits.conditions} are evaluated together.`;
}

/** The segments whose filters have this one. */
export function segmentsWith<Node extends SegmentNode>(
  segments: readonly Node[],
  id: number,
): readonly Node[] {
  return segments.filter(({ filter }) => filter?.segments?.some(({ segment }) => segment === id) ?? false);
}

/** A conflict names at most so many segments, and at most so many rules. */
const mostNamed = 3;
const listed = new Intl.ListFormat("en");

/** @param segments the names of segments whose filters have the segment @param rules the names of alert rules
 * that use it
 * @throws ApiError (conflict) when there is any */
export function refuseUsedSegment(segments: readonly string[], rules: readonly string[]): void {
  const uses = [...inWords("segment", segments), ...inWords("alert rule", rules)];
  if (uses.length === 0) return;
  const those =
    segments.length + rules.length === 1 ? `that ${segments.length === 1 ? "segment" : "rule"}` : "them";
  throw new ApiError(
    "conflict",
    `This segment is used by ${uses.join(" and by ")}: change or delete ${those} first.`,
  );
}

/** @param names none is answered by no words */
function inWords(kind: string, names: readonly string[]): readonly string[] {
  if (names.length === 0) return [];
  const named = names.slice(0, mostNamed);
  const others = names.length - named.length;
  const all = others === 0 ? named : [...named, `${others} more`];
  return [`the ${kind}${names.length === 1 ? "" : "s"} ${listed.format(all)}`];
}
