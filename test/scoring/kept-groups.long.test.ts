/** A proven model keeps its groups of features until others are 0.5 % better, from one weekly training to the
 * next. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { groupsOfModel } from "../../server/scoring/churn/churn-model.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { user } from "../ledger/writes.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const target = { by: "event", event: "canceled", undoneBy: null } as const;
const settings = { ...defaultSettings, churnTargets: { ...defaultSettings.churnTargets, user: target } };
/** The first of three Mondays in a row. */
const monday = simulatedFrom + 318;
/** From the last activity to the event that means churn: until then silence tells of it. */
const silentDays = 20;
const logs = simulateLogs(700, 333, 7).map(({ log }) => ({ log, lastDay: log.at(-1)?.day ?? 0 }));

function insert(organization: number): Promise<unknown> {
  const rows = logs.flatMap(({ log, lastDay }, index) =>
    [...log, { day: lastDay + silentDays, event: target.event }].map(({ day, event: name }) =>
      event(organization, { user: index + 1, event: name, day, timeMs: day * msPerDay + 43_200_000 }),
    ),
  );
  return insertEvents(
    subject,
    rows.filter(({ day }) => day < monday + 14),
  );
}

/** Says a trait of all users from the beginning on. */
async function say(organization: number, trait: string, traitOf: (index: number) => string): Promise<void> {
  const versions = logs.map((_, index) =>
    userVersionRow(user(organization, `u${index}`, { number: index + 1 }), {
      atMs: (simulatedFrom - 1) * msPerDay,
      account: 0,
      traits: { [trait]: traitOf(index) },
    }),
  );
  await subject.insert("user_versions", versions);
}

async function scoredOn(organization: number, day: number) {
  await scoreDay(subject.warehouse, {
    organization: { id: organization, zone, settings },
    day,
    nowMs: Date.now,
    report: () => undefined,
  });
  const run = await newestRun(subject.warehouse, organization, "user", day);
  if (run === undefined) throw new Error("there was no run");
  const { choice, model, backtest } = run.body;
  return { choice, groups: groupsOfModel(model), judged: backtest.ridge?.groups };
}

/** A letter that says nothing about the user. */
const letter = (index: number) => "abcd".charAt((index * 7_919) % 4);

const [weekly, first] = [subject.newOrganization(), subject.newOrganization()];

test("traits that are worth nothing do not replace the model without them, which a first training takes", async () => {
  for (const organization of [weekly, first]) await insert(organization);
  const before = await scoredOn(weekly, monday);
  expect(before).toMatchObject({ choice: { rung: 3, isProven: true }, judged: undefined });
  expect(before.groups).toContain("mix");
  expect(before.groups).not.toContain("traits");
  for (const organization of [weekly, first]) await say(organization, "sort", letter);
  const after = await scoredOn(weekly, monday + 7);
  expect(after).toMatchObject({ choice: { rung: 3, isProven: true }, judged: before.groups });
  expect(after.groups).toEqual(before.groups ?? []);
  const alone = await scoredOn(first, monday + 7);
  expect(alone).toMatchObject({ choice: { rung: 3 }, judged: undefined });
  expect(alone.groups).toContain("traits");
});

test("traits that tell of leaving replace it on the next Monday", async () => {
  await say(weekly, "mood", (index) =>
    (logs[index]?.lastDay ?? 0) < monday - 60 ? "leaves" : letter(index),
  );
  const after = await scoredOn(weekly, monday + 14);
  expect([after.choice.rung, after.judged]).toEqual([3, undefined]);
  expect(after.groups).toContain("traits");
});
