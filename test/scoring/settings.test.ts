/** The settings of an organization reach its scores. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { type DayEvent, featuresOf } from "../../server/scoring/scores/features.ts";
import { healthOf } from "../../server/scoring/scores/health.ts";
import { scoringSettings } from "../../server/scoring/scores/settings.ts";

const cutoffDay = 20_000;
const log: readonly DayEvent[] = [
  { day: cutoffDay - 9, event: "opened", count: 2 },
  { day: cutoffDay - 5, event: "canceled", count: 1 },
  { day: cutoffDay - 2, event: "mail_sent", count: 3 },
];

test("settings that were never changed are the defaults of scores", () => {
  const { horizonDays, features, healthWeights } = scoringSettings(defaultSettings);
  expect(horizonDays).toBe(28);
  expect(featuresOf(log, cutoffDay, features)).toEqual(featuresOf(log, cutoffDay));
  const input = { state: "active", engagement: 80, risk: 0.2, momentum: 50, adoption: 0.5 } as const;
  expect(healthOf(input, healthWeights)).toEqual(healthOf(input));
});

test("passive events, weights, key events, the churn event, the horizon and health weights are taken over", () => {
  const { horizonDays, features, healthWeights } = scoringSettings({
    ...defaultSettings,
    churnHorizonDays: 14,
    healthWeights: { engagement: 0, outlook: 1, momentum: 0, adoption: 0 },
    eventWeights: { opened: 4, canceled: 0 },
    passiveEvents: ["mail_sent"],
    keyEvents: ["opened", "shared"],
    churnEvent: "canceled",
  });
  expect(horizonDays).toBe(14);
  expect(featuresOf(log, cutoffDay, features)).toMatchObject({
    ...{ idleDays: 5, volume28: 8, adoption: 0.5, hasLeft: true },
  });
  const input = { state: "active", engagement: 80, risk: 0.2, momentum: 50, adoption: 0.5 } as const;
  expect(healthOf(input, healthWeights).score).toBe(80);
});
