import { expect, test } from "bun:test";
import { shareThatShips } from "./gate-power.ts";

const runs = 200;

test.each([0.03, 0.1, 0.3])(
  "at 30 departures and a base rate of %p perfect models ship, others seldom",
  (baseRate) => {
    const share = (oddsFactor: number) => shareThatShips({ baseRate, departures: 30, oddsFactor, runs });
    const perfect = share(1);
    expect(perfect).toBeGreaterThan(0.7);
    expect(share(1.6)).toBeLessThan(0.6 * perfect);
  },
);

test("at 300 departures wrong odds are found out", () => {
  const share = (oddsFactor: number) =>
    shareThatShips({ baseRate: 0.1, departures: 300, oddsFactor, runs: 40 });
  expect(share(1)).toBeGreaterThan(0.8);
  expect(share(1.6)).toBe(0);
});
