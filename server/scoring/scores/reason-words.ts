/** The fact behind each reason of a churn risk, in words, and whether it is good or bad news. Pure. */
import type { ReasonGroup } from "../statistics/logistic.ts";
import type { BillingFeatures } from "./billing.ts";
import type { Features } from "./features.ts";
import { leastTenureDays } from "./momentum.ts";

export interface Fact {
  readonly text: string;
  /** How it reads: a fall in use is worse, a rise better. Null where a reader cannot tell. */
  readonly means: "worse" | "better" | null;
}

/** The facts of an entity. @param event the event that moves the mix the most @param previousVolume28 of
 * `Subject` */
export function factsOf(
  features: Features,
  event: string | null,
  previousVolume28?: number,
): Readonly<Record<ReasonGroup, Fact>> {
  return {
    use: factOfUse(features, previousVolume28),
    mix: factOfMix(features, event),
    billing: factOfBilling(features.billing),
    traits: { text: traitWords(features), means: null },
    seats: factOfSeats(features),
    pulse: factOfPulse(features),
    tenure: { text: `first seen ${days(features.tenureDays)} ago`, means: null },
    other: { text: "everything else", means: null },
  };
}

/** A change of use is told from here on: active days move by a tenth in most months. */
const toldFall = 0.8;
const toldRise = 1.25;
/** A silence is told from this many days on, and from this many usual gaps. */
const leastSilentDays = 3;
const leastGaps = 2;

/** "use fell by 69%; 1 of 4 members stopped". */
function factOfUse(features: Features, previousVolume28: number | undefined): Fact {
  const { hasSingleActiveDay, idleDays, meanGapDays, activeDays28 } = features;
  if (hasSingleActiveDay) {
    return { text: `active on one day only, ${days(idleDays)} ago`, means: idleDays > 1 ? "worse" : null };
  }
  const isSilent = idleDays >= Math.max(leastSilentDays, leastGaps * meanGapDays);
  const change = changeOfUse(features, previousVolume28);
  const silence = isSilent ? [`silent for ${days(idleDays)}, usually active ${everyDays(meanGapDays)}`] : [];
  const stopped = stoppedMembers(features);
  const bad = [...(change?.means === "worse" ? [change.text] : []), ...silence, ...stopped];
  if (bad.length > 0) return { text: bad.join("; "), means: "worse" };
  return change ?? { text: `active on ${activeDays28} of the last 28 days`, means: null };
}

/** Use in the last 28 days, compared with the 28 before. Undefined where it is about the same, or cannot be
 * compared yet. */
function changeOfUse(
  { tenureDays, volume28, activeDays28, activeDaysPrevious28 }: Features,
  previousVolume28: number | undefined,
): Fact | undefined {
  if (tenureDays < leastTenureDays) return undefined;
  const isByVolume = previousVolume28 !== undefined && previousVolume28 > 0;
  const before = isByVolume ? previousVolume28 : activeDaysPrevious28;
  const now = isByVolume ? volume28 : activeDays28;
  if (before === 0) return undefined;
  if (now === 0) return { text: "no use in 28 days", means: "worse" };
  const ratio = now / before;
  if (ratio > toldFall && ratio < toldRise) return undefined;
  const means = ratio <= toldFall ? "worse" : "better";
  const percent = Math.round(100 * Math.abs(1 - ratio));
  return {
    means,
    text: isByVolume
      ? `use ${means === "worse" ? "fell" : "rose"} by ${percent}%`
      : `active on ${days(activeDays28)}, after ${activeDaysPrevious28} in the 28 days before`,
  };
}

/** Members of an account who were active in 90 days and not in 28, where fewer are active than in the 28 days
 * before. */
function stoppedMembers({ members }: Features): readonly string[] {
  if (members === null || members.active28 > toldFall * members.activePrevious28) return [];
  const stopped = members.active90 - members.active28;
  if (stopped <= 0) return [];
  const whole = members.active90 === 1 ? "the only member" : `${stopped} of ${members.active90} members`;
  return [`${whole} stopped`];
}

function factOfMix({ eventCounts28, keyEventIdleDays }: Features, event: string | null): Fact {
  if (event !== null) {
    const count = eventCounts28[event] ?? 0;
    return { text: `${event} ${times(count)} in 28 days`, means: count === 0 ? "worse" : null };
  }
  if (keyEventIdleDays === null) return { text: "no key event in 26 weeks", means: "worse" };
  return {
    text: `last key event ${days(keyEventIdleDays)} ago`,
    means: keyEventIdleDays > 28 ? "worse" : null,
  };
}

/** The most telling facts of subscriptions. */
function factOfBilling(billing: BillingFeatures | null): Fact {
  if (billing === null) return { text: "no subscription", means: null };
  const { daysToPeriodEnd, ageDays } = billing;
  const facts = [
    ...(billing.endsAtMs === null ? [] : ["the end of the subscription is scheduled"]),
    ...(billing.hasFailedPayment ? ["a payment failed within 28 days"] : []),
    ...(billing.isTrialEnding ? ["a trial ends within 14 days"] : []),
    ...(billing.isDown ? ["MRR or quantity are lower than 84 days ago"] : []),
  ];
  if (facts.length > 0) return { text: facts.join(", "), means: "worse" };
  const price = billing.isYearly ? "a yearly contract" : "no yearly contract";
  const period = daysToPeriodEnd === null ? "" : `, ${days(Math.floor(daysToPeriodEnd))} left of the period`;
  return { text: `${price}, subscribed for ${days(Math.floor(ageDays))}${period}`, means: null };
}

/** Fewer than half of the seats read as bad news, nearly all of them as good news. */
const emptySeats = 0.5;
const fullSeats = 0.9;

function factOfSeats({ members, seats = null }: Features): Fact {
  if (members === null || seats === null) return { text: "seats are unknown", means: null };
  const used = members.active28 / seats;
  const means = used < emptySeats ? "worse" : used >= fullSeats ? "better" : null;
  return { text: `uses ${members.active28} of ${seats === 1 ? "1 seat" : `${seats} seats`}`, means };
}

function factOfPulse({ pulse = null }: Features): Fact {
  if (pulse === null) return { text: "no pulse", means: null };
  return { text: `pulse ${pulse} of 5`, means: pulse <= 2 ? "worse" : pulse >= 4 ? "better" : null };
}

function traitWords({ traits, numbers }: Features): string {
  const told = Object.entries({ ...traits, ...numbers }).map(([trait, value]) => `${trait} is ${value}`);
  return told.length === 0 ? "none of the traits that matter" : told.join(", ");
}

function everyDays(meanGapDays: number): string {
  const gap = Math.max(1, Math.round(meanGapDays));
  return gap === 1 ? "daily" : `every ${gap} days`;
}

function times(count: number): string {
  return count === 0 ? "not used" : count === 1 ? "once" : `${count} times`;
}

function days(count: number): string {
  return count === 1 ? "1 day" : `${count} days`;
}
