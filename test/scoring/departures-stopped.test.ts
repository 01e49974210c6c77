/** A declared churn event that has stopped coming. */
import { describe, expect, test } from "bun:test";
import { daysWithoutDepartures } from "../../server/scoring/scores/departures-stopped.ts";
import { Random } from "../../simulation/random.ts";

const random = new Random(35);
/** The days from 0 on which somebody left, with .8 departures a day. */
const often = Array.from({ length: 181 }, (_, day) => day).filter(() => random.chance(1 - Math.exp(-0.8)));
const last = often.at(-1) ?? 0;

describe("days without a departure", () => {
  test("are those that a regular event has stopped for", () => {
    expect(daysWithoutDepartures(often, last + 32)).toEqual([{ from: last + 1, to: last + 32 }]);
    expect(daysWithoutDepartures(often, last + 8)).toEqual([]);
    expect(daysWithoutDepartures([], 100)).toEqual([]);
  });

  test("are one span when the event comes again, and later ones are judged by the days before", () => {
    const again = [...often, ...often.map((day) => day + last + 40)];
    expect(daysWithoutDepartures(again, 2 * last + 41)).toEqual([
      { from: last + 1, to: (often[0] ?? 0) + last + 40 },
    ]);
  });

  test.each([
    ["14 days with a departure", often.slice(0, 14), 300],
    ["one departure in ten days, and 60 without", Array.from({ length: 18 }, (_, i) => 10 * i), 230],
    [
      "the first days of months, and 31 without",
      [0, 30, 61, 91, 122].flatMap((day) => [day, day + 1, day + 2]),
      156,
    ],
  ])("are not claimed after %s", (_, days, beforeDay) => {
    expect(daysWithoutDepartures(days, beforeDay)).toEqual([]);
  });

  test("of a rare event take months", () => {
    const rare = Array.from({ length: 18 }, (_, i) => 10 * i);
    expect(daysWithoutDepartures(rare, 170 + 170)).toEqual([{ from: 171, to: 340 }]);
  });

  test("are hardly ever claimed by chance", () => {
    let claims = 0;
    for (let run = 0; run < 300; run += 1) {
      const share = 0.02 + 0.6 * random.next();
      const days = Array.from({ length: 365 }, (_, day) => day).filter(() => random.chance(share));
      claims += daysWithoutDepartures(days, 365).length;
    }
    expect(claims).toBe(0);
  });
});
