/** The content of a digest, read from stored scores and the ledger: moves, the top, controls that are hidden,
 * and the precision. */

import { expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { msPerHour, Zone } from "../../server/calendar/zone.ts";
import { type DigestParts, readDigest } from "../../server/features/digest/digest-reader.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import { keepRecord } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { store } from "../analytics/revenue-support.ts";
import { all } from "../scoring/run-support.ts";
import { insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const today = 20_000;

const nowMs = () => (today + 0.5) * msPerDay;

/** An organization with four users without accounts, whose risks moved since yesterday. */
async function movedUsers(): Promise<Organization> {
  const { warehouse } = subject;
  const id = subject.newOrganization();
  const events = all(id, 4, [today - 40, today - 12, today - 3]);
  await insertEvents(
    subject,
    events.map((event) => ({ ...event, account: 0 })),
  );
  await warehouse.command(
    `INSERT INTO users (organization, user, user_id, traits, account, first_identified_at, updated_at, version)
     SELECT {id:UInt32}, number, concat('u', toString(number)), '{}', 0, now64(3), now64(3), 1 FROM numbers(1, 4)`,
    { id },
  );
  for (const day of [today - 1, today]) {
    const scored = { id, name: "Engines", timezone: "UTC", zone: new Zone("UTC"), settings: defaultSettings };
    await scoreDay(warehouse, { organization: scored, day, nowMs, report: () => undefined });
    await withRisks(
      id,
      day,
      day === today ? { 1: 0.9, 2: 0.8, 3: 0.1, 4: 0.7 } : { 1: 0.1, 2: 0.1, 3: 0.9, 4: 0.8 },
    );
  }
  return { id, name: "Engines", timezone: "UTC" } as Organization;
}

/** A user who is a control today. */
function control(number: number) {
  return { kind: "user", number, untilDay: today } as const;
}

/** The parts of a digest, with two alerts. */
function partsOf(controls: readonly ReturnType<typeof control>[] = []): DigestParts {
  const fired = [
    {
      rule: 1,
      entity: { kind: "user" as const, number: 1 },
      firedDay: today - 2,
      closedWhy: null,
      verdict: "handled",
      tasks: 0,
    },
    {
      rule: 1,
      entity: { kind: "user" as const, number: 2 },
      closedWhy: null,
      tasks: 0,
      firedDay: today - defaultSettings.churnHorizonDays,
      verdict: null,
    },
  ];
  const named = async (_: number, entities: readonly { kind: "user"; number: number }[]) =>
    Object.fromEntries(
      entities.map(({ kind, number }) => [
        `${kind} ${number}`,
        { kind, id: `u${number}`, label: `User ${number}`, email: `u${number}@example.com` },
      ]),
    );
  // From 07:00 of the day before to 07:00.
  const span = [today - 1, today].map((day) => day * msPerDay + 7 * msPerHour);
  const insideBySettings = async (_: number, ...asked: number[]) => (Bun.deepEquals(asked, span) ? 4 : 9);
  return {
    warehouse: subject.warehouse,
    nowMs,
    ledger: {
      alerts: {
        fired: async () => fired,
        controls: async () => controls,
        workedOn: async () => [],
        verdicts: async () => [],
      },
      alertRules: { list: async () => [] },
      members: { list: async () => [] },
      tasks: { openOf: async () => [], doneSince: async () => [] },
      ruleSteps: { messagesSince: async () => [] },
      ruleDecisions: { named, insideBySettings },
      settings: { get: async () => ({ version: 1, settings: defaultSettings }), history: async () => [] },
      rejectedEvents: { count: async () => 2 },
    },
    sources: { silent: async () => [], stoppedFor: async () => null },
  } as object as DigestParts;
}

test("a digest tells of moves since yesterday, and names no control", async () => {
  const organization = await movedUsers();
  const digest = await readDigest(partsOf(), organization, "daily", today);
  expect(digest).toMatchObject({
    kind: "user",
    scoredDay: today,
    sinceDay: today - 1,
    movedBySettings: 0,
    currency: "",
    entered: { total: 2, named: [{ id: "u1", risk: 0.9, riskBefore: 0.1 }, { id: "u2" }] },
    left: { total: 1, named: [{ id: "u3", risk: 0.1, riskBefore: 0.9 }] },
    insideBySettings: 4,
    alerts: { fired: 1, handled: 1 },
    precision: { mature: 1, churned: 0, rate: 0 },
    top: [{ id: "u1", label: "User 1", class: "high_risk" }, { id: "u2" }, { id: "u4", mrr: null }],
    data: { silent: [], stoppedSince: null, rejectedEvents: 2 },
  });
  expect(JSON.stringify(digest)).not.toContain("@example.com");
  const hidden = await readDigest(partsOf([control(1)]), organization, "daily", today);
  expect(hidden.entered).toMatchObject({ total: 2, named: [{ id: "u2" }] });
  expect(JSON.stringify(hidden)).not.toContain("u1");
  // Scores of a week before are not there.
  expect(await readDigest(partsOf(), organization, "weekly", today)).toMatchObject({
    sinceDay: null,
    entered: { total: 0 },
    left: { total: 0 },
  });
});

test("with revenue the highest expected loss is first of those that moved, and the highest MRR of those to call", async () => {
  const { warehouse } = subject;
  const organization = await movedUsers();
  const { id } = organization;
  const pays = (user: number, mrr: number) => ({
    subscription: `s${user}`,
    payer: `user ${user}`,
    account: 0,
    user,
    plan: "Team",
    mrr,
    fromMs: (today - 90) * msPerDay,
    currency: "USD",
    isInvoluntary: false,
  });
  await store(warehouse, id, [pays(1, 1_000), pays(2, 2_000), pays(3, 100_000)]);
  const digest = await readDigest(partsOf(), organization, "daily", today);
  expect(digest).toMatchObject({
    currency: "USD",
    entered: {
      named: [
        { id: "u2", expectedLoss: 1_600 },
        { id: "u1", expectedLoss: 900 },
      ],
    },
    left: { named: [{ id: "u3", expectedLoss: 90_000 }] },
    // The churn risk is that of silence, so it multiplies no MRR. The third user has none that is high, and
    // is on no list.
    top: [
      { id: "u2", mrr: 2_000, expectedLoss: null },
      { id: "u1", mrr: 1_000 },
      { id: "u4", mrr: null },
    ],
  });
  const hidden = await readDigest(partsOf([control(2)]), organization, "daily", today);
  expect(hidden.top.map((one) => one.id)).toEqual(["u1", "u4"]);
});

test("with the churn target subscription those to call have the order of the MRR that may be lost", async () => {
  const { warehouse } = subject;
  const organization = await movedUsers();
  const { id } = organization;
  const target = { by: "subscription" } as const;
  const settings = { ...defaultSettings, churnTargets: { user: target, account: target } };
  await withRisks(id, today, { 1: 0.9, 2: 0.8, 3: 0.1, 4: 0.7 }, settings);
  const changes = (user: number, fromMs: number, mrr: number) => ({
    subscription: `s${user}`,
    payer: `user ${user}`,
    account: 0,
    user,
    plan: "Team",
    mrr,
    fromMs,
    currency: "USD",
    isInvoluntary: false,
  });
  const since = (today - 90) * msPerDay;
  const rows = [
    changes(1, since, 1_000),
    changes(2, since, 2_000),
    changes(3, since, 100_000),
    changes(4, since, 500),
  ];
  // The third user has a low risk, and ends in 60 days: after the horizon of 28.
  await store(warehouse, id, [...rows, changes(3, (today + 60) * msPerDay, 0)]);
  const { top } = await readDigest(partsOf(), organization, "daily", today);
  expect(top.map((one) => [one.id, one.class, one.rankValue, one.expectedLoss])).toEqual([
    ["u3", "end_scheduled", 100_000, 10_000],
    ["u2", "high_risk", 1_600, 1_600],
    ["u1", "high_risk", 900, 900],
    ["u4", "high_risk", 350, 350],
  ]);
});

/** Gives the scores of a day churn risks, as a model would. */
async function withRisks(
  organization: number,
  day: number,
  risks: Readonly<Record<number, number>>,
  settings: Settings = defaultSettings,
) {
  const { warehouse } = subject;
  const run = await newestRun(warehouse, organization, "user", day);
  if (run === undefined) throw new Error("There is no run of users.");
  const version = run.version + 1;
  const users = Object.keys(risks).map(Number);
  await warehouse.rows(
    `INSERT INTO user_scores
     SELECT * REPLACE (transform(user, {users:Array(UInt32)}, {risks:Array(Float64)}, 0.) AS risk, toUInt64({version:UInt64}) AS version)
     FROM user_scores FINAL
     WHERE organization = {organization:UInt32} AND day = addDays(toDate32('1970-01-01'), {day:Int32})`,
    { organization, day, version, users, risks: users.map((user) => risks[user] ?? 0) },
  );
  await keepRecord(
    warehouse,
    { organization, kind: "user", what: "run" },
    {
      day,
      version,
      body: { ...run.body, settings, rowsVersion: version, model: run.body.model ?? ({} as never) },
    },
  );
}
