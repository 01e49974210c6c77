/** Entities for tests. */
import type { BgbbParameters } from "../../server/scoring/churn/bgbb.ts";
import type { CountedCell } from "../../server/scoring/churn/bgbb-fit.ts";
import type { Features } from "../../server/scoring/scores/features.ts";
import { type DayEvent, noFacts } from "./features.ts";
import { randomBeta, randomFrom } from "./random.ts";
import type { EntityLog } from "./snapshot.ts";

/** An entity that was active on a single day, 20 days ago. */
export const quiet: Features = {
  idleDays: 20,
  tenureDays: 20,
  activeDays28: 1,
  activeDaysPrevious28: 0,
  activeDays84: 1,
  activeDaysByWeek: [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  volume28: 1,
  eventNames28: 1,
  eventCounts28: { open: 1 },
  meanGapDays: 20,
  gapVariability: null,
  hasSingleActiveDay: true,
  cell: { x: 0, t: 0, n: 2 },
  adoption: null,
  keyEventIdleDays: null,
  ...noFacts,
};

/** The first day of simulated logs. */
export const simulatedFrom = 20_000;

/**
 * Entities that begin at random days of the first half. Each has a probability of its own to be active on a
 * day, and another one to leave for good.
 */
export function simulateLogs(count: number, days: number, seed: number): EntityLog[] {
  const random = randomFrom(seed);
  return Array.from({ length: count }, () => {
    const [activity, leaving] = [randomBeta(random, 0.6, 2), randomBeta(random, 0.5, 30)];
    const log: DayEvent[] = [];
    const first = Math.floor((random() * days) / 2);
    for (let day = first; day < days; day++) {
      if (day === first || random() < activity) {
        log.push({ day: simulatedFrom + day, event: random() < 0.7 ? "open" : "save", count: 1 });
      }
      if (random() < leaving) break;
    }
    return { log, traits: { plan: activity > 0.3 ? "pro" : "free" } };
  });
}

/** Entities that live by BG/BB itself, seen for 1 to 25 periods, as cells. */
export function simulateCells(
  count: number,
  { alpha, beta, gamma, delta }: BgbbParameters,
  seed: number,
): CountedCell[] {
  const random = randomFrom(seed);
  const cells = new Map<string, CountedCell>();
  for (let entity = 0; entity < count; entity++) {
    const [p, leaving] = [randomBeta(random, alpha, beta), randomBeta(random, gamma, delta)];
    const n = 1 + Math.floor(random() * 25);
    let [x, t] = [0, 0];
    for (let period = 1; period <= n && random() >= leaving; period++) {
      if (random() < p) [x, t] = [x + 1, period];
    }
    const key = `${x} ${t} ${n}`;
    cells.set(key, { x, t, n, count: (cells.get(key)?.count ?? 0) + 1 });
  }
  return [...cells.values()];
}
