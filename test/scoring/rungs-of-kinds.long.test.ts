/** Users and accounts of one organization climb the ladder each by their own labels. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { recordOf } from "../../server/scoring/run/records.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();

/** 500 users in that many accounts, scored. Returns the trained model, and the data that it was trained
 * on. */
async function ladderOf(organization: number, accounts: number, days = 320) {
  const logs = simulateLogs(500, days, 7);
  const day = simulatedFrom + days;
  await insertEvents(
    subject,
    logs.flatMap(({ log }, index) =>
      log.map((one) =>
        event(organization, {
          user: index + 1,
          account: 1 + (index % accounts),
          event: one.event,
          day: one.day,
          timeMs: one.day * msPerDay + 43_200_000,
        }),
      ),
    ),
  );
  const zone = new Zone("UTC");
  const of = { id: organization, zone, settings: defaultSettings };
  await scoreDay(subject.warehouse, {
    organization: of,
    day,
    report: () => undefined,
    nowMs: Date.now,
  });
  const ofKind = async (kind: EntityKind) => {
    const run = await newestRun(subject.warehouse, organization, kind, day);
    if (run === undefined) throw new Error(`${kind}s were not scored`);
    const model = await recordOf(
      subject.warehouse,
      { organization, kind, what: "model" },
      run.body.trainedDay,
    );
    const rungs = model?.body.rungs ?? [];
    return {
      run: run.body,
      rungs: rungs.map(({ rung }) => rung),
      third: rungs.find(({ rung }) => rung === 3),
    };
  };
  return { users: await ofKind("user"), accounts: await ofKind("account") };
}

test("accounts with too few labels have no third rung, beside users who have", async () => {
  const { users, accounts } = await ladderOf(subject.newOrganization(), 170);
  expect(users.rungs).toEqual([0, 1, 2, 3, 4, 6]);
  const { churnedLabels, retainedLabels } = accounts.run.counts;
  expect(churnedLabels).toBeWithin(50, 100);
  expect(retainedLabels).toBeGreaterThan(100);
  expect(accounts.rungs).toEqual([0, 1, 2, 4, 6]);
  expect(accounts.run.choice.rung).toBeOneOf([null, 1, 2, 4]);
  if (accounts.run.choice.next?.rung === 3) {
    expect(accounts.run.choice.next.missing).toEqual([
      { what: "churnedLabels", have: churnedLabels, need: 100 },
    ]);
  }
});

test("accounts with a hundred labels of each class have it, with what their members do", async () => {
  const { accounts } = await ladderOf(subject.newOrganization(), 250);
  const { churnedLabels, retainedLabels } = accounts.run.counts;
  expect(Math.min(churnedLabels, retainedLabels)).toBeGreaterThanOrEqual(100);
  expect(accounts.rungs).toEqual([0, 1, 2, 3, 4, 6]);
  const design = accounts.third?.rung === 3 ? accounts.third.design : null;
  expect(design).toMatchObject({ hasMembers: true, traits: [] });
});

test("a handful of accounts has no model, and says what the next rung waits for", async () => {
  const { accounts } = await ladderOf(subject.newOrganization(), 9, 200);
  expect(accounts.rungs).toEqual([0]);
  expect(accounts.run.choice).toMatchObject({ rung: null, isProven: false });
  expect(accounts.run.choice.next?.missing[0]).toEqual({ what: "entities", have: 9, need: 60 });
});
