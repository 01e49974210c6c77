/** Whether a week is unusual: by its change against the week before, and by its level. */
import { studentT975 } from "./student.ts";
import { mean, quantile } from "./vectors.ts";

export interface UsualChange {
  /** The range of 19 of 20 changes. */
  readonly low: number;
  readonly high: number;
  /** Changes from which it was worked out. */
  readonly weeks: number;
}

export interface JudgedChange {
  /** The change of the newest week against the week before. */
  readonly change: number;
  /** Null with fewer than 8 changes before. */
  readonly usual: UsualChange | null;
  /** The position of the change relative to the usual range; null when it is unknown. */
  readonly side: "below" | "within" | "above" | null;
}

const leastWeeks = 8;
/** One or two persons more or less than the mean change are never unusual. */
const neverUnusual = 2;

/**
 * Judges the newest change by earlier ones: the 95 % prediction interval of one more such change, mean ± t ·
 * s · √(1 + 1/n). Undefined when one of the two newest is missing.
 * @param levels figures of whole weeks, the newest first; null for a week that says nothing about usual
 * changes
 */
export function judgeChange(levels: readonly (number | null)[]): JudgedChange | undefined {
  const [change, ...before] = levels.slice(1).map((level, index) => {
    const later = levels[index];
    return level === null || later == null ? null : later - level;
  });
  if (change == null) return undefined;
  const usual = usualOf(before.filter((each) => each !== null));
  return { change, usual, side: usual === null ? null : sideOf(change, usual) };
}

/** The usual level is the median of the four newest weeks before that were not quiet, of the twelve
 * before. */
const comparedWeeks = 4;
const rememberedWeeks = 12;
const leastComparedWeeks = 3;
/** Of a handful of users, some are always away at once. */
const leastBelow = 5;
const quietShare = 0.5;

/**
 * The weeks with fewer than half of the usual users: a holiday, say, or many who left at once. A fall that
 * lasts for twelve weeks becomes the usual.
 * @param levels active users of whole weeks, the newest first
 * @returns the usual level of each quiet week, by its index
 */
export function quietWeeks(levels: readonly number[]): ReadonlyMap<number, number> {
  const found = new Map<number, number>();
  for (const [index, level] of [...levels.entries()].toReversed()) {
    const before = levels
      .slice(index + 1, index + 1 + rememberedWeeks)
      .filter((_, distance) => !found.has(index + 1 + distance))
      .slice(0, comparedWeeks);
    if (before.length < leastComparedWeeks) continue;
    const usual = quantile(before, 0.5);
    if (usual - level >= leastBelow && level < quietShare * usual) found.set(index, usual);
  }
  return found;
}

function sideOf(change: number, { low, high }: UsualChange): "below" | "within" | "above" {
  if (change < low) return "below";
  return change > high ? "above" : "within";
}

function usualOf(changes: readonly number[]): UsualChange | null {
  const weeks = changes.length;
  if (weeks < leastWeeks) return null;
  const center = mean(changes);
  const variance = changes.reduce((sum, each) => sum + (each - center) ** 2, 0) / (weeks - 1);
  const half = studentT975(weeks - 1) * Math.sqrt(variance * (1 + 1 / weeks));
  return {
    low: center - Math.max(half, neverUnusual),
    high: center + Math.max(half, neverUnusual),
    weeks,
  };
}
