/** The question about retention, as the page's address holds it, and the same in words. */
import { type Reads, useRead } from "../../api/query.ts";
import {
  choiceFilter,
  dayFilter,
  defaultsOf,
  labelledFilter,
  numberFilter,
  setValues,
  textFilter,
  useFilters,
  type Values,
} from "../../parts/list/filters.ts";
import { conditionFilters } from "../segments/conditions.ts";
import { hasFewUsers } from "./usual-period.ts";

/** Choices that are parameters of the API when they are set. */
const sameInApi = {
  /** Empty for any event. */
  returnEvent: textFilter(),
  from: dayFilter(),
  to: dayFilter(),
  segment: conditionFilters.segment,
};

/** Every choice of the page. Choices that are not in the address have their default. */
export const filters = {
  ...sameInApi,
  entry: choiceFilter(["firstEvent", "signUp", "event"], "firstEvent"),
  entryEvent: textFilter(),
  /** Empty: weeks, or months where weeks have few users. */
  period: choiceFilter(["", "day", "week", "month"], ""),
  /** Empty: as the organization has set it. */
  weekStart: choiceFilter(["", "1", "7"], ""),
  measure: choiceFilter(["in", "inOrAfter"], "in"),
  /** Empty: not split. */
  trait: textFilter(),
  of: choiceFilter(["user", "account"], "user"),
  asOf: labelledFilter({ entry: "at the first event", now: "as it is now" }, "entry"),
  /** 0: as many as is usual for the period. */
  periods: numberFilter(120),
  /** The groups that are open: their keys with commas between. */
  open: textFilter(),
  /** Whether users from before the data begins count in means. */
  alreadyHere: choiceFilter(["leftOut", "counted"], "leftOut"),
  /** Periods after a cohort's own at which groups are compared. 0 is the last reliable period. */
  compareAt: numberFilter(119),
  /** The two groups whose curves are drawn, by their keys. */
  first: textFilter(),
  second: textFilter(),
  /** The cell whose users are shown: a cohort's day, periods after it, a group's key, and which users. */
  cohort: dayFilter(),
  at: numberFilter(119),
  group: textFilter(),
  side: choiceFilter(["retained", "lost"], "retained"),
} as const;

type Chosen = Values<typeof filters>;
/** The choices with their values. */
export type Choices = Omit<Chosen, "period"> & {
  readonly period: Exclude<Chosen["period"], "">;
  /** Whether the page chose the period, not the reader. */
  readonly isUsualPeriod: boolean;
};

/** The choices of the address, and the function that changes some of them. */
export function useChoices(): readonly [Choices, (changed: Partial<Chosen>, isTyping?: boolean) => void] {
  const [chosen, change] = useFilters(filters);
  const usual = useUsualPeriod(chosen);
  return [
    { ...chosen, period: chosen.period === "" ? usual : chosen.period, isUsualPeriod: chosen.period === "" },
    change,
  ];
}

/** Weeks, or months where the weeks of the question without its split have few users: the grid would be full
 * of figures that may be far off. */
function useUsualPeriod(chosen: Chosen): "week" | "month" {
  const { entry, entryEvent, segment, from, to } = chosen;
  const weekly = queryOf({
    ...defaultsOf(filters),
    entry,
    entryEvent,
    segment,
    from,
    to,
    period: "week",
    isUsualPeriod: true,
  });
  const { data } = useRead("/api/retention", {
    query: weekly ?? {},
    enabled: chosen.period === "" && weekly !== undefined,
  });
  return data !== undefined && hasFewUsers(data.cells) ? "month" : "week";
}

/** The address's parameters without the cell whose people are shown. Which kind of people was looked at
 * stays. */
export const closedCell = { cohort: undefined, at: 0, group: "" } as const;

const usualPeriods = { day: 31, week: 26, month: 13 } as const;

/** How many periods are asked for, a cohort's own among them. */
export function periodsOf({ periods, period }: Choices): number {
  return periods === 0 ? usualPeriods[period] : periods;
}

/** The parameters of the question. Undefined while the event of entry has not been chosen. */
export function queryOf(choices: Choices): Reads["/api/retention"]["query"] | undefined {
  const { entry, entryEvent, period, weekStart, measure, trait, of, asOf, alreadyHere } = choices;
  if (entry === "event" && entryEvent === "") return undefined;
  return {
    entry,
    period,
    measure,
    periods: periodsOf(choices),
    ...setValues(sameInApi, choices),
    ...(entry === "event" && { entryEvent }),
    ...(alreadyHere === "counted" && { alreadyHere }),
    ...(period === "week" && weekStart !== "" && { weekStart: weekStart === "1" ? 1 : 7 }),
    ...(trait !== "" && { trait, of, asOf }),
  };
}

/** The question as a sentence. @param names of the organization's segments, by id */
export function sentenceOf(choices: Choices, names: ReadonlyMap<number, string>): string {
  const { segment, entry, entryEvent, returnEvent, period, measure, trait, of, asOf } = choices;
  const came =
    entry === "signUp"
      ? `signed up in a ${period}`
      : entry === "firstEvent"
        ? `were active for the first time in a ${period}`
        : `did “${entryEvent}” for the first time in a ${period}`;
  const back = returnEvent === "" ? "were active" : `did “${returnEvent}”`;
  const when = measure === "in" ? `in each ${period} after` : `in each ${period} after or in any later one`;
  const whose = of === "user" ? "" : " of their account";
  const split =
    trait === ""
      ? ""
      : ` Split by ${trait}${whose}, as it ${asOf === "entry" ? `was on the day they came` : "is now"}.`;
  const users = segment === undefined ? "users" : `users of the segment “${names.get(segment) ?? segment}”`;
  return `Of the ${users} who ${came}, the share who ${back} ${when}.${split}`;
}
