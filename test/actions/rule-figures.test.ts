/** The figures of rules that are on: alerts by week, precision of untouched alerts, lead times, and touched
 * alerts beside them. */
import { expect, test } from "bun:test";
import { contactEvent } from "../../contract/api/contacts.ts";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { rateOf, readRuleFigures, weeksOf } from "../../server/features/alerts/rule-figures.ts";
import type { FiredQuestion, FiredRecord } from "../../server/features/alerts/store/alerts.ts";

import type { AlertRule } from "../../server/features/alerts/store/rules.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { wilson } from "../../server/scoring/statistics/wilson.ts";
import { alertRule } from "../ledger/alert-decision.ts";
import { all, on } from "../scoring/run-support.ts";
import { insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
/** A Monday, and so are the days of alerts a horizon before. */
const today = 20_003;
const horizonDays = defaultSettings.churnHorizonDays;
const firedDay = today - horizonDays;
const nowMs = () => (today + 0.5) * msPerDay;

/** Users 1 to 4 churn on the day in the middle. User 4 is back at the end, and user 6 was contacted. */
async function scoredUsers(): Promise<number> {
  const id = subject.newOrganization();
  const days = [firedDay - 40, firedDay - 12, firedDay - 3];
  await insertEvents(subject, [...all(id, 6, days), on(id, 6, firedDay + 2, contactEvent)]);
  const middle = today - 10;
  for (const day of [firedDay, middle, today]) {
    const scored = { id, name: "Engines", timezone: "UTC", zone: new Zone("UTC"), settings: defaultSettings };
    await scoreDay(subject.warehouse, { organization: scored, day, nowMs, report: () => undefined });
    await withStates(id, day, day === firedDay ? [] : day === middle ? [1, 2, 3, 4] : [1, 2, 3]);
  }
  return id;
}

/** Gives the scores of a day a state: these users have churned, and no other has. */
async function withStates(organization: number, day: number, churned: readonly number[]): Promise<void> {
  const { warehouse } = subject;
  const run = await newestRun(warehouse, organization, "user", day);
  if (run === undefined) throw new Error("There is no run of users.");
  const version = run.version + 1;
  await warehouse.rows(
    `INSERT INTO user_scores
     SELECT * REPLACE (if(has({churned:Array(UInt32)}, user), 'churned', 'active') AS state, toUInt64({version:UInt64}) AS version)
     FROM user_scores FINAL
     WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})`,
    { organization, day, version, churned },
  );
  await keepRecord(
    warehouse,
    { organization, kind: "user", what: "run" },
    { day, version, body: { ...run.body, rowsVersion: version } },
  );
}

const rules = [
  { ...alertRule, id: 1, name: "High risk" },
  { ...alertRule, id: 2, name: "Quiet source", condition: { kind: "sourceSilent" } },
].map((rule) => ({ ...rule, createdAtMs: (today - 55) * msPerDay, experiment: 2 }) as object as AlertRule);

const fired = (number: number, more: Partial<FiredRecord> = {}): FiredRecord => ({
  rule: 1,
  entity: { kind: "user" as const, number },
  closedWhy: null,
  verdict: null,
  verdictAtMs: null,
  taskAtMs: null,
  firedDay,
  ...more,
});

/** The ledger of these rules. Users 2 and 5 were worked on, user 3 was called not useful. */
function ledger() {
  const mature = [
    fired(1),
    fired(2, { verdict: "handled", verdictAtMs: firedDay * msPerDay }),
    fired(3, { verdict: "notUseful" }),
    fired(4),
    fired(5, { taskAtMs: firedDay * msPerDay }),
    fired(6),
  ];
  const experiment = { rule: 1, experiment: 2, share: 0.2 };
  return {
    alertRules: {
      list: async () => rules,
      experiments: async () => [{ ...experiment, experiment: 1 }, experiment],
    },
    alerts: {
      fired: async (_: number, { rule, toDay }: FiredQuestion) => {
        expect(toDay).toBe(firedDay);
        return mature.filter((one) => one.rule === rule);
      },
      firedByDay: async () => [
        { rule: 1, day: firedDay, alerts: 6 },
        { rule: 1, day: today, alerts: 2 },
      ],
    },
    holdOutResults: { arms: async () => [], plans: async () => [] },
    settings: { get: async () => ({ version: 1, settings: defaultSettings }) },
  } as object as Parameters<typeof readRuleFigures>[0]["ledger"];
}

test("touched alerts are in no precision, and alerts that were not useful are", async () => {
  const id = await scoredUsers();
  const parts = { warehouse: subject.warehouse, ledger: ledger(), nowMs };
  const read = await readRuleFigures(parts, { id, timezone: "UTC" });
  expect(read.horizonDays).toBe(horizonDays);
  const [own, ofSource] = read.rules;
  // Users 1, 3 and 4: user 4 is back at the end of the horizon.
  expect(own?.untouched).toEqual({
    mature: 3,
    churned: 2,
    rate: 2 / 3,
    interval: wilson(2, 3),
    medianLeadDays: horizonDays - 10,
  });
  // Users 2, 5 and 6: the contact counts as work.
  expect(own?.touched).toMatchObject({ mature: 3, churned: 1, medianLeadDays: horizonDays - 10 });
  expect(own?.baseRate).toEqual({ count: 6, churned: 3 });
  expect(own).toMatchObject({ fired: 8, sinceDay: today - 55, perWeek: 1 });
  expect(own?.experiment).toMatchObject({ experiment: 2 });
  const weeks = own?.weeks.filter((week) => week.fired > 0);
  expect(weeks).toEqual([
    { monday: firedDay, fired: 6 },
    { monday: today, fired: 2 },
  ]);
  expect(ofSource).toMatchObject({
    untouched: { mature: 0, rate: null, interval: null, medianLeadDays: null },
    fired: 0,
    perWeek: 0,
    baseRate: { count: 0, churned: 0 },
    experiment: undefined,
  });
});

test("weeks without an alert are there, from the one 90 days ago to that of today", () => {
  const weeks = weeksOf([{ day: today + 6, alerts: 3 }], today + 6);
  expect(weeks).toHaveLength(13);
  expect(weeks.at(0)).toEqual({ monday: today - 84, fired: 0 });
  expect(weeks.at(-1)).toEqual({ monday: today, fired: 3 });
});

test("alerts of less than a week are no rate per week", () => {
  const days = [{ day: today, alerts: 64 }];
  expect(rateOf(days, today, today)).toEqual({ fired: 64, sinceDay: today, perWeek: null });
  expect(rateOf(days, today - 6, today)).toEqual({ fired: 64, sinceDay: today - 6, perWeek: null });
  expect(rateOf(days, today - 7, today)).toEqual({ fired: 64, sinceDay: today - 7, perWeek: 56 });
  // The first decision of a rule is that of the newest scored day, which may be yesterday.
  const yesterday = [{ day: today - 1, alerts: 2 }];
  expect(rateOf(yesterday, today, today)).toEqual({ fired: 2, sinceDay: today - 1, perWeek: null });
  expect(rateOf([], today - 400, today)).toEqual({ fired: 0, sinceDay: today - 90, perWeek: 0 });
  // A clock that was ahead.
  expect(rateOf([], today + 3, today)).toEqual({ fired: 0, sinceDay: today, perWeek: null });
});
