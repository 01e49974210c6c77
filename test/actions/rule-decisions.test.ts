/** Decisions day by day: the alerts are those of the preview, each once, also when the process dies between two commits. */
import { describe, expect, test } from "bun:test";
import type { RuleCondition } from "../../contract/actions/rules.ts";
import { hasChangedInBulk } from "../../server/actions/rules/decide.ts";
import { previewRule, replaysOf } from "../../server/actions/rules/preview.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { Random } from "../../simulation/random.ts";
import { msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { randomRows, type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;

/** Decides day after day, as the service does at each look. */
async function live(ledger: LedgerInMemory, days: readonly number[]): Promise<void> {
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
}

const question = (organization: number, condition: RuleCondition) => ({
  ...{
    organization: { id: organization, zone: new Zone("UTC") },
    scope: { kind: "users" as const },
    condition,
  },
  ...{ cooldownDays: null, horizonDays, today },
});

const neverAsked = () => Promise.reject(new Error("The rule names no segment."));

const inOrder = (alerts: readonly { entity: number; day: number }[]) =>
  alerts.map(({ entity, day }) => [day, entity]).sort(([a = 0, b = 0], [c = 0, d = 0]) => a - c || b - d);

describe("on random histories the preview has the alerts of a live run", () => {
  const random = randomOfThisRun("decisions");
  const all = Array.from({ length: 60 }, (_, at) => today - 59 + at);
  const freeze = today - random.between(12, 25);
  const days = all.filter((day) => (day < freeze || day >= freeze + 8) && !random.chance(0.02));
  const rows = randomRows(random, 40, days);
  const organization = 900;
  // Each takes 6 s of processor time, so a run has one of them.
  const condition: RuleCondition = random.pick([
    { kind: "riskBand", band: "high" } as const,
    { kind: "healthBelow", below: 40 } as const,
    { kind: "healthDown", by: 20, days: 7 } as const,
    { kind: "usageDown", percent: 50 } as const,
  ]);

  test(`of ${condition.kind}, although the process dies now and then`, async () => {
    await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
    const { runs, replays } = await replaysOf(
      ...([subject.warehouse, question(organization, condition), {}] as const),
    );
    const foretold = [...replays].flatMap(({ entity, fired }) => fired.map((one) => ({ entity, ...one })));
    const ledger = new LedgerInMemory(organization, condition, { random: new Random(7) });
    await live(
      ledger,
      runs.map(({ day }) => day),
    );
    const numbered = ledger.fired.flatMap(({ entity, day }) =>
      entity.kind === "user" ? [{ entity: entity.number, day }] : [],
    );
    expect(inOrder(numbered)).toEqual(inOrder(foretold));
    expect(foretold.length).toBeGreaterThan(3);
    const parts = { warehouse: subject.warehouse, findSegment: neverAsked };
    const preview = await previewRule(parts, question(organization, condition));
    expect(preview.fired).toBe(ledger.fired.length);
    expect(preview.open).toBe(ledger.fired.length - ledger.closed.length);
    expect(preview.weeks.reduce((sum, { fired }) => sum + fired, 0)).toBe(ledger.fired.length);
  }, 300_000);
});

test("a day with 350 alerts is committed in parts, and goes on behind the last one after a kill", async () => {
  const organization = subject.newOrganization();
  const days = [today - 1, today];
  const rows: ScoreRow[] = days.flatMap((day) =>
    Array.from({ length: 350 }, (_, at) => ({
      ...{ entity: at + 1, day, state: "active" as const, health: 50, volume28: 1 },
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
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("Churn risk 90 %, was 10 %");
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

test("the first day after an import is taken over, and so is one after a change of several earlier days", async () => {
  const organization = subject.newOrganization();
  const days = [today - 2, today - 1, today];
  const rows: ScoreRow[] = days.flatMap((day) =>
    [1, 2].map((entity) => ({
      ...{ entity, day, state: "active" as const, health: 50, volume28: 1 },
      risk: day >= today - 2 + entity ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const ledger = new LedgerInMemory(organization, { kind: "riskBand", band: "high" });
  await live(ledger, [today - 2]);
  // After the first run of that day, which was at the beginning of 1970.
  ledger.importedAtMs = 1;
  await live(ledger, [today - 1]);
  ledger.importedAtMs = null;
  await live(ledger, [today]);
  expect(ledger.fired.map(({ entity, day }) => [entity, day])).toEqual([
    [{ kind: "user", number: 2 }, today],
  ]);

  const run = (day: number, finishedAtMs: number, stale = false) =>
    ({ day, stale, version: 1, body: { firstPublishedAtMs: 100, finishedAtMs } }) as Parameters<
      typeof hasChangedInBulk
    >[1];
  const last = run(10, 100);
  expect(hasChangedInBulk([run(7, 90), run(8, 200), run(9, 200), last], last, 0)).toBeFalse();
  expect(hasChangedInBulk([run(7, 90, true), run(8, 200), run(9, 200), last], last, 0)).toBeTrue();
  expect(hasChangedInBulk([last], last, 101)).toBeTrue();
  expect(hasChangedInBulk([last], last, 99)).toBeFalse();
});
