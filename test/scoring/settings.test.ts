/** The settings of an organization reach its scores. */
import { expect, test } from "bun:test";
import { silence } from "../../contract/api/churn-targets.ts";
import { passiveEventsOf } from "../../contract/api/departures-body.ts";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { healthOf } from "../../server/scoring/scores/health.ts";
import { modelKey, scoringSettings, settingsKey } from "../../server/scoring/scores/settings.ts";
import { type DayEvent, featuresOf } from "./features.ts";

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
    idleDays: 5,
    volume28: 8,
    adoption: 0.5,
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

/** The settings as they are applied once events with these names came. */
const applied = (settings: Settings, ...names: readonly string[]): Settings => ({
  ...settings,
  passiveEvents: passiveEventsOf(names, settings),
});

test("an event that waits for an answer scores everybody again, and trains no model", () => {
  const before = applied(defaultSettings, "opened");
  const spelled = applied(defaultSettings, "opened", "account_deleted", "Account.Deleted", "contacted");
  expect(spelled.passiveEvents).toEqual(["Account.Deleted", "account_deleted", "contacted"]);
  expect(settingsKey(spelled)).not.toBe(settingsKey(before));
  expect(modelKey(spelled, "user")).toBe(modelKey(before, "user"));
  const confirmed = { ...defaultSettings, passiveEvents: ["account_deleted"] };
  expect(modelKey(applied(confirmed, "account_deleted"), "user")).toBe(modelKey(before, "user"));
});

test("an answer that changes which events count trains the models", () => {
  const names = ["opened", "account_deleted", "mail_sent"];
  const before = modelKey(applied(defaultSettings, ...names), "user");
  const answers: readonly Partial<Settings>[] = [
    { ordinaryEvents: ["account_deleted"] },
    { keyEvents: ["account_deleted"] },
    { passiveEvents: ["mail_sent"] },
    { churnTargets: { user: { by: "event", event: "account_deleted", undoneBy: null }, account: silence } },
  ];
  for (const answer of answers) {
    expect(modelKey(applied({ ...defaultSettings, ...answer }, ...names), "user")).not.toBe(before);
  }
  // Such names mean nothing to scores.
  expect(
    modelKey(applied({ ...defaultSettings, ordinaryEvents: ["cancel_clicked"] }, ...names), "user"),
  ).toBe(before);
});

test("models of other organizations keep their key", () => {
  expect(modelKey({ ...defaultSettings, passiveEvents: ["mail_sent"] }, "user")).toBe(
    '{"churnHorizonDays":28,"eventWeights":{},"passiveEvents":["mail_sent"],"keyEvents":[],"churnTargets":{"user":{"by":"silence"},"account":{"by":"silence"}}}',
  );
});

test("the target of one kind trains no model of the other", () => {
  const trait = (...values: string[]): Settings => ({
    ...defaultSettings,
    churnTargets: { user: silence, account: { by: "trait", trait: "status", values } },
  });
  const [one, two] = [trait("canceled"), trait("canceled", "Canceled")];
  expect(modelKey(two, "account")).not.toBe(modelKey(one, "account"));
  expect(modelKey(two, "user")).toBe(modelKey(one, "user"));
  // A departure that is the accounts' target is engagement of users, too.
  const event = { by: "event", event: "account_deleted", undoneBy: null } as const;
  const answered = { ...defaultSettings, churnTargets: { user: silence, account: event } };
  expect(modelKey(answered, "user")).not.toBe(modelKey(one, "user"));
});
