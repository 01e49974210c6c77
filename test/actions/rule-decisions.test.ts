/** Decisions day by day: the alerts are those of the preview, each once, also when the process dies between
 * two commits. */
import { describe, expect, test } from "bun:test";
import type { RuleCondition, RuleScope } from "../../contract/alerts/rules.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { haveScoresChanged } from "../../server/features/alerts/rules/bulk-changes.ts";
import { previewRule, replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { Random } from "../../simulation/random.ts";
import { event, insertEvents, msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { randomRows, type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;

/** Decides day after day, as the service does at each look. */
async function live(ledger: LedgerInMemory, days: readonly number[]): Promise<void> {
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
}

const question = (organization: number, condition: RuleCondition, scope: RuleScope["kind"]) => ({
  organization: { id: organization, zone: new Zone("UTC") },
  scope: { kind: scope },
  condition,
  cooldownDays: null,
  horizonDays,
  today,
});

const neverAsked = () => Promise.reject(new Error("The rule names no segment."));

const firedUsers = ({ fired }: LedgerInMemory) =>
  fired.map(({ entity, day }) => [entity.kind === "user" ? entity.number : 0, day - today]);

const inOrder = (alerts: readonly { entity: number; day: number }[]) =>
  alerts.map(({ entity, day }) => [day, entity]).sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);

describe("on random histories the preview has the alerts of a live run", () => {
  const random = randomOfThisRun("decisions");
  const all = Array.from({ length: 60 }, (_, at) => today - 59 + at);
  const freeze = today - random.between(12, 25);
  const days = all.filter((day) => (day < freeze || day >= freeze + 8) && !random.chance(0.02));
  const rows = randomRows(random, 40, days);
  const organization = 900;
  // An account without a row is out, and a user without one has no reading.
  const scope = random.pick(["users", "accounts"] as const);
  const kind = scope === "users" ? "user" : "account";
  // Each takes 6 s of processor time, so a run has one of them.
  const condition: RuleCondition = random.pick([
    { kind: "riskBand", band: "high" } as const,
    { kind: "healthBelow", below: 40 } as const,
    { kind: "healthDown", by: 20, days: 7 } as const,
    { kind: "usageDown", percent: 50 } as const,
  ]);

  test(`of ${condition.kind} of ${scope}, although the process dies now and then`, async () => {
    await storeDays(subject, { organization, kind, days, rows, horizonDays });
    const { runs, replays } = await replaysOf(
      subject.warehouse,
      question(organization, condition, scope),
      {},
    );
    const foretold = [...replays].flatMap(({ entity, fired }) => fired.map((one) => ({ entity, ...one })));
    const ledger = new LedgerInMemory(organization, condition, { random: new Random(7), scope });
    await live(
      ledger,
      runs.map(({ day }) => day),
    );
    const numbered = ledger.fired.flatMap(({ entity, day }) =>
      entity.kind === kind ? [{ entity: entity.number, day }] : [],
    );
    expect(inOrder(numbered)).toEqual(inOrder(foretold));
    expect(foretold.length).toBeGreaterThan(3);
    const parts = { warehouse: subject.warehouse, findSegment: neverAsked };
    const preview = await previewRule(parts, question(organization, condition, scope));
    expect(preview.fired).toBe(ledger.fired.length);
    expect(preview.open).toBe(ledger.fired.length - ledger.closed.length);
    expect(preview.weeks.reduce((sum, { fired }) => sum + fired, 0)).toBe(ledger.fired.length);
  });
});

test("a day with 350 alerts is committed in parts, and goes on behind the last one after a kill", async () => {
  const organization = subject.newOrganization();
  const days = [today - 1, today];
  const rows: ScoreRow[] = days.flatMap((day) =>
    Array.from({ length: 350 }, (_, at) => ({
      entity: at + 1,
      day,
      state: "active" as const,
      health: 50,
      volume28: 1,
      risk: day === today ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const ledger = new LedgerInMemory(
    organization,
    { kind: "riskBand", band: "high" },
    { random: new Random(3) },
  );
  await live(ledger, days);
  expect(ledger.fired).toHaveLength(350);
  expect(new Set(ledger.fired.map(({ entity }) => JSON.stringify(entity))).size).toBe(350);
  expect(ledger.commits).toBe(5);
  expect(ledger.fired[0]).toMatchObject({ before: 0.1, after: 0.9, risk: 0.9, account: null });
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("Churn risk 90%, was 10%");
});

test("reasons round scores down, so that none seems to be outside", async () => {
  const organization = subject.newOrganization();
  const days = [today - 1, today];
  const rows: ScoreRow[] = days.map((day) => ({
    entity: 1,
    day,
    state: "active" as const,
    volume28: 1,
    ...(day === today ? { health: 39.75, risk: 0.2969 } : { health: 60.5, risk: 0.0625 }),
  }));
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const texts: (string | undefined)[] = [];
  for (const condition of [
    { kind: "healthBelow", below: 40 } as const,
    { kind: "riskUp", by: 0.1, days: 1 } as const,
  ]) {
    const ledger = new LedgerInMemory(organization, condition);
    await live(ledger, days);
    texts.push(ledger.fired[0]?.reasons[0]?.text);
  }
  expect(texts).toEqual(["Health 39, was 60", "Churn risk 29%, was 6%"]);
});

test("an alert of a user who is out ends when its cooldown is over, although nothing crosses on that day", async () => {
  const organization = subject.newOrganization();
  const days = Array.from({ length: horizonDays + 3 }, (_, at) => today - horizonDays - 2 + at);
  const rows: ScoreRow[] = days.map((day, at) => ({
    entity: 1,
    day,
    state: "active",
    health: 50,
    volume28: 1,
    risk: at === 1 ? 0.9 : 0.1,
  }));
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
  await live(ledger, days.slice(0, -2));
  expect([firedUsers(ledger), ledger.closed]).toEqual([[[1, -horizonDays - 1]], []]);
  await live(ledger, days.slice(-2));
  expect(ledger.closed).toMatchObject([
    { day: today - 1, firedOn: today - horizonDays - 1, why: "resolved" },
  ]);
  expect(await ledger.states(0, 0, -1, 9)).toEqual([]);
});

test("a rule without scores of its days, and one that is decided, commit nothing", async () => {
  const organization = subject.newOrganization();
  const ledger = new LedgerInMemory(organization, { kind: "healthBelow", below: 40 });
  await live(ledger, [today]);
  expect(ledger.commits).toBe(0);
  const row = { entity: 1, day: today, state: "active" as const, risk: 0.1, health: 20, volume28: 1 };
  await storeDays(subject, { organization, kind: "user", days: [today], rows: [row], horizonDays });
  await live(ledger, [today, today]);
  expect([ledger.commits, ledger.fired.length]).toEqual([1, 0]);
});

/** Users 1 and 2 come into high risk on the second day and on the third one. */
async function storeCrossings(organization: number): Promise<void> {
  const days = [today - 2, today - 1, today];
  const rows: ScoreRow[] = days.flatMap((day) =>
    [1, 2].map((entity) => ({
      entity,
      day,
      state: "active" as const,
      health: 50,
      volume28: 1,
      risk: day >= today - 2 + entity ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
}

/** Events of 60 days, 5 a day, that were received before the first run of the last decided day, which was at
 * the beginning of 1970. And some that were received afterwards. */
async function storeEvents(organization: number, later: readonly number[]): Promise<void> {
  const usual = Array.from({ length: 300 }, (_, at) => today - 2 - (at % 60));
  await insertEvents(subject, [
    ...usual.map((day) => event(organization, { timeMs: day * msPerDay, receivedAtMs: 0 })),
    ...later.map((day) => event(organization, { timeMs: day * msPerDay, receivedAtMs: 1 })),
  ]);
}

describe("an import after the last decided day", () => {
  const many = (day: number) => Array.from({ length: 200 }, () => day);
  const history = Array.from({ length: 60 }, (_, at) => today - 10 - at);
  const sinceFriday = Array.from({ length: 90 }, (_, at) => today - 2 - (at % 4));
  test.each<readonly [what: string, imported: readonly number[], isTakenOver: boolean]>([
    ["of history", history, true],
    ["of many events of one earlier day", many(today - 40), true],
    ["of yesterday's events and two old ones", [...many(today - 2), today - 9, today - 40], false],
    ["of the days since Friday", sinceFriday, false],
    ["of users alone", [], false],
    ["with a wrong date", many(3), false],
  ])("%s is taken over, or is news", async (_, imported, isTakenOver) => {
    const organization = subject.newOrganization();
    await storeCrossings(organization);
    await storeEvents(organization, imported);
    const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
    await live(ledger, [today - 2]);
    ledger.bulkLoadedAtMs = 1;
    await live(ledger, [today - 1]);
    ledger.bulkLoadedAtMs = null;
    await live(ledger, [today]);
    expect(firedUsers(ledger)).toEqual(
      isTakenOver
        ? [[2, 0]]
        : [
            [1, -1],
            [2, 0],
          ],
    );
  });
});

test("a new rule with those who are inside fires for them, also after an import of history", async () => {
  const organization = subject.newOrganization();
  await storeCrossings(organization);
  await storeEvents(
    organization,
    Array.from({ length: 60 }, (_, at) => today - 10 - at),
  );
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
  ledger.watermark = { ...ledger.watermark, takesOver: false };
  ledger.bulkLoadedAtMs = 1;
  await live(ledger, [today]);
  expect(firedUsers(ledger)).toEqual([
    [1, 0],
    [2, 0],
  ]);
});

test("the state of an account counts for no user with its number", async () => {
  const organization = subject.newOrganization();
  await storeCrossings(organization);
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
  const open = { hasLeft: false, daysOut: 0, restsUntil: today + 9, firedOn: today - 5, value: 0.9 };
  ledger.keep({ entity: { kind: "account", number: 2 }, ...open });
  await live(ledger, [today - 2, today - 1, today]);
  expect([firedUsers(ledger), ledger.closed]).toEqual([
    [
      [1, -1],
      [2, 0],
    ],
    [],
  ]);
});

test("alerts about accounts end when all members are excluded, or have left, although their last score is of before", async () => {
  const organization = subject.newOrganization();
  const store = (day: number, accounts: readonly number[]) => {
    const row = { state: "active" as const, health: 50, volume28: 1, risk: day === today - 2 ? 0.1 : 0.9 };
    const rows = accounts.map((entity) => ({ ...row, entity, day }));
    return storeDays(subject, { organization, kind: "account", days: [day], rows, horizonDays });
  };
  const values = [1, 2, 3].map((user) => `({organization:UInt32}, ${user}, ${user}, 1)`).join(", ");
  await subject.warehouse.command(
    `INSERT INTO users (organization, user, account, version) VALUES ${values}`,
    { organization },
  );
  const accounts = [1, 2, 3, 4].map((account) => `({organization:UInt32}, ${account}, 1)`).join(", ");
  await subject.warehouse.command(
    `INSERT INTO accounts (organization, account, version) VALUES ${accounts}`,
    { organization },
  );
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" }, { scope: "accounts" });
  for (const day of [today - 2, today - 1]) await store(day, [1, 2, 3, 4]);
  await live(ledger, [today - 2, today - 1]);
  // Account 4 has no members.
  expect(ledger.fired.map(({ entity }) => entity)).toEqual(
    [1, 2, 3].map((number) => ({ kind: "account", number })),
  );
  await subject.warehouse.command(
    `INSERT INTO excluded_users SELECT {organization:UInt32}, 1, groupBitmapState(toUInt32(1))`,
    { organization },
  );
  await subject.warehouse.command(
    "INSERT INTO users (organization, user, account, version) VALUES ({organization:UInt32}, 2, 3, 2)",
    { organization },
  );
  // Account 3 has members and no row: it is out.
  await store(today, [5]);
  await live(ledger, [today]);
  expect(ledger.closed.map(({ entity, why }) => [entity, why])).toEqual([
    [{ kind: "account", number: 1 }, "excluded"],
    [{ kind: "account", number: 2 }, "gone"],
  ]);
  const states = await ledger.states(0, 0, 2, 1);
  expect(states.map(({ entity, daysOut }) => [entity, daysOut])).toEqual([
    [{ kind: "account", number: 3 }, 1],
  ]);
});

test("scores of three earlier days that changed, without an import, are a change in bulk", () => {
  const run = (day: number, finishedAtMs: number, stale = false, firstPublishedAtMs = 100) =>
    ({ day, stale, version: 1, body: { firstPublishedAtMs, finishedAtMs } }) as Parameters<
      typeof haveScoresChanged
    >[0][number];
  const last = run(10, 100);
  expect(haveScoresChanged([run(7, 90), run(8, 200), run(9, 200), last], 10, 100)).toBeFalse();
  expect(haveScoresChanged([run(7, 90, true), run(8, 200), run(9, 200), last], 10, 100)).toBeTrue();
  expect(haveScoresChanged([run(7, 200), run(8, 200), run(9, 200, false, 200), last], 10, 100)).toBeFalse();
});
