/** The clock that leaves out days without data collection, beside counting day by day. */
import { expect, test } from "bun:test";
import fc from "fast-check";
import {
  cutoffBefore,
  daysWithin,
  joinedSpans,
  type Outages,
  observedCutoff,
  windowStart,
} from "../../server/scoring/scores/observed-days.ts";
import { featuresOf, observedDay } from "./features.ts";

const spans = fc.array(
  fc
    .record({ from: fc.integer({ min: 0, max: 100 }), length: fc.integer({ min: 0, max: 15 }) })
    .map(({ from, length }) => ({ from, to: from + length })),
  { maxLength: 8 },
);
const aDay = fc.integer({ min: -5, max: 130 });

function isOutage(day: number, outages: Outages): boolean {
  return outages.some(({ from, to }) => day >= from && day < to);
}

/** Days of [from, to) that are no outage, one by one. */
function counted(from: number, to: number, outages: Outages): number {
  const days = Array.from({ length: Math.max(0, to - from) }, (_, index) => from + index);
  return days.filter((day) => !isOutage(day, outages)).length;
}

test("spans are joined to the same days, in order and apart", () => {
  fc.assert(
    fc.property(spans, aDay, (some, beforeDay) => {
      const joined = joinedSpans(some, beforeDay);
      for (let day = -5; day < 130; day += 1) {
        expect(isOutage(day, joined)).toBe(day < beforeDay && isOutage(day, some));
      }
      for (const [index, { from, to }] of joined.entries()) {
        expect(from).toBeLessThan(to);
        expect(from).toBeGreaterThan(joined[index - 1]?.to ?? Number.NEGATIVE_INFINITY);
      }
    }),
  );
});

test("the days between an event and a cut-off are those on which data was collected, and at least one", () => {
  fc.assert(
    fc.property(
      spans.map((some) => joinedSpans(some)),
      aDay,
      aDay,
      (outages, one, other) => {
        const [day, cutoffDay] = [Math.min(one, other), Math.max(one, other) + 1];
        const ago = observedCutoff(cutoffDay, outages) - observedDay(day, outages);
        // An event of an outage's day counts as one of the day before the outage.
        const asOf = outages.find(({ from, to }) => day >= from && day < to)?.from ?? day + 1;
        expect(ago).toBe(1 + counted(asOf, cutoffDay, outages));
        expect(daysWithin(outages, day, cutoffDay)).toBe(cutoffDay - day - counted(day, cutoffDay, outages));
      },
    ),
  );
});

test("a window has so many observed days, and begins with the first event that is not older", () => {
  fc.assert(
    fc.property(
      spans.map((some) => joinedSpans(some)),
      aDay,
      fc.integer({ min: 1, max: 60 }),
      (outages, cutoffDay, days) => {
        const start = windowStart(cutoffDay, days, outages);
        expect(counted(start, cutoffDay, outages)).toBe(days);
        expect(isOutage(start, outages)).toBe(false);
        const ago = (day: number) => observedCutoff(cutoffDay, outages) - observedDay(day, outages);
        expect([ago(start), ago(start - 1)]).toEqual([days, days + 1]);
      },
    ),
  );
});

test("an entity is idle for the horizon from the first cut-off on at which it is", () => {
  fc.assert(
    fc.property(
      spans.map((some) => joinedSpans(some)),
      aDay,
      fc.integer({ min: 0, max: 40 }),
      (outages, cutoffDay, days) => {
        const wanted = observedCutoff(cutoffDay, outages) - days;
        const first = cutoffBefore(cutoffDay, days, outages);
        expect(observedCutoff(first, outages)).toBe(wanted);
        expect(observedCutoff(first - 1, outages)).toBe(wanted - 1);
      },
    ),
  );
});

test("an outage makes nobody older, idler or less active", () => {
  const log = [100, 103, 110, 124].map((day) => ({ day, event: "open", count: 1 }));
  const moved = log.map((each) => ({ ...each, day: each.day < 115 ? each.day : each.day + 20 }));
  const outages = [{ from: 115, to: 135 }];
  expect(featuresOf(moved, 150, { outages })).toEqual(featuresOf(log, 130));
});
