/** Whom to call first: the classes of the call list and its one order. See
 * server/analytics/README.md. Pure. */

import { type CallClass, callClasses, callListLimits } from "../../contract/call-list.ts";
import { counted } from "../../contract/counted.ts";
import { msPerDay } from "../calendar/zone.ts";
import { expectedLossOfPayer } from "../revenue/payer-now.ts";
import type { EntityKind } from "../scoring/queries/engagement-events.ts";
import { sharpFallPoints } from "../scoring/queries/lists/to-call.ts";

/** What the call list knows of a user or an account. Times are unix milliseconds. */
export interface CallFacts {
  /** The number of the user or the account. */
  readonly entity: number;
  readonly isPayer: boolean;
  /** In minor units of the reporting currency. Null of a payer whose currency has no rate; 0 without
   * revenue. */
  readonly mrr: number | null;
  /** MRR that ends as scheduled within `callListLimits.endDays`. */
  readonly scheduledMrr: number;
  /** The first end that is scheduled, and when the latest of them was scheduled. */
  readonly firstEndMs: number | null;
  readonly endSetMs: number | null;
  /** Since when a payment is overdue. */
  readonly pastDueMs: number | null;
  /** Whether it paid a churn horizon ago. */
  readonly hadMrr: boolean;
  /** Of the newest scores; empty without any. */
  readonly state: string;
  readonly risk: number | null;
  /** Of health within a week, in points. */
  readonly change: number | null;
  readonly idleDays: number | null;
  /** Activity events of the last 28 days, and of the 28 days before. */
  readonly volume28: number | null;
  readonly volumeBefore: number | null;
  /** Members who were active in these days, and in the last 90. A user is one member. */
  readonly activeMembers: number;
  readonly membersBefore: number;
  readonly members90: number;
}

/** What holds for all users, or for all accounts. */
export interface CallGround {
  readonly nowMs: number;
  readonly horizonDays: number;
  /** From this churn risk on, the risk is high. */
  readonly highRisk: number;
  /** Whether the churn target is silence. */
  readonly isSilence: boolean;
  /** Whether the churn target is the end of a subscription, and a model serves: only then is churn risk × MRR
   * a loss. */
  readonly hasLoss: boolean;
}

/** A place on the call list. */
export interface Call {
  readonly kind: EntityKind;
  readonly facts: CallFacts;
  readonly callClass: CallClass;
  /** MRR that ends as scheduled, and churn risk × the other MRR. Null where it is unknown. */
  readonly rankValue: number | null;
  /** Whether most of the silence that means churn has passed: probably too late. */
  readonly isLate: boolean;
}

/** Use that was lower before cannot fall in a way that means anything. */
export const leastVolumeBefore = 20;
/** Of the horizon of a silence target: later than this a call rarely turns anything. */
const lateShare = 0.75;

/** Whether use fell by half or more. */
function hasHalvedUse({ volume28, volumeBefore }: CallFacts): boolean {
  return (
    volume28 !== null &&
    volumeBefore !== null &&
    volumeBefore >= leastVolumeBefore &&
    volume28 <= volumeBefore / 2
  );
}

const holds: Readonly<Record<CallClass, (facts: CallFacts, ground: CallGround) => boolean>> = {
  end_scheduled: ({ scheduledMrr, mrr, firstEndMs }, { nowMs }) =>
    scheduledMrr > 0 ||
    (mrr === null && firstEndMs !== null && firstEndMs < nowMs + callListLimits.endDays * msPerDay),
  payment_overdue: ({ pastDueMs }) => pastDueMs !== null,
  high_risk: ({ risk, state }, { highRisk }) => state !== "churned" && risk !== null && risk >= highRisk,
  unused: ({ isPayer, hadMrr, idleDays }, { horizonDays }) =>
    isPayer && hadMrr && (idleDays === null || idleDays >= horizonDays),
  falling: (facts) => hasHalvedUse(facts) || (facts.change !== null && facts.change <= -sharpFallPoints),
};

/** The place of a user or an account. @returns undefined when no class holds */
export function callOf(kind: EntityKind, facts: CallFacts, ground: CallGround): Call | undefined {
  const callClass = callClasses.find((one) => holds[one](facts, ground));
  if (callClass === undefined) return undefined;
  const { mrr, scheduledMrr, risk, idleDays } = facts;
  return {
    kind,
    facts,
    callClass,
    rankValue: ground.hasLoss && facts.isPayer ? expectedLossOfPayer({ mrr, scheduledMrr }, risk) : null,
    isLate: ground.isSilence && idleDays !== null && idleDays >= lateShare * ground.horizonDays,
  };
}

/** The order of the call list. Those who can still be turned come first, then those with a `rankValue`, the
 * highest first; then the classes, the highest MRR, and the highest churn risk × active members. */
export function compareCalls(a: Call, b: Call): number {
  return (
    Number(a.isLate) - Number(b.isLate) ||
    Number(a.rankValue === null) - Number(b.rankValue === null) ||
    (b.rankValue ?? 0) - (a.rankValue ?? 0) ||
    callClasses.indexOf(a.callClass) - callClasses.indexOf(b.callClass) ||
    (b.facts.mrr ?? -1) - (a.facts.mrr ?? -1) ||
    weightOf(b.facts) - weightOf(a.facts) ||
    (a.facts.change ?? 0) - (b.facts.change ?? 0) ||
    a.kind.localeCompare(b.kind) ||
    a.facts.entity - b.facts.entity
  );
}

