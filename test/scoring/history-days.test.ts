/** The days for which an organization gets scores after an import. */
import { expect, test } from "bun:test";
import { formatDay, parseDay } from "../../server/calendar/days.ts";
import { historyDays } from "../../server/scoring/scores/history-days.ts";

const dayOf = (text: string) => parseDay(text) ?? Number.NaN;
/** A Thursday. */
const today = dayOf("2026-03-12");
const since = (firstDay: string) => historyDays(today, dayOf(firstDay)).map(formatDay);

test("are the last 28, then 26 Mondays, then the first of each month, the newest first", () => {
  const days = since("2025-05-25");
  expect(days).toHaveLength(28 + 26 + 3);
  expect([days[0], days[27]]).toEqual(["2026-03-11", "2026-02-12"]);
  expect([days[28], days[53]]).toEqual(["2026-02-09", "2025-08-18"]);
  expect(days.slice(54)).toEqual(["2025-08-01", "2025-07-01", "2025-06-01"]);
});

test("begin when there is a week of data", () => {
  expect(since("2026-03-04")).toEqual(["2026-03-11"]);
  expect(since("2026-03-05")).toEqual([]);
  expect(since("2026-02-02").at(-1)).toBe("2026-02-09");
  expect(since("2025-05-26").at(-1)).toBe("2025-07-01");
});
