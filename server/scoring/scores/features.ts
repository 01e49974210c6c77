/**
 * The features of an entity (a user or an account) as of a cut-off day T: only engagement events of days
 * before T count. Days are calendar days of the organization's timezone, counted from 1970-01-01. Counts of
 * days and windows leave out days on which data collection had stopped (observed-days.ts).
 */
import { type ChurnTarget, silence } from "../../../contract/api/churn-targets.ts";
import type { Cell } from "../churn/bgbb.ts";
import type { BillingFeatures } from "./billing.ts";
import type { Outages } from "./observed-days.ts";

export interface FeatureSettings {
  /** Events that are done to the entity, as a mail sent; they are no engagement. */
  readonly passiveEvents?: ReadonlySet<string>;
  /** An event's weight in the volume; 1 unless set. */
  readonly weights?: ReadonlyMap<string, number>;
  /** The events that make up adoption; none means that adoption is no part of health. */
  readonly keyEvents?: readonly string[];
  /** The churn target; silence unless set. */
  readonly target?: ChurnTarget;
  /** Days on which data collection had stopped: in no count of days. Days at the cut-off or after it change
   * nothing. */
  readonly outages?: Outages;
  /** Names of events that are counted one by one; all unless set. */
  readonly countedEvents?: readonly string[];
}

/** Whether leaving is declared by an event, a trait or a subscription, and is not silence. */
export function isDeclared({ target = silence }: Pick<FeatureSettings, "target">): boolean {
  return target.by !== "silence";
}

export interface Features {
  /** T − last active day; at least 1. */
  readonly idleDays: number;
  /** T − first active day; at least 1. */
  readonly tenureDays: number;
  /** Distinct active days in [T−28, T), in the 28 days before those, and in [T−84, T). */
  readonly activeDays28: number;
  readonly activeDaysPrevious28: number;
  readonly activeDays84: number;
  /** Distinct active days in each of the last twelve weeks, the newest first. Empty in scores of version
   * 0.1.0. */
  readonly activeDaysByWeek: readonly number[];
  /** Σ weight · min(count, 50) over events and days of [T−28, T). */
  readonly volume28: number;
  /** Distinct event names in [T−28, T). */
  readonly eventNames28: number;
  /** How often each counted event was done in [T−28, T). Events that were not done are missing. */
  readonly eventCounts28: Readonly<Record<string, number>>;
  /** Mean days from one active day to the next; the tenure while there is only one. */
  readonly meanGapDays: number;
  /** The standard deviation of the days between successive active days of 26 weeks, divided by their mean;
   * null with fewer than two such gaps. */
  readonly gapVariability: number | null;
  readonly hasSingleActiveDay: boolean;
  /** The weeks of the window of 26 weeks; null when the entity was not seen in it. */
  readonly cell: Cell | null;
  /** The share of key events used in [T−90, T); null without key events. */
  readonly adoption: number | null;
  /** Days since the last key event of 26 weeks; null without any. */
  readonly keyEventIdleDays: number | null;
  /** Whether a declared churn target was met by then. Silence sets it for no entity. */
  readonly hasLeft: boolean;
  /** Traits as they were at T. */
  readonly traits: Readonly<Record<string, string>>;
  /** The numeric traits. */
  readonly numbers: Readonly<Record<string, number>>;
  /** Days since the trait `plan` got another value; null if it never did. */
  readonly planIdleDays: number | null;
  /** The account of a user; null without one, and for accounts. */
  readonly account: AccountFeatures | null;
  /** Additional features of accounts; null for users. */
  readonly members: MemberFeatures | null;
  /** Seats that an account bought, and the pulse that the team gave it, 1 to 5. Null, or left out, where they
   * are unknown. */
  readonly seats?: number | null;
  readonly pulse?: number | null;
  /** Facts of the subscriptions that the entity pays; null if none goes on. */
  readonly billing: BillingFeatures | null;
}

/** The active members of a user's account in [T−28, T), and in the 28 days before those. */
export type AccountFeatures = Pick<MemberFeatures, "active28" | "activePrevious28">;

/** How an account's members are doing. */
export interface MemberFeatures {
  /** Active in [T−28, T), in the 28 days before those, and in [T−90, T). */
  readonly active28: number;
  readonly activePrevious28: number;
  readonly active90: number;
  /** The most active member's share of the account's volume in [T−28, T), 0…1. */
  readonly topShare: number;
  /** The mean log-odds of the churn risks of members that have one; null when none has. */
  readonly meanRiskLogOdds: number | null;
}

export const daysPerPeriod = 7;
/** BG/BB's history of an entity. */
export const windowPeriods = 26;
/** More of one event on one day than this come from a program, and are no more engagement. */
export const maxCountPerDay = 50;
export const adoptionDays = 90;
export const weeksOfSlope = 12;

/** Features that do not follow from the entity's own events. */
export type FactsBeside = Pick<
  Features,
  "hasLeft" | "traits" | "numbers" | "planIdleDays" | "account" | "members" | "billing" | "seats" | "pulse"
>;