function weightOf({ risk, members90 }: CallFacts): number {
  return (risk ?? 0) * members90;
}

/** Whether one that was handled is worse by a class now: a class holds that did not hold then, and none
 * before it did.
 * @param riskThen the churn risk of that day; null without one */
export function isWorseSince(
  { callClass, facts }: Call,
  ground: CallGround,
  handledMs: number,
  riskThen: number | null,
): boolean {
  const daysSince = (ground.nowMs - handledMs) / msPerDay;
  const didHold: Readonly<Record<CallClass, boolean>> = {
    end_scheduled: facts.endSetMs !== null && facts.endSetMs <= handledMs,
    payment_overdue: facts.pastDueMs !== null && facts.pastDueMs <= handledMs,
    high_risk: riskThen !== null && riskThen >= ground.highRisk,
    unused: facts.idleDays === null || facts.idleDays - daysSince >= ground.horizonDays,
    // The last class: whoever was handled was in this or a better one.
    falling: true,
  };
  const upto = callClasses.slice(0, callClasses.indexOf(callClass) + 1);
  return !upto.some((one) => didHold[one]);
}

/** Of a call, in plain words: one sentence without its full stop.
 * @param cancelReason as the billing tool has it; empty without one @param dayOf the day of an instant in the
 * organization's timezone */
export function callReason(
  { callClass, facts, isLate }: Call,
  { horizonDays }: Pick<CallGround, "horizonDays">,
  { cancelReason, dayOf }: { readonly cancelReason: string; readonly dayOf: (ms: number) => number },
): string {
  const { firstEndMs, pastDueMs, scheduledMrr, mrr, idleDays, risk, change } = facts;
  if (isLate && idleDays !== null && callClass !== "end_scheduled" && callClass !== "payment_overdue") {
    return `Probably too late: not active for ${idleDays} of the ${horizonDays} days that count as churn`;
  }
  const late = isLate ? "; probably too late" : "";
  if (callClass === "end_scheduled") {
    const what = mrr !== null && scheduledMrr < mrr ? "Cancels a part" : "Cancels";
    const when = firstEndMs === null ? "" : ` on ${dayWords(dayOf(firstEndMs))}`;
    return `${what}${when}${cancelReason === "" ? "" : `: ${reasonWords(cancelReason)}`}${late}`;
  }
  if (callClass === "payment_overdue") {
    return `Payment failed${pastDueMs === null ? "" : ` on ${dayWords(dayOf(pastDueMs))}`}${late}`;
  }
  if (callClass === "unused") {
    return idleDays === null
      ? "Pays, and was not active in the last 26 weeks"
      : `Pays, and was not active for ${counted(idleDays, "day")}`;
  }
  const [first, ...rest] = wordsOfUse(facts);
  const fell =
    change !== null && change <= -sharpFallPoints
      ? [`health fell ${Math.round(-change)} points in a week`]
      : [];
  if (first !== undefined) return capital([first, ...rest, ...(rest.length === 0 ? fell : [])].join(", "));
  if (fell[0] !== undefined) return capital(fell[0]);
  return `High churn risk: ${percentDown(risk ?? 0)}`;
}

/** How use went, the weightiest first: a fall by a fifth or more, members who stopped, days without
 * activity. */
function wordsOfUse({
  volume28,
  volumeBefore,
  activeMembers,
  membersBefore,
  idleDays,
}: CallFacts): readonly string[] {
  const fall = volumeBefore === null || volumeBefore === 0 ? 0 : 1 - (volume28 ?? 0) / volumeBefore;
  const stopped = membersBefore - activeMembers;
  return [
    ...(fall >= leastFallSaid ? [`use fell ${percentDown(fall)}`] : []),
    ...(stopped > 0 ? [`${stopped} of ${counted(membersBefore, "member")} stopped`] : []),
    ...(idleDays !== null && idleDays >= leastIdleSaid ? [`not active for ${counted(idleDays, "day")}`] : []),
  ].slice(0, 2);
}

const leastFallSaid = 0.2;
const leastIdleSaid = 7;
const longestReason = 100;

/** 1 Jan. Within 90 days no year is needed. */
export function dayWords(day: number): string {
  return dates.format(new Date(day * msPerDay)).replace("Sept", "Sep");
}
const dates = new Intl.DateTimeFormat("en-GB", { day: "numeric", month: "short", timeZone: "UTC" });

/** A code such as too_expensive, or a customer's comment. */
function reasonWords(reason: string): string {
  const line = reason.replace(/\s+/g, " ").trim();
  const words = /^[a-z]+(_[a-z]+)*$/.test(line) ? line.replaceAll("_", " ") : line;
  return words.length > longestReason ? `${words.slice(0, longestReason - 1).trimEnd()}…` : words;
}

/** Whole per cent, rounded down as everywhere: 100 × 0.29 is 28.999999999999996. */
function percentDown(share: number): string {
  return `${Math.floor(Number((share * 100).toPrecision(14)))}%`;
}

function capital(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}
