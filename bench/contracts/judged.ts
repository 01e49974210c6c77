/**
 * A truth about seats and pulses that the simulated contracts do not have: each account fills a hidden share
 * of its seats and is satisfied to a hidden degree, and both alone end further contracts. Models see what a
 * service would see: a number of seats, and for most accounts what a team member judged before the day.
 */
import { type Random, Stream } from "../../simulation/random.ts";
import { type AccountAt, type ContractRow, horizonDays } from "./lives.ts";

/** The share of contracts that end in a month of 28 days where seats and satisfaction are as usual. */
const usualHazard = 0.012;
const highestHazard = 0.5;
/** What a standard deviation of either adds to the logarithm of the hazard. */
const [weightOfSeats, weightOfSatisfaction] = [0.9, 1.2];
const [usualFilled, spreadOfFilled, leastFilled, mostFilled] = [0.75, 0.25, 0.1, 1.2];
/** Satisfaction of a month is this share of that of the month before, and something new. */
const persistence = 0.85;
/** A team judges this share of accounts each month, and errs by so many standard deviations. */
const [shareJudged, errorOfJudgement] = [0.8, 0.5];

interface Month {
  readonly hazard: number;
  /** Judged in this month, so known from the next on; null where nobody judged. */
  readonly pulse: number | null;
}

/** Seats and satisfaction of an account, and the contract's end by them. */
class JudgedAccount {
  readonly #firstDay: number;
  readonly #filled: number;
  readonly #months: readonly Month[];
  /** The day of the end by seats or satisfaction; infinite without one. */
  readonly endDay: number;

  constructor(random: Random, firstDay: number, months: number) {
    this.#firstDay = firstDay;
    this.#filled = Math.min(mostFilled, Math.max(leastFilled, random.normal(usualFilled, spreadOfFilled)));
    let satisfaction = random.normal(0, 1);
    this.#months = Array.from({ length: months }, () => {
      const badness =
        (weightOfSeats * (usualFilled - this.#filled)) / spreadOfFilled - weightOfSatisfaction * satisfaction;
      const judged = Math.round(3 + satisfaction + random.normal(0, errorOfJudgement));
      const pulse = random.chance(shareJudged) ? Math.min(5, Math.max(1, judged)) : null;
      satisfaction = persistence * satisfaction + random.normal(0, Math.sqrt(1 - persistence ** 2));
      return { hazard: Math.min(highestHazard, usualHazard * Math.exp(badness)), pulse };
    });
    const ends = this.#months.map(({ hazard }) => [random.chance(hazard), random.between(0, 27)] as const);
    const ending = ends.findIndex(([isEnd]) => isEnd);
    this.endDay =
      ending < 0 ? Number.POSITIVE_INFINITY : firstDay + ending * horizonDays + (ends[ending]?.[1] ?? 0);
  }

  /** A row of the account on a day; undefined once the contract has ended. */
  row(row: ContractRow, cutoffDay: number): ContractRow | undefined {
    if (this.endDay < cutoffDay) return undefined;
    const at = Math.floor((cutoffDay - this.#firstDay) / horizonDays);
    const hazard = this.#months[at]?.hazard ?? 0;
    const active = row.features.members?.active28 ?? 0;
    const { endProbability } = row;
    return {
      ...row,
      label: row.label || this.endDay < cutoffDay + horizonDays,
      endProbability: endProbability === null ? null : 1 - (1 - endProbability) * (1 - hazard),
      features: {
        ...row.features,
        seats: Math.max(1, Math.round(active / this.#filled)),
        pulse: this.#months[at - 1]?.pulse ?? null,
      },
    };
  }
}

/** An account's days with seats and pulses. @param firstDay of the log @param days of the log */
export function withSeatsAndPulses(
  { seed, number }: { readonly seed: number; readonly number: number },
  lives: readonly AccountAt[],
  { firstDay, days }: { readonly firstDay: number; readonly days: number },
): readonly AccountAt[] {
  const account = new JudgedAccount(new Stream(seed, number, 9), firstDay, Math.ceil(days / horizonDays));
  return lives.map((life) => ({ ...life, row: life.row && account.row(life.row, life.cutoffDay) }));
}
