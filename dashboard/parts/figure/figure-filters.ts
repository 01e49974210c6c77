/** Filters of lists that figures lead to. They stand in the address under the names that the API has for
 * them, and on the page as chips: figure-chips.tsx. */

import { comparedDays } from "../../../contract/segments/segments.ts";
import type { Reads } from "../../api/paths.ts";
import {
  choiceFilter,
  dayFilter,
  type Filter,
  flagFilter,
  optionalNumberFilter,
  textFilter,
  type Values,
} from "../list/filters.ts";

type Query = Reads["/api/users"]["query"];
export type Moved = NonNullable<Query["moved"]>;
export type Lifecycle = NonNullable<Query["lifecycle"]>;

const moves: readonly Moved[] = ["changed", "worse", "better", "fell", "rose", "churned", "returned"];
const stages: readonly Lifecycle[] = ["new", "returning", "resurrected", "dormant"];
const healthBands = ["healthy", "watch", "at_risk", "onboarding", "churned", "none", "present"] as const;

type ComparedDays = (typeof comparedDays)[number];
const comparedFilter: Filter<ComparedDays | undefined> = {
  read: (text) => comparedDays.find((days) => String(days) === text),
  write: (days) => days?.toString(),
};

/** Those of users and of accounts. */
export const movementFilters = {
  since: dayFilter(),
  isPresent: flagFilter(),
  healthBandBefore: choiceFilter(["", ...healthBands], ""),
  moved: choiceFilter<Moved | "">(["", ...moves], ""),
  toCall: flagFilter(),
  /** Segments say so in place of a day. */
  comparedWithDays: comparedFilter,
  usageFellPercent: optionalNumberFilter(100, 1),
  healthFellPoints: optionalNumberFilter(100, 1),
  healthFellDays: optionalNumberFilter(28, 1),
};
export type MovementValues = Values<typeof movementFilters>;

/** Those of users alone. */
export const activityFilters = {
  activeFrom: dayFilter(),
  activeTo: dayFilter(),
  lifecycle: choiceFilter<Lifecycle | "">(["", ...stages], ""),
  activeInAccount: textFilter(),
};
export type ActivityValues = Values<typeof activityFilters>;
