/** How long a control group takes, before it begins. */
import { expect, test } from "bun:test";
import {
  assumedBaseOf,
  expectedBase,
  plannedEntries,
  prospectsOf,
} from "../../server/features/alerts/control-groups/plan.ts";

const risk = { kind: "riskBand", band: "high" } as const;
const event = { kind: "event", event: "cancel_flow_opened" } as const;

test("the share that leaves is that of the preview where its alerts are enough, else an assumption", () => {
  expect(expectedBase(risk, { mature: 40, churned: 16 })).toBe(0.4);
  expect(expectedBase(risk, { mature: 19, churned: 16 })).toBe(assumedBaseOf(risk));
  expect(expectedBase(risk, { mature: 40, churned: 4 })).toBe(assumedBaseOf(risk));
  // Whether a further period was paid is another question than that of the preview.
  expect(expectedBase(event, { mature: 40, churned: 16 })).toBe(0.75);
});

test("a cancel flow takes 135 customers at a half, and high risk 1,223", () => {
  expect([plannedEntries(0.75, 0.5), plannedEntries(0.2, 0.5)]).toEqual([135, 1_223]);
  expect([plannedEntries(0.75, 0.2), plannedEntries(0.2, 0.2)]).toEqual([194, 2_072]);
});

test("months are those until the entries are there, and their horizon over", () => {
  // 90 in 90 days: 194 and 135 days, and 28 more.
  const prospects = prospectsOf(0.75, { entities: 90, days: 90 }, 28);
  expect(prospects.map(({ share, entries }) => [share, entries])).toEqual([
    [0.2, 194],
    [0.5, 135],
  ]);
  expect(prospects.map(({ months }) => Math.round(10 * (months ?? 0)) / 10)).toEqual([7.3, 5.4]);
  expect(prospectsOf(0.75, { entities: 0, days: 90 }, 28).map(({ months }) => months)).toEqual([null, null]);
});
