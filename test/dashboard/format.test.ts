/** Days are never shifted, and instants are shown in the organization's timezone. */
import { expect, test } from "bun:test";
import { stepsOf } from "../../dashboard/charts/waterfall-steps.ts";
import {
  agoText,
  dayPlus,
  daysBetween,
  dayText,
  instantText,
  numbers,
  todayIn,
} from "../../dashboard/text/format.ts";
import { downToTenths, partsInTenths } from "../../dashboard/text/rounding.ts";

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

test("a missing value is a dash, and 0 is a number", () => {
  expect([numbers.count(null), numbers.count(0), numbers.share(undefined)]).toEqual(["–", "0", "–"]);
});

test("a score is never shown as if it were in the band above its own", () => {
  for (const below of [39.6, 39.96, 40 - 1e-9]) {
    expect([numbers.score(below), numbers.scoreTenths(below).slice(0, 4)]).toEqual([
      "39",
      below === 39.6 ? "39.6" : "39.9",
    ]);
  }
  expect([numbers.score(40), numbers.score(70), numbers.score(69.99)]).toEqual(["40", "70", "69"]);
  expect([0.1996, 0.2, 0.4999, 0.5].map(numbers.risk)).toEqual(["19%", "20%", "49%", "50%"]);
  expect([0.1996, 0.29, 0.49999].map(numbers.riskTenths)).toEqual(["19.9%", "29%", "49.9%"]);
  expect([39.96, 100 * 0.29, 100 * 0.57].map(downToTenths)).toEqual([39.9, 29, 57]);
});

test("parts that are shown add up to the total that is shown, and a part of nothing stays nothing", () => {
  const sum = (parts: readonly number[]) => Math.round(parts.reduce((all, part) => all + part, 0) * 10) / 10;
  expect(partsInTenths(1.3, [0.65, 0, 0.65])).toEqual([0.7, 0, 0.6]);
  expect(partsInTenths(-0.28, [-0.14, 0, -0.14])).toEqual([-0.1, 0, -0.2]);
  expect(partsInTenths(0, [12.34, -12.34, 0])).toEqual([12.3, -12.3, 0]);
  for (let at = 0; at < 200; at += 1) {
    const parts = [Math.sin(at) * 30, Math.cos(at * 7) * 20, at % 3 === 0 ? 0 : Math.sin(at * 3)];
    const total = parts.reduce((all, part) => all + part, 0);
    expect(sum(partsInTenths(total, parts))).toBe(Math.round(total * 10) / 10 || 0);
    const steps = stepsOf(
      50,
      parts.map((points) => ({ label: "", points })),
      50 + total,
    );
    expect(sum([50, ...steps.map(({ points }) => points)])).toBe(downToTenths(50 + total));
  }
});
