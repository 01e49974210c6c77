/** Retention from bitmaps equals a recount of the sent events, cell by cell. test/long asks every kind of
 * question. */
import { expect, test } from "bun:test";
import { msPerDay } from "../../server/calendar/zone.ts";
import { checkQuestions } from "./retention-check.ts";
import { combinations, sampledCombinations, shuffled } from "./retention-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

test.each([
  // Clocks went forward on the 6th of September, at midnight.
  ["America/Santiago", Date.UTC(2026, 8, 20), false],
  // And here back and forth around Ramadan, in February and March.
  ["Africa/Casablanca", Date.UTC(2026, 3, 3), true],
] as const)("questions of every kind equal a recount, in %s", (timezone, todayMs, manyValues) => {
  const random = randomOfThisRun(`retention in ${timezone}`);
  const shape = { timezone, users: 70, today: todayMs / msPerDay, days: 100, leaving: true, manyValues };
  return checkQuestions(subject, random, shape, shuffled(random, combinations()).slice(0, 12));
});

test("a sample has 60 different combinations, and every value of every option", () => {
  const [all, sample] = [combinations(), sampledCombinations(randomOfThisRun("sampled combinations"))];
  const keys = new Set(all.map((combination) => JSON.stringify(combination)));
  const sampled = new Set(sample.map((combination) => JSON.stringify(combination)));
  expect([keys.size, sampled.size, sampled.difference(keys).size]).toEqual([1_440, 60, 0]);
  for (const option of ["entry", "returnEvent", "measure", "split", "period"] as const) {
    const valuesOf = (of: typeof all) => new Set(of.map((one) => JSON.stringify(one[option])));
    expect(valuesOf(sample)).toEqual(valuesOf(all));
  }
});
