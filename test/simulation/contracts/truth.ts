/** The truth about a contract that would be unknown of a real one. Days count from 1970-01-01. */
import type { Change } from "../../../simulation/truth.ts";
import {
  atOnceShare,
  type Contract,
  type Ending,
  retryDays,
  unpaidDays,
  withdrawnShare,
} from "./contract.ts";
import { type Situation, settled, situations } from "./reasons.ts";

export interface ContractTruth {
  readonly accountId: string;
  readonly startedDay: number;
  /** Names of hidden situations; in time order. */
  readonly situations: readonly Change<string>[];
  /** The first day without the contract; null while it runs. */
  readonly endedDay: number | null;
  readonly ending: Ending | null;
  readonly months: readonly TrueMonth[];
}

/** The true hazard of an account in the 28 days from a day. */
export interface TrueMonth {
  readonly fromDay: number;
  /** The probability that the contract ends in these days, given everything that is hidden. */
  readonly endProbability: number;
  /** Whether an end was scheduled already: it is known, and no prediction. */
  readonly isCanceling: boolean;
}

/** The hidden state of a contract on the morning of a day. */
export interface HiddenState {
  readonly contract: Contract;
  readonly situation: Situation;
  /** The chance of a decision on a day, in a situation. */
  readonly decisionHazard: (situation: Situation, day: number) => number;
}

/**
 * The probability that a running contract ends on one of the `horizonDays` days from `day`. It is exact: a
 * recursion over the days, with the probability of each situation, times that of the payments, which do not
 * depend on it.
 */
export function endProbability(state: HiddenState, day: number, horizonDays: number): number {
  const stays = 1 - canceledProbability(state, day, horizonDays);
  return 1 - stays * (1 - unpaidProbability(state.contract, day, horizonDays));
}

function canceledProbability(state: HiddenState, fromDay: number, horizonDays: number): number {
  const { contract, situation, decisionHazard } = state;
  let running = situations.map((each) => Number(each === situation));
  let scheduled = 0;
  let endsDay = contract.endsDay ?? contract.periodEndAfter(fromDay - 1);
  if (contract.endsDay !== null) [running, scheduled] = [running.map(() => 0), 1];
  let ended = 0;
  for (let day = fromDay; day < fromDay + horizonDays; day += 1) {
    if (day === endsDay) {
      ended += scheduled * (1 - withdrawnShare);
      running[0] = (running[0] ?? 0) + scheduled * withdrawnShare;
      scheduled = 0;
      endsDay = contract.periodEndAfter(day);
    }
    running = dayLater(running);
    for (const [index, each] of situations.entries()) {
      const deciding = (running[index] ?? 0) * decisionHazard(each, day);
      running[index] = (running[index] ?? 0) - deciding;
      ended += deciding * atOnceShare;
      scheduled += deciding * (1 - atOnceShare);
    }
  }
  return ended;
}

/** The probabilities of situations a day later, as `nextSituation` draws them. */
function dayLater(running: readonly number[]): number[] {
  const wasSettled = running[0] ?? 0;
  let nowSettled = wasSettled;
  const later = situations.map((situation, index) => {
    if (situation === settled) return 0;
    const was = running[index] ?? 0;
    const [entering, leaving] = [wasSettled * situation.onset, was / situation.meanDays];
    nowSettled += leaving - entering;
    return was + entering - leaving;
  });
  later[0] = nowSettled;
  return later;
}

function unpaidProbability(contract: Contract, fromDay: number, horizonDays: number): number {
  const { failureChance, retryChance } = contract.terms;
  const untilDay = fromDay + horizonDays;
  let stays = 1;
  if (contract.failedDay !== null) {
    const { failedDay } = contract;
    const retries = retryDays.filter((days) => failedDay + days >= fromDay).length;
    if (failedDay + unpaidDays < untilDay) stays = 1 - (1 - retryChance) ** retries;
  }
  let billingDay = contract.periodEndAfter(fromDay - 1);
  for (; billingDay + unpaidDays < untilDay; billingDay = contract.periodEndAfter(billingDay)) {
    stays *= 1 - failureChance * (1 - retryChance) ** retryDays.length;
  }
  return 1 - stays;
}
