/** Prices of the invented product, and chances of its payments. */
import { plans } from "./catalogue.ts";

/** Of a seat for a month, in cents: those of the smallest paid plan first. A year costs ten months. */
const monthlySeatCents = [0, 1_500, 2_200, 3_000];
const monthsPaidOfYear = 10;

export type Interval = "month" | "year";

export const monthsOf: Readonly<Record<Interval, number>> = { month: 1, year: 12 };

/** The share of accounts that pay by the year, by the place of their first paid plan in `plans`. */
export const yearlyShare = [0, 0.15, 0.35, 0.7];
/** The share of accounts that pay in euros. The others pay in dollars. */
export const euroShare = 0.2;
/** Dollars for a euro: the demonstration sets this rate. */
export const dollarsPerEuro = 1.1;

export const trialDays = 14;
/** The share of accounts that begin with a trial: those on a paid plan convert, those on the free plan try
 * the next one. */
export const trialShare = { paid: 0.6, free: 0.35 } as const;

/** A failed payment is tried again after so many days, and ends the subscription after `patienceDays`. */
export const retryDays = [3, 7];
export const patienceDays = 14;
/** Chances of a payment. */
export const chances = { fails: 0.05, recovers: 0.65, disputed: 0.004 } as const;
/** The share of canceled subscriptions whose last payment is refunded. */
export const refundShare = 0.2;
/** The chance in a month that a monthly subscription of the two smallest plans is paused for the next one. */
export const pauseChance = 0.006;
/** An account that has users on a smaller share of its seats gives up half of the others, by chance at each
 * renewal. */
export const givingUp = { belowShare: 0.7, chance: 0.25 } as const;
/** Accounts that work little pay in some months only. At a renewal the chance of an end falls from `chance`
 * with the work of the users. It is half of it where each user is active on `workPerUser` of the working
 * days, or where all of them together do the work of `worthwhileWork` users who are active on each. In each
 * later month an account subscribes again with `returnChance`, while users of it work. */
export const breaks = {
  chance: 0.6,
  workPerUser: 0.14,
  worthwhileWork: 0.3,
  steepness: 4,
  returnChance: 0.4,
} as const;
/** The share of subscriptions whose payment fails for good once the account has no users. The others are
 * canceled. */
export const unpaidShare = 0.5;

/** Why an account left, as its billing tool says it. Feedback is empty where it said nothing beside. */
export interface StatedReason {
  readonly reason: string;
  readonly feedback: string;
}

/** Reasons of scheduled cancellations, each with what some accounts say beside it. */
export const reasons: readonly {
  readonly weight: number;
  readonly reason: string;
  readonly feedback: readonly string[];
}[] = [
  {
    weight: 28,
    reason: "unused",
    feedback: ["We no longer use it.", "The team went back to spreadsheets.", "Our project is over.", ""],
  },
  {
    weight: 24,
    reason: "too_expensive",
    feedback: [
      "It costs more than it saves us.",
      "We pay for seats that nobody uses.",
      "Our budget was cut.",
      "",
    ],
  },
  {
    weight: 19,
    reason: "switched_service",
    feedback: ["We moved to another product.", "Our parent company has a tool of its own.", ""],
  },
  {
    weight: 14,
    reason: "missing_features",
    feedback: ["Reports lack a view by client.", "We need sign-in by our own provider.", ""],
  },
  { weight: 9, reason: "customer_service", feedback: ["Answers took too long.", ""] },
  { weight: 6, reason: "too_complex", feedback: ["New colleagues never found their way.", ""] },
];

/** The price of a plan, in minor units, for all seats and one interval. */
export function priceOf(plan: number, seats: number, interval: Interval): number {
  const monthly = (monthlySeatCents[plan] ?? 0) * seats;
  return interval === "year" ? monthly * monthsPaidOfYear : monthly;
}

/** The place of a plan in `plans`. */
export function placeOf(planName: string): number {
  return plans.findIndex(({ name }) => name === planName);
}
