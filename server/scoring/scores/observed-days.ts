/**
 * The clock of scores, on which days without data collection do not pass. Idle days, tenures, gaps, windows
 * and periods are counted on it. An event that was stored on such a day counts as one of the day before the
 * outage.
 */
import type { DaySpan } from "./churn-changes.ts";

/** Spans of days on which data collection had stopped: in order, none of them empty, with a day between each
 * two. */
export type Outages = readonly DaySpan[];

/** The observed day that begins with a cut-off: one after the observed day of the day before. */
export function observedCutoff(cutoffDay: number, outages: Outages = []): number {
  return cutoffDay - daysWithin(outages, Number.NEGATIVE_INFINITY, cutoffDay);
}

/** The first calendar day of a window of observed days that ends with a cut-off. */
export function windowStart(cutoffDay: number, days: number, outages: Outages = []): number {
  return outages.toReversed().reduce((start, { from, to }) => {
    const missing = Math.min(to, cutoffDay) - from;
    return missing > 0 && to > start ? start - missing : start;
  }, cutoffDay - days);
}

/** The first cut-off that is so many observed days before another. */
export function cutoffBefore(cutoffDay: number, days: number, outages: Outages = []): number {
  const start = windowStart(cutoffDay, days, outages);
  return outages.find(({ to }) => to === start)?.from ?? start;
}

/** How many days of [from, to) belong to outages. */
export function daysWithin(outages: Outages, from: number, to: number): number {
  return outages.reduce(
    (sum, span) => sum + Math.max(0, Math.min(span.to, to) - Math.max(span.from, from)),
    0,
  );
}

/** The days of any of these spans before a day. */
export function joinedSpans(spans: readonly DaySpan[], beforeDay = Number.POSITIVE_INFINITY): DaySpan[] {
  const joined: DaySpan[] = [];
  for (const span of spans.toSorted((a, b) => a.from - b.from)) {
    const { from, to } = { from: span.from, to: Math.min(span.to, beforeDay) };
    const last = joined.at(-1);
    if (from >= to) continue;
    if (last === undefined || last.to < from) joined.push({ from, to });
    else joined[joined.length - 1] = { from: last.from, to: Math.max(last.to, to) };
  }
  return joined;
}
