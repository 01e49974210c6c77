/** The days for which an organization gets scores after an import. */
import { expect, test } from "bun:test";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { historyDays } from "../../server/scoring/scores/history-days.ts";

const dayOf = (text: string) => parseDay(text) ?? Number.NaN;
/** A Thursday. */
const today = dayOf("2026-03-12");
const since = (firstDay: string) => historyDays(today, dayOf(firstDay)).map(formatDay);

test("are the last 90, then the other Mondays of 52 weeks, then the first of each month, the newest first", () => {
  const days = since("2024-12-25");
  expect(days).toHaveLength(90 + 39 + 3);
  expect([days[0], days[89]]).toEqual(["2026-03-11", "2025-12-12"]);
  expect([days[90], days[128]]).toEqual(["2025-12-08", "2025-03-17"]);
  expect(days.slice(129)).toEqual(["2025-03-01", "2025-02-01", "2025-01-01"]);
});

test("begin when there is a week of data", () => {
  expect(since("2026-03-04")).toEqual(["2026-03-11"]);
  expect(since("2026-03-05")).toEqual([]);
  expect(since("2025-12-01").at(-1)).toBe("2025-12-08");
  expect(since("2024-12-26").at(-1)).toBe("2025-02-01");
});
