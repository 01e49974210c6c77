/**
 * Why contracts end. An account is in one hidden situation at a time. It is never reported: it shows only in
 * which features are used more or less, in seats, and in the hazard of deciding to end the contract. Two
 * situations change the mix of use and are harmless, so a change of the mix alone proves nothing.
 */
import type { Random } from "../../../simulation/random.ts";

export interface Situation {
  readonly name: string;
  /** The chance a day that a settled account gets into it. */
  readonly onset: number;
  /** Mean days until the account is settled again, unless the contract ends before. */
  readonly meanDays: number;
  /** The chance a day of deciding to end the contract, for an average account. */
  readonly hazard: number;
  /** By feature: how much more it is used once the situation has its full effect. 1 for features not
   * named. */
  readonly use: Readonly<Record<string, number>>;
  /** How often members come, against an ordinary day. */
  readonly presence: number;
  /** The chance on a billing day that seats are given up, and that some are added. */
  readonly fewerSeats: number;
  readonly moreSeats: number;
}

/** The situation in which most accounts are most of the time. */
export const settled: Situation = {
  name: "settled",
  onset: 0,
  meanDays: Number.POSITIVE_INFINITY,
  hazard: 0.0006,
  use: {},
  presence: 1,
  fewerSeats: 0.02,
  moreSeats: 0.05,
};

/** Every situation. The first is `settled`, and every other one begins and ends there. */
export const situations: readonly Situation[] = [
  settled,
  {
    name: "outgrown",
    onset: 0.0009,
    meanDays: 80,
    hazard: 0.01,
    presence: 1,
    use: {
      automation_run: 0.35,
      dashboard_shared: 0.4,
      report_created: 0.6,
      export_downloaded: 2.4,
      api_called: 1.8,
    },
    fewerSeats: 0.04,
    moreSeats: 0.04,
  },
  {
    name: "rival",
    onset: 0.0009,
    meanDays: 60,
    hazard: 0.015,
    presence: 1,
    use: { integration_synced: 0.35, report_created: 0.5, automation_run: 0.6, export_downloaded: 2.8 },
    fewerSeats: 0.06,
    moreSeats: 0.02,
  },
  {
    name: "costs",
    onset: 0.0009,
    meanDays: 80,
    hazard: 0.01,
    presence: 1,
    use: {
      report_created: 0.4,
      dashboard_shared: 0.5,
      integration_synced: 0.6,
      invoice_viewed: 3,
      teammate_invited: 0.3,
    },
    fewerSeats: 0.3,
    moreSeats: 0.01,
  },
  {
    name: "friction",
    onset: 0.0009,
    meanDays: 60,
    hazard: 0.01,
    presence: 1,
    use: {
      automation_run: 0.4,
      integration_synced: 0.6,
      help_opened: 2.6,
      ticket_opened: 3,
      search_run: 1.5,
    },
    fewerSeats: 0.04,
    moreSeats: 0.03,
  },
  {
    name: "orphaned",
    onset: 0.0008,
    meanDays: 90,
    hazard: 0.0075,
    presence: 1,
    use: { report_created: 0.4, dashboard_shared: 0.35, automation_run: 0.6, settings_changed: 0.2 },
    fewerSeats: 0.05,
    moreSeats: 0.01,
  },
  {
    name: "fading",
    onset: 0.0003,
    meanDays: 60,
    hazard: 0.01,
    presence: 0.5,
    use: {},
    fewerSeats: 0.08,
    moreSeats: 0.01,
  },
  {
    name: "audit",
    onset: 0.0012,
    meanDays: 40,
    hazard: 0.0006,
    presence: 1,
    use: { export_downloaded: 2.2, report_viewed: 1.8 },
    fewerSeats: 0.02,
    moreSeats: 0.05,
  },
  {
    name: "rollout",
    onset: 0.0012,
    meanDays: 45,
    hazard: 0.0003,
    presence: 1.1,
    use: { help_opened: 2, integration_synced: 1.3, teammate_invited: 3, settings_changed: 2 },
    fewerSeats: 0,
    moreSeats: 0.4,
  },
];

/** Days until a situation has its full effect on use. */
const daysToFullEffect = 18;

/** How much of its effect on use a situation has on a day, 0 to 1. */
export function effectOn(day: number, sinceDay: number): number {
  return Math.min(1, Math.max(0, day - sinceDay) / daysToFullEffect);
}

/** The situation a day later: the same, or another. */
export function nextSituation(situation: Situation, random: Random): Situation {
  const drawn = random.next();
  if (situation !== settled) return drawn < 1 / situation.meanDays ? settled : situation;
  let left = drawn;
  for (const other of situations) {
    left -= other.onset;
    if (left < 0) return other;
  }
  return settled;
}

/** The situation of an account that is older than the log. Contracts that have ended are left out of account,
 * so it is a little too often a dangerous one; a few weeks of the log correct that. */
export function earlierSituation(random: Random): Situation {
  const weights = situations.map((situation) => ({
    situation,
    weight: situation === settled ? 1 : situation.onset * situation.meanDays,
  }));
  return random.weighted(weights).situation;
}
