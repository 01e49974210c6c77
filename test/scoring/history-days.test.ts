/** The days for which an organization gets scores after an import. */
import { expect, test } from "bun:test";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { dueDays } from "../../server/scoring/run/due-days.ts";
import type { RunOfDay } from "../../server/scoring/run/records.ts";
import { startOfData } from "../../server/scoring/scores/data-start.ts";
import { historyDays } from "../../server/scoring/scores/history-days.ts";

const dayOf = (text: string) => parseDay(text) ?? Number.NaN;
/** A Thursday. */
const today = dayOf("2026-03-12");
const since = (firstDay: string) => historyDays(today, dayOf(firstDay)).map(formatDay);

test("are those that today is compared with and the last week, then the Mondays of 52 weeks, the others of 90 days, and the first of each month", () => {
  const days = since("2024-12-25");
  // Of the last 52 weeks, the first of seven months was neither a Monday nor in the last 90 days.
  expect(days).toHaveLength(90 + 39 + 7 + 3);
  expect(days.slice(0, 3)).toEqual(["2026-03-05", "2026-02-12", "2026-03-11"]);
  expect(days[7]).toBe("2026-03-06");
  expect([days[8], days[58]]).toEqual(["2026-03-02", "2025-03-17"]);
  expect([days[59], days[128]]).toEqual(["2026-03-04", "2025-12-12"]);
  expect(days.slice(129, 132)).toEqual(["2025-11-01", "2025-10-01", "2025-08-01"]);
  expect(days.slice(-4)).toEqual(["2025-04-01", "2025-03-01", "2025-02-01", "2025-01-01"]);
});

test("begin when there is a week of data", () => {
  expect(since("2026-03-04")).toEqual(["2026-03-11"]);
  expect(since("2026-03-05")).toEqual([]);
  expect([...since("2025-12-01")].sort()[0]).toBe("2025-12-08");
  expect(since("2024-12-26").at(-1)).toBe("2025-02-01");
});

const data = (firstDay: number, days: number, count: number) =>
  Array.from({ length: days }, (_, index) => ({ day: firstDay + index, count }));

test("do not begin with an event of 1970", () => {
  const recent = data(today - 60, 60, 5);
  expect(startOfData([{ day: 0, count: 1 }, { day: 10_957, count: 1 }, ...recent])).toBe(today - 60);
  expect(startOfData(recent)).toBe(today - 60);
  expect(startOfData([])).toBeUndefined();
});

test("begin before a pause when there was more than a hundredth of the data", () => {
  const [season, next] = [data(today - 500, 30, 5), data(today - 60, 60, 5)];
  expect(startOfData([...season, ...next])).toBe(today - 500);
  expect(startOfData([{ day: today - 500, count: 4 }, ...next])).toBe(today - 500);
  expect(startOfData([{ day: today - 500, count: 3 }, ...next])).toBe(today - 60);
  // Half a year without data is no longer than a feature looks back.
  expect(startOfData([{ day: today - 60 - 182, count: 1 }, ...next])).toBe(today - 60 - 182);
});

test("have no run of before the data began, though such days were scored once", () => {
  const run = (day: number): RunOfDay[] =>
    (["user", "account"] as const).map((kind) => ({
      kind,
      day,
      stale: true,
      settingsKey: "{} ",
      declaredOutages: "",
      firstPublishedAtMs: 0,
    }));
  const present = { today, firstDay: today - 60, key: "{}", declaredOn: () => "" };
  const { days } = dueDays([...run(dayOf("1994-03-01")), ...run(today - 1)], present, () => false);
  expect([days.length, days[0], days.at(-1)]).toEqual([53, today - 7, today - 53]);
});
