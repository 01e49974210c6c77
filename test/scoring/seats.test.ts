/** Seats and pulses of accounts in stored scores: as they were known at the start of the scored day. */
import { expect, test } from "bun:test";
import { pulseCopier } from "../../server/features/pulse/copy.ts";
import { accountVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { cellRisks } from "../../server/scoring/queries/cell-table.ts";
import { insertScoresQuery } from "../../server/scoring/queries/score-query.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { snapshotFor } from "../../server/scoring/queries/stored-snapshots.ts";
import { defaultHealthWeights } from "../../server/scoring/scores/health.ts";
import { riskScaleOf } from "../../server/scoring/scores/risk-scale.ts";
import { eraseAccount } from "../../server/warehouse/upkeep/erase-account.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { loadBilling } from "./billing-support.ts";
import { logDay, population, zone } from "./engine-support.ts";

const subject = new WarehouseUnderTest();
const [accounts, lastDay] = [6, 340];
const bgbb = { alpha: 0.8, beta: 1.7, gamma: 0.6, delta: 4 };
const scale = { activeDays: 9.5, volume: 41, eventNames: 3.2, halfLifeDays: 2.5, leastSeenDays: 14 };

/** Each account has as many members as its number, who are active every week. */
async function filled(): Promise<number> {
  const organization = subject.newOrganization();
  const events = Array.from({ length: accounts }, (_, index) =>
    Array.from({ length: index + 1 }, (_, member) =>
      Array.from({ length: lastDay / 7 }, (_, week) => {
        const day = logDay(week * 7);
        const timeMs = zone.startOfDay(day) + msPerDay / 2;
        return event(organization, {
          user: (index + 1) * 100 + member,
          account: index + 1,
          event: "open",
          timeMs,
          day,
        });
      }),
    ),
  ).flat(2);
  await insertEvents(subject, events);
  return organization;
}

const said = (organization: number, number: number, version: number, days: number, traits: object) =>
  accountVersionRow(
    { organization, number, version },
    { atMs: zone.startOfDay(logDay(days)), traits: { ...traits } },
  );

interface Pulse {
  readonly account: number;
  readonly pulse: number;
  readonly value: number;
  readonly days: number;
  readonly takenBackDays?: number;
}

async function judge(organization: number, pulses: readonly Pulse[]): Promise<void> {
  for (const { account, pulse, value, days, takenBackDays } of pulses) {
    const saidAtMs = zone.startOfDay(logDay(days));
    const takenBackAtMs = takenBackDays === undefined ? 0 : zone.startOfDay(logDay(takenBackDays));
    await subject.warehouse.command(
      `INSERT INTO account_pulses (organization, account, pulse, version, value, said_at_ms, taken_back_at_ms)
       SELECT {organization:UInt32}, {account:UInt32}, {pulse:UInt32}, {version:UInt64}, {value:UInt8},
         {saidAtMs:Int64}, nullIf({takenBackAtMs:Int64}, 0)`,
      { organization, account, pulse, value, saidAtMs, takenBackAtMs, version: takenBackAtMs || saidAtMs },
    );
  }
}

let versions = 0;

/** Stored (seats, pulse, active members) by account, as of a day of the log. */
async function scoredAsOf(organization: number, days: number): Promise<Record<number, unknown[]>> {
  const ofAccounts = population(organization, "account");
  const snapshot = await snapshotFor(subject.warehouse, ofAccounts, logDay(days));
  versions += 1;
  const { sql, parameters } = insertScoresQuery(ofAccounts, {
    snapshot,
    version: versions,
    horizonDays: 28,
    scale,
    healthWeights: defaultHealthWeights,
    riskScale: riskScaleOf(null),
    model: null,
    cells: cellRisks(bgbb, 28),
    memberRisks: cellRisks(bgbb, 28),
  });
  await subject.warehouse.command(sql, parameters);
  const rows = await subject.warehouse.rows<{ account: number; facts: unknown[] }>(
    `SELECT account, [toNullable(seats), toNullable(pulse), toNullable(active_members_28)] AS facts FROM account_scores
     WHERE organization = {organization:UInt32} AND version = {version:UInt64}`,
    { organization, version: versions },
  );
  return Object.fromEntries(rows.map(({ account, facts }) => [account, facts]));
}

test("seats are the attribute as it was, else the quantities of subscriptions that go on", async () => {
  const organization = await filled();
  await subject.insert("account_versions", [
    said(organization, 1, 1, 100, { seats: 20, plan: "team" }),
    said(organization, 1, 2, 200, { seats: "25" }),
    said(organization, 2, 1, 100, { seats: 20 }),
    said(organization, 2, 2, 200, { seats: null }),
    said(organization, 3, 1, 100, { seats: "many" }),
    said(organization, 4, 1, 100, { seats: 0 }),
  ]);
  const billing = (account: number, id: string, days: number, name: string, properties: object) =>
    event(organization, {
      user: account * 100,
      account,
      event: name,
      timeMs: zone.startOfDay(logDay(days)) + 3_600_000,
      day: logDay(days),
      properties: JSON.stringify({ subscriptionId: id, ...properties }),
      isActivity: false,
    });
  const monthly = { plan: "Team", amount: 4_900, currency: "EUR", interval: "month" };
  await loadBilling(subject, [
    billing(2, "s2", 50, "subscription_started", { ...monthly, quantity: 7 }),
    billing(3, "s3", 50, "subscription_started", { ...monthly, quantity: 3 }),
    billing(3, "s3", 150, "subscription_changed", { ...monthly, quantity: 9 }),
    billing(3, "flat", 60, "subscription_started", { ...monthly, quantity: 1 }),
    billing(4, "s4", 50, "subscription_started", { ...monthly, quantity: 4 }),
    billing(4, "s4b", 50, "subscription_started", { ...monthly, quantity: 6 }),
    billing(4, "s4b", 180, "subscription_canceled", {}),
    billing(5, "flat5", 50, "subscription_started", { ...monthly, quantity: 1 }),
  ]);
  const seats = async (days: number) =>
    Object.values(await scoredAsOf(organization, days)).map(([bought, , active]) => [bought, active]);
  // Of the very day nothing counts.
  const early = [null, 7, 3, 10, null, null].map((bought, at) => [bought, at + 1]);
  expect(await seats(100)).toEqual(early);
  expect(await seats(101)).toEqual([20, 20, 3, 10, null, null].map((bought, at) => [bought, at + 1]));
  expect(await seats(201)).toEqual([25, 7, 9, 4, null, null].map((bought, at) => [bought, at + 1]));
  // A rebuild of the past day shows what its run showed.
  expect(await seats(100)).toEqual(early);
});

test("a pulse counts from the next day on, for 90 days, until it is taken back or the owner changes", async () => {
  const organization = await filled();
  await judge(organization, [
    { account: 1, pulse: 1, value: 2, days: 100 },
    { account: 1, pulse: 2, value: 4, days: 150 },
    { account: 2, pulse: 3, value: 1, days: 100 },
    { account: 3, pulse: 4, value: 5, days: 100, takenBackDays: 120 },
    { account: 4, pulse: 5, value: 3, days: 100 },
    { account: 4, pulse: 6, value: 2, days: 140, takenBackDays: 141 },
    { account: 5, pulse: 7, value: 5, days: 100 },
  ]);
  await subject.insert("account_versions", [
    said(organization, 2, 1, 50, { owner: "ada@vendor.example" }),
    said(organization, 2, 2, 110, { owner: "Ada@vendor.example" }),
    said(organization, 2, 3, 120, { owner: "bob@vendor.example" }),
    // A first owner replaces nobody.
    said(organization, 4, 1, 130, { owner: "ada@vendor.example" }),
    said(organization, 5, 1, 90, { owner: "ada@vendor.example" }),
    said(organization, 5, 2, 180, { owner: null }),
  ]);
  const pulses = async (days: number) =>
    Object.values(await scoredAsOf(organization, days)).map(([, pulse]) => pulse);
  expect(await pulses(100)).toEqual([null, null, null, null, null, null]);
  expect(await pulses(101)).toEqual([2, 1, 5, 3, 5, null]);
  expect(await pulses(120)).toEqual([2, 1, 5, 3, 5, null]);
  expect(await pulses(121)).toEqual([2, null, null, 3, 5, null]);
  expect(await pulses(141)).toEqual([2, null, null, 2, 5, null]);
  expect(await pulses(160)).toEqual([4, null, null, 3, 5, null]);
  expect(await pulses(181)).toEqual([4, null, null, 3, null, null]);
  expect(await pulses(190)).toEqual([4, null, null, 3, null, null]);
  expect(await pulses(191)).toEqual([4, null, null, null, null, null]);
  expect(await pulses(241)).toEqual([null, null, null, null, null, null]);
  expect(await pulses(101)).toEqual([2, 1, 5, 3, 5, null]);
});

test("rows of training have seats and pulses as they were, and nothing that was said later", async () => {
  const organization = await filled();
  await subject.insert("account_versions", [
    said(organization, 1, 1, 100, { seats: 20 }),
    said(organization, 1, 2, 200, { seats: 8 }),
  ]);
  await judge(organization, [
    { account: 1, pulse: 1, value: 2, days: 100 },
    { account: 2, pulse: 2, value: 5, days: 200 },
  ]);
  const days = [100, 150, 200, 201].map(logDay);
  const snapshots = await readSnapshots(subject.warehouse, population(organization, "account"), days, {
    horizonDays: 28,
    everyone: true,
  });
  const known = days.map((day) =>
    (snapshots.get(day)?.rows ?? [])
      .map(({ entity = 0, features: { seats, pulse } }) => [entity, seats, pulse])
      .filter(([, ...facts]) => facts.some((fact) => fact !== null))
      .toSorted(([a], [b]) => (a ?? 0) - (b ?? 0)),
  );
  expect(known).toEqual([
    [],
    [[1, 20, 2]],
    [[1, 20, null]],
    [
      [1, 8, null],
      [2, null, 5],
    ],
  ]);
  const ofUsers = await readSnapshots(subject.warehouse, population(organization, "user"), days.slice(1, 2), {
    horizonDays: 28,
    everyone: true,
  });
  const [row] = ofUsers.get(days[1] ?? 0)?.rows ?? [];
  expect([row?.features.seats, row?.features.pulse]).toEqual([undefined, undefined]);
});

test("pulses are copied when one was said or taken back, and erased with their account", async () => {
  const organization = await filled();
  const entity = { kind: "account", id: "1", label: "1" } as const;
  const about = { entity, text: "They said so.", saidBy: null };
  const said = (id: number, account: number, value: number, takenBackAtMs: number | null = null) => ({
    ...about,
    id,
    account,
    value,
    saidAtMs: 1_000 + id,
    takenBackAtMs,
  });
  let pulses = [said(1, 1, 2), said(2, 2, 5)];
  let pages = 0;
  const copy = pulseCopier(subject.warehouse, {
    pulses: {
      counts: async () => ({
        pulses: pulses.length,
        takenBack: pulses.filter(({ takenBackAtMs }) => takenBackAtMs !== null).length,
      }),
      all: async (_, after) => {
        pages += 1;
        return pulses.filter(({ id }) => id > after);
      },
    },
  });
  const copied = () =>
    subject.warehouse.rows(
      `SELECT pulse, account, value, said_at_ms AS saidAtMs, taken_back_at_ms AS takenBackAtMs
       FROM account_pulses FINAL WHERE organization = {organization:UInt32} ORDER BY pulse`,
      { organization },
    );
  await copy(organization);
  await copy(organization);
  expect(pages).toBe(1);
  const [first, second] = [
    { pulse: 1, account: 1, value: 2, saidAtMs: 1_001, takenBackAtMs: null },
    { pulse: 2, account: 2, value: 5, saidAtMs: 1_002, takenBackAtMs: null },
  ];
  expect(await copied()).toEqual([first, second]);
  pulses = [said(1, 1, 2, 5_000), said(2, 2, 5)];
  await copy(organization);
  expect(await copied()).toEqual([{ ...first, takenBackAtMs: 5_000 }, second]);
  await eraseAccount(subject.warehouse, { organization, account: 1 }, 1);
  expect(await copied()).toEqual([second]);
});
