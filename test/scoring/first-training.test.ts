/** Trainings of an import: the first scores of a large organization come before its first, and its past has one each four weeks. */
import { expect, test } from "bun:test";
import { ServiceStopping } from "../../server/scoring/run/scoring.ts";
import { newestRun } from "../../server/scoring/run/status.ts";
import { LedgerInMemory } from "../actions/ledger-in-memory.ts";
import { event, msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { Installation } from "./installation.ts";
import { all, on, scoresOf } from "./run-support.ts";
import { simulatedFrom, simulateLogs } from "./support.ts";

const subject = new WarehouseUnderTest();
const today = simulatedFrom + 240;

/** Users whose behaviour is simulated, and others who came once. */
const eventsOf = (organization: number, others: number) => [
  ...simulateLogs(400, 240, 11).flatMap(({ log }, index) =>
    log.map(({ day, event: name }) => on(organization, index + 1, day, name)),
  ),
  ...Array.from({ length: others }, (_, index) =>
    event(organization, {
      ...{ user: 1_000 + index, account: 1 + (index % 500), event: "open", day: today - 20 },
      timeMs: (today - 20) * msPerDay,
    }),
  ),
];

test("the first scores do not wait for the first training, which a kill only delays", async () => {
  const installation = new Installation(subject, today);
  const organization = installation.organization();
  const others = 10_000;
  await installation.insert(eventsOf(organization, others));
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

test("the past has a model of every fourth Monday, and each later week one of its own", async () => {
  const fourthMonday = 116;
  const installation = new Installation(subject, fourthMonday + 14);
  const id = installation.organization();
  await installation.insert(all(id, 6, [100, 105, 110, 115, 120, 125]));
  await installation.finish();
  const trainedDays = async () => {
    const models = await subject.warehouse.rows<{ day: number }>(
      `SELECT toInt32(day) AS day FROM score_records FINAL
       WHERE organization = {id:UInt32} AND what = 'model' AND kind = 'user' ORDER BY day`,
      { id },
    );
    return models.map(({ day }) => day);
  };
  // The fourth Monday before those two is older than the data.
  expect(await trainedDays()).toEqual([102, 109, fourthMonday, 130]);
  const trainedOn = async (day: number) =>
    (await newestRun(subject.warehouse, id, "user", day))?.body.trainedDay;
  expect([await trainedOn(130), await trainedOn(129), await trainedOn(115)]).toEqual([130, 116, 109]);
  installation.today += 7;
  await installation.finish();
  expect(await trainedDays()).toEqual([102, 109, fourthMonday, 130, 137]);
  expect([await trainedOn(137), await trainedOn(136)]).toEqual([137, 130]);
});
