/** Trainings of an import: the first scores of a large organization come before its first, and past days
 * share those of every fourth Monday. */
import { expect, test } from "bun:test";
import { defaultSettings } from "../../contract/settings.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { leastLogDays } from "../../server/scoring/churn/folds.ts";
import { scoreDay } from "../../server/scoring/run/score-day.ts";
import { ServiceStopping } from "../../server/scoring/run/scoring.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { LedgerInMemory } from "../actions/ledger-in-memory.ts";
import { event, insertEvents, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all, on, scoresOf } from "./run-support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const today = simulatedFrom + 200;

/** Users whose behaviour is simulated, and others who came once. */
const eventsOf = (organization: number, others: number) => [
  ...simulateLogs(400, 200, 11).flatMap(({ log }, index) =>
    log.map(({ day, event: name }) => on(organization, index + 1, day, name)),
  ),
  ...Array.from({ length: others }, (_, index) =>
    event(organization, {
      user: 1_000 + index,
      account: 1 + (index % 500),
      event: "open",
      day: today - 20,
      timeMs: (today - 20) * msPerDay,
    }),
  ),
];

test("the first scores do not wait for the first training, which a kill only delays", async () => {
  const installation = new Installation(subject, today);
  const organization = installation.organization();
  const others = 10_000;
  await installation.insert(eventsOf(organization, others));
  // An import in the order of time was looked at when it had come as far as its tenth week.
  await scoreDay(subject.warehouse, {
    organization: { id: organization, zone: new Zone("UTC"), settings: defaultSettings },
    day: simulatedFrom + 70,
    report: () => undefined,
    nowMs: Date.now,
  });
  const rule = new LedgerInMemory(organization, { kind: "healthBelow", below: 40 });
  const decide = () => rule.decide(subject.warehouse, (today + 0.5) * msPerDay);
  installation.beforeStatement = async (sql, parameters) => {
    if (sql.includes("INSERT INTO score_records") && parameters?.what === "model") {
      installation.beforeStatement = () => Promise.reject(new ServiceStopping());
      throw new ServiceStopping();
    }
  };
  await installation.work();
  for (const kind of ["user", "account"] as const) {
    const first = await newestRun(subject.warehouse, organization, kind, today);
    expect([first?.day, first?.stale, first?.body.awaitsTraining]).toEqual([today, true, true]);
    expect(first?.body.choice.why).toEndWith("; the first model is being trained");
    expect((await scoresOf(subject, organization, kind, today)).length).toBe(first?.body.entities ?? 0);
    if (kind === "user") expect(first?.body.entities).toBeGreaterThan(others);
  }
  await decide();
  expect(rule.commits).toBe(0);

  installation.beforeStatement = async () => undefined;
  installation.restart();
  expect(await installation.work()).toBe(1);
  const [users, accounts] = await Promise.all(
    (["user", "account"] as const).map((kind) => newestRun(subject.warehouse, organization, kind, today)),
  );
  for (const run of [users, accounts]) {
    expect([run?.day, run?.stale, run?.body.awaitsTraining]).toEqual([today, false, undefined]);
  }
  expect(users?.body.backtest.folds).toBeGreaterThan(0);
  await decide();
  expect(rule.commits).toBeGreaterThan(0);
});

test("a small organization is scored once, with its first model", async () => {
  const installation = new Installation(subject, today);
  const organization = installation.organization();
  await installation.insert(eventsOf(organization, 0));
  let runs = 0;
  installation.beforeStatement = async (sql, parameters) => {
    if (sql.includes("INSERT INTO score_records") && parameters?.what === "run") runs += 1;
  };
  await installation.work();
  expect(runs).toBe(2);
});

test("a past day has the model of its Monday if there is one, and else that of every fourth Monday", async () => {
  const organization = { id: subject.newOrganization(), zone: new Zone("UTC"), settings: defaultSettings };
  const firstDay = 100;
  const days = Array.from({ length: 65 }, (_, index) => firstDay + 3 * index);
  await insertEvents(subject, all(organization.id, 6, days));
  const trainedOn = async (day: number, isOfPast = true) => {
    await scoreDay(subject.warehouse, {
      organization,
      day,
      isOfPast,
      report: () => undefined,
      nowMs: Date.now,
    });
    return (await newestRun(subject.warehouse, organization.id, "user", day))?.body.trainedDay;
  };
  const fourthMonday = 284;
  expect(fourthMonday).toBeGreaterThanOrEqual(firstDay + leastLogDays(defaultSettings.churnHorizonDays));
  expect(await trainedOn(fourthMonday + 9, false)).toBe(fourthMonday + 7);
  expect(await trainedOn(fourthMonday + 8)).toBe(fourthMonday + 7);
  expect(await trainedOn(fourthMonday + 6)).toBe(fourthMonday);
  expect(await trainedOn(fourthMonday + 15)).toBe(fourthMonday);
  // The fourth Monday before has too little data to train on.
  expect(await trainedOn(fourthMonday - 5)).toBe(fourthMonday - 7);
});
