/** Days are never shifted, instants are told in the organization's timezone. */
import { expect, test } from "bun:test";
import {
  agoText,
  dayPlus,
  daysBetween,
  dayText,
  instantText,
  numbers,
  todayIn,
} from "../../dashboard/text/format.ts";

test("a day is the same day wherever the reader is", () => {
  expect(dayText("2026-03-29")).toMatch(/29/);
  expect(dayText("2026-03-29", "long")).toMatch(/Sunday/);
  expect(dayText(null)).toBe("–");
});

test("days are counted across a change of the clock", () => {
  expect(daysBetween("2026-03-28", "2026-03-30")).toBe(2);
  expect(dayPlus("2026-12-31", 1)).toBe("2027-01-01");
  expect(dayPlus("2026-03-01", -1)).toBe("2026-02-28");
});

test("an instant and today are those of the organization's timezone", () => {
  const nowMs = Date.parse("2026-05-17T23:30:00Z");
  expect(todayIn("Europe/Paris", nowMs)).toBe("2026-05-18");
  expect(todayIn("America/Los_Angeles", nowMs)).toBe("2026-05-17");
  expect(instantText("2026-05-17T23:30:00Z", "Europe/Paris")).toMatch(/18/);
});

test("how long ago is said in the unit that fits", () => {
  const nowMs = Date.parse("2026-05-17T12:00:00Z");
  expect(agoText("2026-05-17T11:59:50Z", nowMs)).toBe("now");
  expect(agoText("2026-05-17T11:00:00Z", nowMs)).toBe("1 hour ago");
  expect(agoText("2026-05-10T12:00:00Z", nowMs)).toMatch(/week|7 days/);
});

test("what is missing is a dash, and nought is a number", () => {
  expect([numbers.count(null), numbers.count(0), numbers.share(undefined)]).toEqual(["–", "0", "–"]);
});
