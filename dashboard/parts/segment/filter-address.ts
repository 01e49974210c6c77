/** The filter of a segment from a list's parameters, and the list's address from the filter. */
import type { Reads } from "../../api/paths.ts";
import { traitOf } from "../list/trait-filter.tsx";
import { segmentsOf } from "./conditions.ts";
import type { SegmentFilter } from "./segments.ts";

type UsersQuery = Reads["/api/users"]["query"];
/** The parameters of a list of users or accounts that are about its rows. */
export type ListQuery = Partial<Pick<UsersQuery, keyof SegmentFilter | "segment" | keyof typeof listOnly>>;

/** Every condition that a segment can have. */
const conditions: Readonly<Record<keyof SegmentFilter, true>> = {
  ...{ traits: true, events: true, segments: true, owner: true },
  ...{
    verdict: true,
    state: true,
    healthBand: true,
    riskBand: true,
    seenWithinDays: true,
    notSeenForDays: true,
  },
  ...{ healthBandBefore: true, isPresent: true, moved: true, toCall: true },
  ...{ activeFrom: true, activeTo: true, lifecycle: true },
  ...{ mrrFrom: true, mrrTo: true, subscriptionPlan: true, subscriptionStatus: true, renewsWithinDays: true },
};

/** Filters of lists that no segment has, and their words. */
const listOnly = {
  search: "the searched text",
  account: "the account",
  activeInAccount: "the account of the activity",
  excluded: "excluded users",
  since: "the day of comparison",
} as const satisfies Partial<Record<keyof UsersQuery, string>>;

/** The conditions among the parameters of a list, as a segment keeps them. Undefined without one. */
export function filterOfQuery(query: ListQuery): SegmentFilter | undefined {
  const segments = segmentsOf(query);
  const all = { ...query, segments: segments.length === 0 ? undefined : segments };
  const set = Object.entries(all).filter(
    ([name, value]) => Object.hasOwn(conditions, name) && value !== undefined,
  );
  return set.length === 0 ? undefined : (Object.fromEntries(set) as SegmentFilter);
}

/** The words for set filters that are no part of a segment. */
export function leftOutOf(query: ListQuery): readonly string[] {
  return Object.entries(listOnly)
    .filter(([name]) => query[name as keyof typeof listOnly] !== undefined)
    .map(([, words]) => words);
}

/** The parameters of the list's address that has a filter. */
export function addressOfFilter({
  seenWithinDays,
  notSeenForDays,
  ...filter
}: SegmentFilter): Record<string, string> {
  const texts = Object.entries(filter).map(([name, value]) => [
    name,
    typeof value === "object" ? JSON.stringify(value) : String(value),
  ]);
  return {
    ...Object.fromEntries(texts),
    ...(seenWithinDays !== undefined && { seen: `within-${seenWithinDays}` }),
    ...(notSeenForDays !== undefined && { seen: `not-${notSeenForDays}` }),
  };
}

/** Whether a list can show all conditions of a filter. The API takes more than its address holds. */
export function fitsList({ seenWithinDays, notSeenForDays, traits = [] }: SegmentFilter): boolean {
  return (
    (seenWithinDays === undefined || notSeenForDays === undefined) &&
    traits.every(({ trait, match = "is", value = "" }) => traitOf(trait, match, value).length === 1)
  );
}
