/** Labels while raw events are deleted: they follow from rows that stay, or are unknown. */
import { describe, expect, test } from "bun:test";
import type { ChurnTarget } from "../../contract/api/churn-targets.ts";
import { defaultSettings } from "../../contract/settings.ts";
import type { EventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { Snapshot } from "../../server/scoring/churn/snapshot.ts";
import { readSnapshots } from "../../server/scoring/queries/snapshots.ts";
import { departureOf } from "../../server/scoring/run/entity.ts";
import { realisedChurn } from "../../server/scoring/run/realised.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { dropEvents } from "../../server/warehouse/upkeep/keep-events.ts";
import { event, insertEvents, msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, logsOf, population, zone } from "./engine-support.ts";
import { snapshotOf } from "./snapshot.ts";

const subject = new WarehouseUnderTest();
const horizonDays = 28;
const users = 60;

/** Raw events of days before this one are deleted. */
async function deleteBefore(organization: number, beforeDay: number): Promise<void> {
  await dropEvents(subject.warehouse, [{ organization, beforeDay }], (work) => work());
}

/** The next run trains again. */
async function forgetModels(organization: number): Promise<void> {
  await subject.warehouse.command(
    "ALTER TABLE score_records DELETE WHERE organization = {organization:UInt32} AND what = 'model'",
    { organization },
  );
}

/** An event at the start of a day of the log, or later on it. */
function at(organization: number, user: number, day: number, some: Partial<EventRow> = {}): EventRow {
  const timeMs = zone.startOfDay(logDay(day)) + (some.timeMs ?? 0);
  return event(organization, {
    user,
    account: 1 + (user % 9),
    event: "opened",
    day: logDay(day),
    ...some,
    timeMs,
  });
}

/** Users open something every few days. */
function use(organization: number, days: number): EventRow[] {
  return Array.from({ length: users }, (_, index) =>
    Array.from({ length: Math.floor(days / (2 + (index % 5))) }, (_day, each) =>
      at(organization, index + 1, each * (2 + (index % 5))),
    ),
  ).flat();
}

describe("by a billing event", () => {
  const cutoffs = [120, 200, 301].map(logDay);
  const target = { by: "event", event: "subscription_canceled", undoneBy: "subscription_resumed" } as const;

  function changes(organization: number, what: string): EventRow[] {
    const random = randomOfThisRun(what);
    return Array.from({ length: users }, (_, index) =>
      Array.from({ length: random.between(0, 4) }, () =>
        at(organization, index + 1, random.between(1, 330), {
          event: random.pick([target.event, target.event, target.undoneBy]),
          timeMs: random.pick([0, 1, msPerDay / 2]),
          isActivity: false,
          properties: JSON.stringify({ subscriptionId: `s${index}` }),
        }),
      ),
    ).flat();
  }

  const comparable = ({ rows }: Pick<Snapshot, "rows">) =>
    rows
      .map(({ features: { idleDays, tenureDays, cell }, label }) =>
        JSON.stringify([idleDays, tenureDays, cell, label]),
      )
      .sort();

  test.each(["user", "account"] as const)("labels of every %s outlive the raw events", async (kind) => {
    const organization = subject.newOrganization();
    const activity = use(organization, 340);
    const changed = changes(organization, `kept labels of ${kind}s`);
    await insertEvents(subject, [...activity, ...changed], 3);
    await deleteBefore(organization, logDay(310));
    const found = await readSnapshots(
      subject.warehouse,
      population(organization, kind, { target }),
      cutoffs,
      {
        horizonDays,
      },
    );
    const entities = [...logsOf(activity, kind)].map(([entity, log]) => ({
      log,
      changes: changed
        .filter((one) => one[kind] === entity)
        .map((one) => ({ day: one.day, timeMs: one.timeMs, isChurned: one.event === target.event })),
    }));
    const expected = cutoffs.map((day) => comparable(snapshotOf(entities, day, horizonDays, { target })));
    expect(cutoffs.map((day) => comparable(found.get(day) ?? { rows: [] }))).toEqual(expected);
    for (const label of ["true", "false"]) {
      expect(expected.flat().some((row) => row.endsWith(`${label}]`))).toBe(true);
    }
  });

  test("the day of a departure does, too", async () => {
    const organization = subject.newOrganization();
    const late = 23 * 3_600_000;
    const canceled = { event: target.event, isActivity: false, properties: '{"subscriptionId":"s7"}' };
    await insertEvents(subject, [
      at(organization, 7, 90),
      at(organization, 7, 110, { ...canceled, timeMs: late }),
    ]);
    await deleteBefore(organization, logDay(200));
    const settings = { ...defaultSettings, churnTargets: { ...defaultSettings.churnTargets, user: target } };
    const asked = { kind: "user", entity: 7 } as const;
    const of = { id: organization, zone, settings };
    expect((await departureOf(subject.warehouse, asked, of, logDay(300)))?.day).toBe(logDay(110));
  });
});

describe("by an event of the organization's own", () => {
  const today = 170;
  const billed = { event: "subscription_canceled", isActivity: false, properties: '{"subscriptionId":"s"}' };
  const targetOf = (name: string): ChurnTarget => ({ by: "event", event: name, undoneBy: null });

  async function filled(churn: Partial<EventRow>): Promise<number> {
    const organization = subject.newOrganization();
    const left = Array.from({ length: users / 2 }, (_, index) =>
      at(organization, 2 * index + 1, 40 + 4 * index, { event: "contract_ended", ...churn }),
    );
    await insertEvents(subject, [...use(organization, today), ...left], 2);
    return organization;
  }

  async function score(organization: number, day: number, target: ChurnTarget, eventsFromDay: number | null) {
    const settings = {
      ...defaultSettings,
      churnTargets: { user: target, account: defaultSettings.churnTargets.account },
    };
    await scoreDay(subject.warehouse, {
      organization: { id: organization, zone, settings, eventsFromDay },
      day,
      nowMs: Date.now,
      report: () => undefined,
    });
    const run = await newestRun(subject.warehouse, organization, "user", day);
    if (run === undefined) throw new Error("there was no run");
    return run.body;
  }

  async function churnedAndCount(id: number, day: number, eventsFromDay: number | null) {
    const found = await realisedChurn(subject.warehouse, { id, zone, eventsFromDay }, "user", day);
    return [found.reduce((sum, one) => sum + one.churned, 0), found.reduce((sum, one) => sum + one.count, 0)];
  }

  test("nothing is learned from days whose events are deleted, where only events have it", async () => {
    const organization = await filled({ isActivity: false });
    const before = await score(organization, logDay(today), targetOf("contract_ended"), null);
    expect(before.observedBaseRate?.cutoffs).toBeGreaterThan(3);
    await deleteBefore(organization, logDay(100));
    await forgetModels(organization);
    const { observedBaseRate } = await score(
      organization,
      logDay(today),
      targetOf("contract_ended"),
      logDay(100),
    );
    // Horizons of 28 days, back from the Monday of the training, as far as day 100.
    expect(observedBaseRate?.cutoffs).toBe(2);
    expect(observedBaseRate?.churned).toBeGreaterThan(10);
  });

  test("scores of such days are not judged", async () => {
    const organization = await filled({ isActivity: false });
    await score(organization, logDay(60), targetOf("contract_ended"), null);
    expect((await churnedAndCount(organization, logDay(today), null))[0]).toBe(7);
    await deleteBefore(organization, logDay(100));
    expect(await churnedAndCount(organization, logDay(today), logDay(100))).toEqual([0, 0]);
  });

  test.each([
    ["an event that is activity", {}, "contract_ended"],
    ["a billing event", billed, billed.event],
  ])("%s is learned from as before", async (_, churn, name) => {
    const organization = await filled(churn);
    const before = await score(organization, logDay(today), targetOf(name), null);
    await deleteBefore(organization, logDay(100));
    await forgetModels(organization);
    const after = await score(organization, logDay(today), targetOf(name), logDay(100));
    expect([after.observedBaseRate, after.counts]).toEqual([before.observedBaseRate, before.counts]);
    expect(after.observedBaseRate?.churned).toBeGreaterThan(20);
  });
});

test("by silence, labels follow from rows that stay", async () => {
  const organization = subject.newOrganization();
  await insertEvents(subject, use(organization, 150), 2);
  const who = population(organization, "user");
  const read = () => readSnapshots(subject.warehouse, who, [120, 140].map(logDay), { horizonDays });
  const before = await read();
  await deleteBefore(organization, logDay(1_000));
  expect(await read()).toEqual(before);
  expect([...before.values()].map(({ rows }) => rows.length)).toEqual([users, users]);
});
