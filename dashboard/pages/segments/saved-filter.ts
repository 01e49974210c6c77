/** The filter of a segment from the parameters of a list, or why a segment would mean something else. */
import type { Filter } from "../../../contract/segments/filters.ts";
import { comparedDays } from "../../../contract/segments/segments.ts";
import type { Reads } from "../../api/paths.ts";
import { daysBetween, dayText } from "../../text/format.ts";

type UsersQuery = Reads["/api/users"]["query"] & Pick<Reads["/api/accounts"]["query"], SeatsFilter>;
/** Filters that only accounts have. */
type SeatsFilter = "seatsUsedFrom" | "seatsUsedTo" | "pulseFrom" | "pulseTo";
/** The parameters of a list of users or accounts that are about its rows. */
export type ListQuery = Partial<Pick<UsersQuery, keyof Filter | "segment" | keyof typeof listOnly>>;

/** Every condition that a segment can have. */
const conditions: Readonly<Record<keyof Filter, true>> = {
  traits: true,
  events: true,
  segments: true,
  owner: true,
  verdict: true,
  state: true,
  healthBand: true,
  riskBand: true,
  seenWithinDays: true,
  notSeenForDays: true,
  healthBandBefore: true,
  isPresent: true,
  moved: true,
  toCall: true,
  comparedWithDays: true,
  usageFellPercent: true,
  healthFellPoints: true,
  healthFellDays: true,
  activeFrom: true,
  activeTo: true,
  lifecycle: true,
  mrrFrom: true,
  mrrTo: true,
  subscriptionPlan: true,
  subscriptionStatus: true,
  renewsWithinDays: true,
  seatsUsedFrom: true,
  seatsUsedTo: true,
  pulseFrom: true,
  pulseTo: true,
};

/** Filters of lists that no segment has, and why. */
const listOnly = {
  search: "A segment keeps no searched text, which may name a user.",
  account: "A segment keeps no single account.",
  activeInAccount: "A segment keeps no single account.",
  excluded: "A segment never has excluded users.",
  since: "",
} as const satisfies Partial<Record<keyof UsersQuery, string>>;

/** The days that a list is read on: of the newest scores, and today. */
export interface ListDays {
  /** Null before the first scores. */
  readonly scored: string | null | undefined;
  readonly today: string;
}

/** The conditions among the parameters of a list, as a segment keeps them. Undefined without one. A day of
 * comparison becomes the days until the scores, or until today before the day's scores are there: 7 or 28. */
export function filterOfQuery(query: ListQuery, days: ListDays): Filter | undefined {
  const segments = segmentsOf(query);
  const { since } = query;
  const compared = since === undefined || !isCompared(query) ? undefined : daysSince(since, days);
  const all = {
    ...query,
    segments: segments.length === 0 ? undefined : segments,
    ...(compared !== undefined && { comparedWithDays: compared }),
  };
  const set = Object.entries(all).filter(
    ([name, value]) => Object.hasOwn(conditions, name) && value !== undefined,
  );
  return set.length === 0 ? undefined : (Object.fromEntries(set) as Filter);
}

/** Why a segment would mean something else than the list: a sentence for each reason. */
export function reasonsAgainst(query: ListQuery, days: ListDays): readonly string[] {
  const { since } = query;
  const isOtherDay = since !== undefined && isCompared(query) && daysSince(since, days) === undefined;
  return [
    ...Object.entries(listOnly).flatMap(([name, why]) =>
      why !== "" && query[name as keyof typeof listOnly] !== undefined ? [why] : [],
    ),
    ...(isOtherDay
      ? [
          `A segment compares with ${comparedDays.join(" or ")} days ago, and this list with ${dayText(since)}.`,
        ]
      : []),
  ].filter((why, at, all) => all.indexOf(why) === at);
}

/** Whether a day of comparison decides which rows there are. Else it decides what their change is compared
 * with. */
function isCompared({ moved, healthBandBefore }: ListQuery): boolean {
  return moved !== undefined || healthBandBefore !== undefined;
}

function daysSince(since: string, { scored, today }: ListDays): (typeof comparedDays)[number] | undefined {
  const between = [scored ?? today, today].map((day) => daysBetween(since, day));
  return comparedDays.find((days) => between.includes(days));
}

/** The segments of a list's address: those of both parameters. */
export function segmentsOf({
  segment,
  segments = [],
}: {
  readonly segment?: number | undefined;
  readonly segments?: readonly NonNullable<Filter["segments"]>[number][] | undefined;
}): NonNullable<Filter["segments"]>[number][] {
  return [...(segment === undefined ? [] : [{ segment }]), ...segments];
}
