/** Scores of days that are older than a quarter of a year. */
import { expect, test } from "bun:test";
import { parseDay } from "../../server/calendar/days.ts";
import { dueDays } from "../../server/scoring/run/due-days.ts";
import { listRuns } from "../../server/scoring/run/records.ts";
import { historyDays } from "../../server/scoring/scores/history-days.ts";
import { isKept, thinScores } from "../../server/warehouse/upkeep/thin-scores.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { daysIn, fillDays } from "./daily-runs-support.ts";

const dayOf = (text: string) => parseDay(text) ?? Number.NaN;
const tables = ["score_records", "user_scores", "account_scores"] as const;
/** A Thursday. 90 days before it is 2025-12-12, so the days before December are thinned out. */
const today = dayOf("2026-03-12");
const firstThinned = dayOf("2025-08-01");
const nowMs = today * msPerDay;
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, index) => from + index);

const subject = new WarehouseUnderTest();

const keptIn = (from: number, to: number) => range(from, to).filter((day) => isKept(day, to));

test("kept days are those of the last months, Mondays and the first of each month", () => {
  const kept = keptIn(dayOf("2025-10-28"), today);
  expect(kept.slice(0, 8)).toEqual(
    [
      "2025-11-01",
      "2025-11-03",
      "2025-11-10",
      "2025-11-17",
      "2025-11-24",
      "2025-12-01",
      "2025-12-02",
      "2025-12-03",
    ].map(dayOf),
  );
  // Otherwise such a day would be deleted and scored again every night.
  for (const newest of range(today, today + 400)) {
    expect(historyDays(newest, newest - 800).filter((day) => !isKept(day, newest))).toEqual([]);
  }
});

test("old scores of other days go, of each organization by its newest run", async () => {
  const { warehouse } = subject;
  await fillDays(warehouse, { organization: 1, fromDay: firstThinned, toDay: today }, 10);
  // Its data stopped in October: its last three months stay.
  const stopped = dayOf("2025-10-15");
  await fillDays(warehouse, { organization: 2, fromDay: firstThinned, toDay: stopped }, 10);
  // Scored by hand an hour ago.
  const byHand = { organization: 3, fromDay: dayOf("2025-09-03"), toDay: dayOf("2025-09-03") };
  await fillDays(warehouse, byHand, nowMs - 3_600_000);
  await fillDays(warehouse, { organization: 3, fromDay: today, toDay: today }, 10);

  expect(await thinScores(warehouse, nowMs)).toBeGreaterThan(0);
  for (const table of tables) {
    expect(await daysIn(warehouse, table, 1)).toEqual(keptIn(firstThinned, today));
    expect(await daysIn(warehouse, table, 2)).toEqual(range(firstThinned, stopped));
    expect(await daysIn(warehouse, table, 3)).toEqual([byHand.fromDay, today]);
  }
  expect(await thinScores(warehouse, nowMs)).toBe(0);
  await thinScores(warehouse, nowMs + msPerDay);
  for (const table of tables) expect(await daysIn(warehouse, table, 3)).toEqual([today]);
});

test("an old day that is not kept is not scored again when its events change", async () => {
  const { warehouse } = subject;
  await fillDays(warehouse, { organization: 20, fromDay: firstThinned, toDay: today }, 10);
  const stale = (await listRuns(warehouse, 20)).map((run) => ({ ...run, stale: true }));
  const present = { today, firstDay: firstThinned - 8, key: "key", declaredOn: () => "[]" };
  const { days } = dueDays(stale, present, () => false);
  expect([...days].sort((a, b) => a - b)).toEqual(keptIn(firstThinned, today - 1));
});
