/** The lists behind figures of the overview, by the parameters of their addresses. */
import type { Lifecycle, Moved } from "../../parts/figure/figure-filters.ts";
import type { HealthBand } from "../../parts/figure/health.tsx";
import type { State } from "../../parts/list/list-address.ts";
import type { ListBehind } from "../../parts/list/list-link.tsx";
import { dayPlus } from "../../text/format.ts";
import { type Kind, plural } from "./filters.ts";

/** Users active in this many days that end with a day. */
export function usersActive(toDay: string, days = 1): ListBehind {
  return usersOf({ activeFrom: dayPlus(toDay, 1 - days), activeTo: toDay });
}

/** Users in a stage of the lifecycle in a week. All active users without one. */
export function usersInStage(fromDay: string, toDay: string, lifecycle?: Lifecycle): ListBehind {
  return usersOf({
    activeFrom: fromDay,
    activeTo: toDay,
    ...(lifecycle !== undefined && { lifecycle }),
  });
}

/** Users active in an account in this many days before a day. They may belong to another account now. */
export function usersActiveIn(account: string, beforeDay: string, days: number): ListBehind {
  return usersOf({
    activeInAccount: account,
    activeFrom: dayPlus(beforeDay, -days),
    activeTo: dayPlus(beforeDay, -1),
  });
}

/** Members of an account who count in figures. */
export function membersOf(account: string): ListBehind {
  return usersOf({ account });
}

/** Users or accounts that match all filters. */
export function those(kind: Kind, query: ListBehind["query"]): ListBehind {
  return { page: plural[kind], query };
}

/** The part of a list that is in a segment. @param segment undefined for all of it */
export function inSegment({ page, query }: ListBehind, segment: number | undefined): ListBehind {
  return { page, query: { ...query, ...(segment !== undefined && { segment: String(segment) }) } };
}

type BandOrPresent = HealthBand | "present";

/** Users or accounts in a health band now. `present` is any but churned and none. */
export function thoseNow(kind: Kind, healthBand: BandOrPresent): ListBehind {
  return those(kind, healthBand === "present" ? { isPresent: "true" } : { healthBand });
}

/** Users or accounts that were in the band on an earlier day with scores. */
export function thoseOn(kind: Kind, day: string, before: BandOrPresent): ListBehind {
  return those(kind, { healthBandBefore: before, since: day });
}

/** Users or accounts that went from one band to another since an earlier day with scores, and not by changed
 * rules alone. */
export function thoseWent(kind: Kind, since: string, before: HealthBand, healthBand: HealthBand): ListBehind {
  return those(kind, { healthBandBefore: before, healthBand, moved: "changed", since });
}

/** Users or accounts whose health moved in one direction since an earlier day with scores. @param state only
 * those */
export function thoseMoved(kind: Kind, moved: Moved, since: string, state?: State): ListBehind {
  return those(kind, {
    moved,
    since,
    sort: "change",
    ...(moved === "fell" && { order: "ascending" }),
    ...(state !== undefined && { state }),
  });
}

function usersOf(query: ListBehind["query"]): ListBehind {
  return { page: "users", query };
}
