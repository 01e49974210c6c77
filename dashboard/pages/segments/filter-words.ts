/** The filter of a segment in words, one text for each condition. */
import { useRead } from "../../api/query.ts";
import { useReportingCurrency } from "../../parts/billing/reporting-currency.ts";
import { statusWord } from "../../parts/billing/words.tsx";
import { activityWords, movementChips } from "../../parts/figure/figure-chips.tsx";
import type { MovementValues } from "../../parts/figure/figure-filters.ts";
import { healthWord } from "../../parts/figure/health.tsx";
import { verdictWord } from "../../parts/figure/verdict.tsx";
import { seenWords, stateWords } from "../../parts/list/list-filters.tsx";
import { traitWords } from "../../parts/list/trait-filter.tsx";
import { attributeName } from "../../text/attribute-names.ts";
import { counted } from "../../text/format.ts";
import { moneyIn } from "../../text/money.ts";
import { seatsChips } from "../../text/seats-words.ts";
import { eventWords, segmentWords } from "./condition-words.ts";
import { type SegmentFilter, type SegmentKind, useSegmentNames } from "./segments.ts";

/** The names that words need beside the filter. */
interface Names {
  readonly segments: ReadonlyMap<number, string>;
  /** Of team members, by their ids as texts. */
  readonly members: ReadonlyMap<string, string>;
  /** An amount of the reporting currency. */
  readonly money: (minorUnits: number) => string;
}

/** The function that says a filter in words. @param filters those that are said: amounts need the reporting
 * currency */
export function useFilterWords(
  filters: readonly (SegmentFilter | null | undefined)[],
): (kind: SegmentKind, filter: SegmentFilter) => readonly string[] {
  const enabled = filters.some((filter) => filter?.mrrFrom !== undefined || filter?.mrrTo !== undefined);
  const segments = useSegmentNames();
  const members = new Map(
    (useRead("/api/members").data?.members ?? []).map(({ id, name }) => [String(id), name]),
  );
  const currency = useReportingCurrency(enabled);
  const money = (minorUnits: number) => (currency === null ? "…" : moneyIn(currency).short(minorUnits));
  return (kind, filter) => [
    ...scoreWords(filter),
    ...seenOf(filter),
    ...subscriptionWords(filter, money),
    ...peopleWords(kind, filter, { segments, members, money }),
  ];
}

function scoreWords({ verdict, healthBand, riskBand, state, ...filter }: SegmentFilter): string[] {
  const { isPresent, healthBandBefore = "", moved = "", toCall, comparedWithDays } = filter;
  const { usageFellPercent, healthFellPoints, healthFellDays } = filter;
  const movement: MovementValues = {
    since: undefined,
    isPresent,
    healthBandBefore,
    moved,
    toCall,
    comparedWithDays,
    usageFellPercent,
    healthFellPoints,
    healthFellDays,
  };
  return [
    ...(verdict === undefined ? [] : [verdict === "not_churned" ? "Not churned" : verdictWord(verdict)]),
    ...(healthBand === undefined ? [] : [`Health: ${healthWord(healthBand)}`]),
    ...(riskBand === undefined ? [] : [`${riskBand.charAt(0).toUpperCase()}${riskBand.slice(1)} risk`]),
    ...movementChips(movement).map(({ text }) => text),
    ...seatsChips(filter).map(({ text }) => text),
    ...(state === undefined ? [] : [`State ${stateWords[state]}`]),
  ];
}

function seenOf({ seenWithinDays, notSeenForDays, ...filter }: SegmentFilter): string[] {
  const { activeFrom, activeTo, lifecycle = "" } = filter;
  return [
    ...(seenWithinDays === undefined ? [] : [seenWords({ how: "within", days: seenWithinDays })]),
    ...(notSeenForDays === undefined ? [] : [seenWords({ how: "not", days: notSeenForDays })]),
    ...(activeFrom === undefined
      ? []
      : [activityWords({ activeFrom, activeTo, lifecycle, activeInAccount: "" }, activeFrom)]),
  ];
}

function subscriptionWords(filter: SegmentFilter, money: Names["money"]): string[] {
  const { subscriptionStatus, subscriptionPlan, renewsWithinDays, mrrFrom, mrrTo } = filter;
  return [
    ...(subscriptionStatus === undefined ? [] : [`Subscription: ${statusWord(subscriptionStatus)}`]),
    ...(subscriptionPlan === undefined ? [] : [`Plan ${subscriptionPlan}`]),
    ...(renewsWithinDays === undefined ? [] : [`Renews within ${counted(renewsWithinDays, "day")}`]),
    ...(mrrFrom === undefined ? [] : [`MRR from ${money(mrrFrom)}`]),
    ...(mrrTo === undefined ? [] : [`MRR to ${money(mrrTo)}`]),
  ];
}

function peopleWords(
  kind: SegmentKind,
  { traits = [], events = [], segments = [], owner }: SegmentFilter,
  names: Names,
): string[] {
  return [
    ...(owner === undefined ? [] : [ownerWords(owner, names)]),
    ...traits.map(({ trait, match = "is", value = "" }) =>
      traitWords({ trait: kind === "accounts" ? attributeName(trait) : trait, match, value }),
    ),
    ...events.map(eventWords),
    ...segments.map((condition) => segmentWords(condition, names.segments)),
  ];
}

function ownerWords(owner: string, { members }: Names): string {
  if (owner === "nobody") return "Without owner";
  return owner === "me" ? "Owned by me" : `Owner ${members.get(owner) ?? "is a former team member"}`;
}
