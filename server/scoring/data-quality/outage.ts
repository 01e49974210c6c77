/**
 * Data that stops. Seven days with fewer than half of the usual number of active entities are an outage of the data,
 * not a mass departure. To notice it before a week is over, the last two to six days are one, too, with fewer than a
 * tenth of the usual number.
 */
import { quantile } from "../statistics/vectors.ts";

/** Distinct active entities; index 0 ends with yesterday, each next one is a week earlier. */
export interface Activity {
  /** Of whole weeks. */
  readonly weeks: readonly number[];
  /** The same for only the last days of each week, by their number: 2 to 6. */
  readonly stretches: ReadonlyMap<number, readonly number[]>;
}

/** The usual is the median of the four newest weeks before that were none themselves, of the twelve before. */
const comparedWeeks = 4;
const rememberedWeeks = 12;
const leastComparedWeeks = 3;
/** Of a handful of entities, some are always silent at once. */
const leastMissing = 5;
const shareOfWeek = 0.5;
const shareOfStretch = 0.1;

/** Which weeks are outages, by their index. A fall that lasts for twelve weeks becomes the usual. */
export function outageWeeks(weeks: readonly number[]): ReadonlySet<number> {
  const found = new Set<number>();
  for (let index = weeks.length - 1; index >= 0; index -= 1) {
    const before = weeks
      .slice(index + 1, index + 1 + rememberedWeeks)
      .filter((_, distance) => !found.has(index + 1 + distance))
      .slice(0, comparedWeeks);
    if (isMissing(weeks[index] ?? 0, before, shareOfWeek)) found.add(index);
  }
  return found;
}

/** For how many days the data has stopped by T; 0 when it flows. */
export function stoppedForDays({ weeks, stretches }: Activity): number {
  const outages = outageWeeks(weeks);
  let stopped = 0;
  while (outages.has(stopped)) stopped += 1;
  if (stopped > 0) return 7 * stopped;
  for (const [days, counts] of [...stretches].sort(([a], [b]) => b - a)) {
    const before = counts.filter((_, index) => index > 0 && !outages.has(index)).slice(0, comparedWeeks);
    if (isMissing(counts[0] ?? 0, before, shareOfStretch)) return days;
  }
  return 0;
}

function isMissing(count: number, before: readonly number[], share: number): boolean {
  if (before.length < leastComparedWeeks) return false;
  const usual = quantile(before, 0.5);
  return usual - count >= leastMissing && count < share * usual;
}
