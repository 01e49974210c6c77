/** Decisions of rules about scores while clocks change: a wrong clock of the machine, and daylight saving. */
import { expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import { Random } from "../../simulation/random.ts";
import { msPerDay, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;
const condition = { kind: "riskBand", band: "high" } as const;

/** Decides day after day, as the service does at each look. */
async function live(ledger: LedgerInMemory, days: readonly number[]): Promise<void> {
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
}

const firedUsers = ({ fired }: LedgerInMemory) =>
  fired.map(({ entity, day }) => [entity.kind === "user" ? entity.number : 0, day - today]);

test("a clock that was a year ahead keeps no rule silent, and no user at rest, after it is set back", async () => {
  const organization = subject.newOrganization();
  const ahead = today + 365;
  const store = (days: readonly number[]) => {
    const rows: ScoreRow[] = days.flatMap((day) =>
      [1, 2].map((entity) => ({
        entity,
        day,
        state: "active" as const,
        health: 50,
        volume28: 1,
        risk: day === (entity === 1 ? ahead : today) ? 0.9 : 0.1,
      })),
    );
    return storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  };
  const ledger = new LedgerInMemory(organization, condition);
  await store([today - 3, ahead]);
  await live(ledger, [today - 3, ahead]);
  expect(firedUsers(ledger)).toEqual([[1, 365]]);
  await store([today - 2, today - 1, today]);
  await live(ledger, [today - 2, today - 1]);
  expect(ledger.watermark.decidedThrough).toBe(today - 1);
  const [state] = await ledger.states(0, 0, -1, 1);
  expect(state).toMatchObject({ entity: { number: 1 }, restsUntil: today - 2 + horizonDays });
  await live(ledger, [today]);
  expect(firedUsers(ledger)).toEqual([
    [1, 365],
    [2, 0],
  ]);
});

test("a clock that was set back for a while fires nothing of the days that were decided, and goes on", async () => {
  const organization = subject.newOrganization();
  const days = Array.from({ length: 32 }, (_, at) => today - 29 + at);
  // Users 1 to 4 are inside on two days each, user 5 from today on, and user 6 from the last day on.
  const isInside = (entity: number, day: number) => {
    if (entity > 4) return day >= today + 2 * (entity - 5);
    return day === today - 24 + 6 * entity || day === today - 23 + 6 * entity;
  };
  const rows: ScoreRow[] = days.flatMap((day) =>
    [1, 2, 3, 4, 5, 6].map((entity) => ({
      entity,
      day,
      state: "active" as const,
      health: 50,
      volume28: 1,
      risk: isInside(entity, day) ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const ledger = new LedgerInMemory(organization, condition);
  await live(
    ledger,
    days.filter((day) => day <= today),
  );
  const before = firedUsers(ledger);
  expect(before.map(([user]) => user)).toEqual([1, 2, 3, 4, 5]);
  await live(ledger, [today - 25]);
  expect(ledger.watermark.decidedThrough).toBe(today - 25);
  await live(ledger, [today + 1]);
  expect(firedUsers(ledger)).toEqual(before);
  await live(ledger, [today + 2]);
  expect(firedUsers(ledger)).toEqual([...before, [6, 2]]);
  expect(ledger.closed.every(({ why }) => why === "resolved")).toBeTrue();
});

test("after the clock was ahead a kill between two commits makes no user fire who was inside", async () => {
  const organization = subject.newOrganization();
  const rowOf = (entity: number, day: number) => ({
    entity,
    day,
    state: "active" as const,
    health: 50,
    volume28: 1,
    risk: 0.9,
  });
  const everybody = Array.from({ length: 1_500 }, (_, at) => rowOf(at + 1, today));
  // Of the questions whether the process dies beside a commit, the one after the second commit is answered
  // yes.
  let asked = 0;
  const random = Object.assign(new Random(1), { chance: () => ++asked === 4 });
  const ledger = new LedgerInMemory(organization, condition, { random });
  await storeDays(subject, {
    organization,
    kind: "user",
    days: [today + 365],
    rows: [rowOf(1, today + 365)],
    horizonDays,
  });
  await live(ledger, [today + 365]);
  await storeDays(subject, { organization, kind: "user", days: [today], rows: everybody, horizonDays });
  await live(ledger, [today]);
  expect(asked).toBe(6);
  expect([ledger.fired, ledger.watermark.decidedThrough]).toEqual([[], today]);
});

test.each([
  ["ends", "2026-10-25"],
  ["begins", "2026-03-29"],
])("each day is decided once, from its midnight on, when daylight saving %s", async (_, changed) => {
  const zone = new Zone("Europe/Paris");
  const organization = subject.newOrganization();
  const middle = Date.parse(changed) / msPerDay;
  const days = [middle - 1, middle, middle + 1];
  const rows: ScoreRow[] = days.flatMap((day, at) =>
    [1, 2].map((entity) => ({
      entity,
      day,
      state: "active" as const,
      health: 50,
      volume28: 1,
      risk: at >= entity ? 0.9 : 0.1,
    })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows, horizonDays });
  const ledger = new LedgerInMemory(organization, condition, { timezone: "Europe/Paris" });
  const endMs = zone.startOfDay(middle + 2);
  for (let atMs = zone.startOfDay(middle - 1); atMs < endMs; atMs += msPerDay / 24) {
    await ledger.decide(subject.warehouse, atMs);
    expect(ledger.watermark.decidedThrough).toBe(zone.dayOf(atMs));
  }
  expect(ledger.commits).toBe(days.length);
  expect(ledger.fired.map(({ entity, day }) => [entity, day])).toEqual([
    [{ kind: "user", number: 1 }, middle],
    [{ kind: "user", number: 2 }, middle + 1],
  ]);
});
