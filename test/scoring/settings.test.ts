/** The settings of an organization reach its scores. */
import { expect, test } from "bun:test";
import { silence } from "../../contract/api/churn-targets.ts";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
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
  const { horizonDays, features, healthWeights } = scoringSettings(defaultSettings, "user");
  expect(horizonDays).toBe(28);
  expect(featuresOf(log, cutoffDay, features)).toEqual(featuresOf(log, cutoffDay));
  const input = { state: "active", engagement: 80, risk: 0.2, momentum: 50, adoption: 0.5 } as const;
  expect(healthOf(input, healthWeights)).toEqual(healthOf(input));
});

test("passive events, weights, key events, the horizon and health weights are taken over", () => {
  const settings: Settings = {
    ...defaultSettings,
    churnHorizonDays: 14,
    healthWeights: { engagement: 0, outlook: 100, momentum: 0, adoption: 0 },
    eventWeights: { opened: 4, canceled: 0 },
    passiveEvents: ["mail_sent"],
    keyEvents: ["opened", "shared"],
  };
  const { horizonDays, features, healthWeights } = scoringSettings(settings, "user");
  expect(horizonDays).toBe(14);
  expect(featuresOf(log, cutoffDay, features)).toMatchObject({
    ...{ idleDays: 5, volume28: 8, adoption: 0.5 },
  });
  const input = { state: "active", engagement: 80, risk: 0.2, momentum: 50, adoption: 0.5 } as const;
  expect(healthOf(input, healthWeights).score).toBe(80);
});

test("users and accounts have a churn target of their own", () => {
  const account = { by: "event", event: "canceled", undoneBy: "resumed" } as const;
  const settings = { ...defaultSettings, churnTargets: { user: silence, account } };
  expect(scoringSettings(settings, "user").features.target).toEqual(silence);
  expect(scoringSettings(settings, "account").features.target).toEqual(account);
});
