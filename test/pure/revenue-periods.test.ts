/** Calendar periods of figures of revenue: their days, months and instants in a timezone. */
import { expect, test } from "bun:test";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { zoneOf } from "../../server/calendar/zone.ts";
import { revenuePeriods } from "../../server/figures/revenue-periods.ts";

const paris = zoneOf("Europe/Paris");
const nowMs = Date.parse("2026-11-26T10:00:00+01:00");

/** Each period as its days, its months' first instants and its end. */
function told(period: "month" | "quarter" | "year", periods: number, to: string) {
  const toDay = parseDay(to) ?? 0;
  return revenuePeriods(paris, nowMs, { period, periods, toDay }).map((one) => ({
    days: `${formatDay(one.fromDay)} ${formatDay(one.toDay)}`,
    months: one.monthsMs.map((ms) => new Date(ms).toISOString().slice(0, 13)),
    end: new Date(one.endMs).toISOString().slice(0, 16),
    isComplete: one.isComplete,
  }));
}

test("the current month ends now", () => {
  expect(told("month", 2, "2026-11-26")).toEqual([
    {
      days: "2026-10-01 2026-10-31",
      months: ["2026-09-30T22"],
      end: "2026-10-31T23:00",
      isComplete: true,
    },
    {
      days: "2026-11-01 2026-11-26",
      months: ["2026-10-31T23"],
      end: "2026-11-26T09:00",
      isComplete: false,
    },
  ]);
});

test("a quarter has the months that have begun, and a past day ends it", () => {
  expect(told("quarter", 1, "2026-05-17")).toEqual([
    {
      days: "2026-04-01 2026-05-17",
      months: ["2026-03-31T22", "2026-04-30T22"],
      end: "2026-05-17T22:00",
      isComplete: false,
    },
  ]);
  expect(told("quarter", 2, "2026-01-31").map(({ days }) => days)).toEqual([
    "2025-10-01 2025-12-31",
    "2026-01-01 2026-01-31",
  ]);
});

test("a year has twelve months, and its last day completes it", () => {
  const [year] = told("year", 1, "2025-12-31");
  expect(year).toMatchObject({ days: "2025-01-01 2025-12-31", end: "2025-12-31T23:00", isComplete: true });
  expect(year?.months).toHaveLength(12);
});

test("a month that begins now has one instant, and is not complete", () => {
  const startMs = paris.startOfDay(parseDay("2026-11-01") ?? 0);
  const [month] = revenuePeriods(paris, startMs, {
    period: "month",
    periods: 1,
    toDay: parseDay("2026-11-01") ?? 0,
  });
  expect(month).toMatchObject({ monthsMs: [startMs], endMs: startMs + 1, isComplete: false });
});
