/** The actual outcomes of scores: each run is judged by the settings of its day. */
import { expect, test } from "bun:test";
import { defaultSettings, type Settings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { realisedChurn } from "../../server/scoring/run/realised.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { insertEvents, WarehouseUnderTest } from "../warehouse/support.ts";
import { loadBilling } from "./billing-support.ts";
import { on } from "./run-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");

async function score(organization: number, day: number, changed: Partial<Settings>): Promise<void> {
  const settings = { ...defaultSettings, ...changed };
  await scoreDay(subject.warehouse, {
    organization: { id: organization, zone, settings },
    day,
    nowMs: Date.now,
    report: () => undefined,
  });
}

async function churnedAndCount(organization: number, day: number): Promise<readonly [number, number]> {
  const found = await realisedChurn(subject.warehouse, { id: organization, zone }, "user", day);
  const sum = (name: "churned" | "count") => found.reduce((total, each) => total + each[name], 0);
  return [sum("churned"), sum("count")];
}

test("a run is judged by the churn horizon of its day, when that is over", async () => {
  const organization = subject.newOrganization();
  const [soon, late, passive] = [1, 2, 3];
  await insertEvents(subject, [
    ...[80, 99, 103].map((day) => on(organization, soon, day)),
    // Back after the seven days of then, and within the 28 of later.
    ...[80, 99, 120].map((day) => on(organization, late, day)),
    // The last event was passive then, and is not later.
    ...[80, 99].map((day) => on(organization, passive, day)),
    on(organization, passive, 104, "mail_sent"),
  ]);
  await score(organization, 100, { churnHorizonDays: 7, passiveEvents: ["mail_sent"] });
  expect(await churnedAndCount(organization, 106)).toEqual([0, 0]);
  expect(await churnedAndCount(organization, 107)).toEqual([2, 3]);
  // The newest run has another horizon, which is not over.
  await score(organization, 125, { churnHorizonDays: 28 });
  expect(await churnedAndCount(organization, 125)).toEqual([2, 3]);
  expect(await churnedAndCount(organization, 152)).toEqual([2, 3]);
  // Within 28 days of day 125 none of the three came back.
  expect(await churnedAndCount(organization, 153)).toEqual([5, 6]);
});

test("with subscriptions it is the share of those that paid on the day, without scheduled ends and with failed payments apart", async () => {
  const organization = subject.newOrganization();
  const [stays, leaves, scheduled, paused, none, unpaid] = [1, 2, 3, 4, 5, 6];
  const price = { plan: "pro", amount: 4_900, currency: "USD", interval: "month" };
  const billed = (user: number, day: number, name: string, properties: object = {}) => ({
    ...on(organization, user, day, name),
    account: 0,
    isActivity: false,
    properties: JSON.stringify({ subscriptionId: `s${user}`, ...properties }),
  });
  await insertEvents(
    subject,
    [stays, leaves, scheduled, paused, none, unpaid].map((user) => on(organization, user, 99)),
  );
  const endsAt = new Date(110 * 86_400_000).toISOString();
  await loadBilling(subject, [
    ...[stays, leaves, scheduled, paused, unpaid].map((user) =>
      billed(user, 60, "subscription_started", price),
    ),
    billed(scheduled, 90, "cancellation_scheduled", { endsAt }),
    billed(paused, 90, "subscription_paused"),
    billed(leaves, 103, "subscription_canceled"),
    billed(unpaid, 101, "payment_failed", { amount: 4_900, currency: "USD" }),
    billed(unpaid, 122, "subscription_canceled"),
  ]);
  const churnTargets = { user: { by: "subscription" }, account: { by: "silence" } } as const;
  await score(organization, 100, { churnHorizonDays: 28, churnTargets });
  expect(await churnedAndCount(organization, 128)).toEqual([2, 3]);
  const found = await realisedChurn(subject.warehouse, { id: organization, zone }, "user", 128);
  expect(found.reduce((sum, { involuntary }) => sum + involuntary, 0)).toBe(1);
});

test("bands that the healthiest leave are counted at each weekly training, and lead with risk from the second on", async () => {
  const organization = subject.newOrganization();
  const users = Array.from({ length: 80 }, (_, index) => index + 1);
  await insertEvents(
    subject,
    users.flatMap((user) => {
      // Half come daily until they all leave; the others come every two weeks, and stay.
      const days = Array.from({ length: 150 }, (_, day) => day + 1);
      const own = user <= 40 ? days.filter((day) => day < 101) : days.filter((day) => day % 14 === user % 14);
      return own.map((day) => on(organization, user, day));
    }),
  );
  await score(organization, 101, {});
  const failuresOn = async (day: number) => {
    await score(organization, day, {});
    const run = await newestRun(subject.warehouse, organization, "user", day);
    return run?.body.bandFailures;
  };
  // The horizon of the first run is over on day 129. Trainings are on Mondays: 1970-01-05 was one.
  expect(await failuresOn(125)).toBe(0);
  expect(await failuresOn(132)).toBe(1);
  expect(await failuresOn(135)).toBe(1);
  expect(await failuresOn(139)).toBe(2);
});
