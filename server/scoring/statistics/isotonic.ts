/**
 * Shares that never rise: those of a row of periods, of which fewer and fewer cohorts are known. A later
 * period with a higher share is taken together with the periods before it, weighted by users, until none is
 * higher (pool adjacent violators; Ayer et al. 1955). That is the falling row with the least squared error.
 * Otherwise one old cohort of 8 users lifted a curve from 75 % to 100 %.
 */
import type { Hits } from "./difference.ts";

interface Block extends Hits {
  readonly periods: number;
}

/** The share of each period, none higher than that before. @param periods counts above 0 */
export function neverRising(periods: readonly Hits[]): number[] {
  const blocks: Block[] = [];
  for (const { hits, count } of periods) {
    let block: Block = { hits, count, periods: 1 };
    for (let last = blocks.at(-1); last !== undefined && isHigher(block, last); last = blocks.at(-1)) {
      blocks.pop();
      block = together(last, block);
    }
    blocks.push(block);
  }
  return blocks.flatMap((block) => new Array<number>(block.periods).fill(block.hits / block.count));
}

function isHigher(block: Block, before: Block): boolean {
  return block.hits * before.count > before.hits * block.count;
}

function together(one: Block, other: Block): Block {
  return {
    hits: one.hits + other.hits,
    count: one.count + other.count,
    periods: one.periods + other.periods,
  };
}
