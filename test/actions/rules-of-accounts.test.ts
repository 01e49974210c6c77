/** Rules about seats and pulses of accounts, and about use that rises, from stored rows of scores: live
 * decisions day by day, the preview, and plain arithmetic have the same alerts. */
import { expect, test } from "bun:test";
import type { RuleCondition } from "../../contract/alerts/rules.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { replaysOf } from "../../server/features/alerts/rules/preview.ts";
import { step, unknownEntity } from "../../server/features/alerts/rules/step.ts";
import type { Random } from "../../simulation/random.ts";
import { msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { LedgerInMemory } from "./ledger-in-memory.ts";
import { type ScoreRow, storeDays } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const today = 20_090;
const horizonDays = 14;

interface AccountRow extends ScoreRow {
  readonly activeMembers28: number;
  readonly seats: number | null;
  readonly pulse: number | null;
}

const plain = { state: "active", risk: 0.3, health: 50, volume28: 10 } as const;

/** An account whose members, seats and pulse change at random. */
function lifeOf(random: Random, entity: number, days: readonly number[]): AccountRow[] {
  let [activeMembers28, seats, pulse]: [number, number | null, number | null] = [
    random.between(1, 30),
    random.between(1, 30),
    null,
  ];
  return days.map((day) => {
    activeMembers28 = Math.max(0, activeMembers28 + random.between(-2, 2));
    if (random.chance(0.05)) seats = random.chance(0.2) ? null : random.between(1, 30);
    if (random.chance(0.1)) pulse = random.chance(0.3) ? null : random.between(1, 5);
    return { ...plain, entity, day, activeMembers28, seats, pulse };
  });
}

/** Whether a row is inside and out, by plain arithmetic. */
function judge(condition: RuleCondition, { activeMembers28, seats, pulse }: AccountRow): [boolean, boolean] {
  switch (condition.kind) {
    case "seatsAbove": {
      if (seats === null || seats < condition.minSeats) return [false, true];
      const used = (100 * activeMembers28) / seats;
      return [used >= condition.percent, used < condition.percent - 5];
    }
    case "seatsBelow": {
      if (seats === null || seats < condition.minSeats) return [false, true];
      const used = (100 * activeMembers28) / seats;
      return [used < condition.percent, used >= condition.percent + 5];
    }
    case "pulseAtMost":
      return [pulse !== null && pulse <= condition.atMost, pulse === null || pulse > condition.atMost];
    default:
      throw new Error(condition.kind);
  }
}

const timesOf = (events: readonly { readonly entity: number; readonly day: number }[]) =>
  events.map(({ entity, day }) => `${entity} ${day}`).toSorted();

/** The alerts of the rule day by day, and of the preview on the last day. */
async function lives(organization: number, condition: RuleCondition, days: readonly number[]) {
  const scope = "accounts";
  const ledger = new LedgerInMemory(organization, condition, { scope });
  for (const day of days) await ledger.decide(subject.warehouse, (day + 0.5) * msPerDay);
  const question = {
    organization: { id: organization, zone: new Zone("UTC") },
    scope: { kind: scope } as const,
    condition,
    cooldownDays: null,
    horizonDays,
    today: days.at(-1) ?? today,
  };
  const { replays } = await replaysOf(subject.warehouse, question, {});
  const foretold = [...replays].flatMap(({ entity, fired }) => fired.map(({ day }) => ({ entity, day })));
  const own = ledger.fired.map(({ entity, day }) => ({
    entity: entity.kind === "source" ? 0 : entity.number,
    day,
  }));
  return { ledger, own: timesOf(own), foretold: timesOf(foretold) };
}

test("of seats and pulses fire as plain arithmetic does, live and in the preview", async () => {
  const organization = subject.newOrganization();
  const random = randomOfThisRun("rules of accounts");
  const days = Array.from({ length: 40 }, (_, at) => today - 39 + at);
  const histories = Array.from({ length: 80 }, (_, at) => lifeOf(random, at + 1, days));
  await storeDays(subject, { organization, kind: "account", days, rows: histories.flat(), horizonDays });
  const conditions: readonly RuleCondition[] = [
    { kind: "seatsAbove", percent: 90, minSeats: 5 },
    { kind: "seatsAbove", percent: 4, minSeats: 1 },
    { kind: "seatsBelow", percent: 40, minSeats: 5 },
    { kind: "seatsBelow", percent: 98, minSeats: 10 },
    { kind: "pulseAtMost", atMost: 2 },
  ];
  for (const condition of conditions) {
    const isScale = condition.kind === "seatsAbove" && condition.percent === 4;
    const isTop = condition.kind === "seatsBelow" && condition.percent === 98;
    const expected = histories.flatMap((rows) => {
      let state = unknownEntity;
      return rows.flatMap((row, at) => {
        let [isInside, isOut] = judge(condition, row);
        const used = row.seats === null ? null : (100 * row.activeMembers28) / row.seats;
        // Near the end of the scale the margin is half of the rest.
        if (isScale && used !== null) [isInside, isOut] = [used >= 4, used < 2];
        if (isTop && used !== null && (row.seats ?? 0) >= 10) [isInside, isOut] = [used < 98, used >= 99];
        const decided = step({ cooldownDays: horizonDays, exitDays: 2 }, state, {
          day: row.day,
          isInside,
          isInsideAsBefore: isInside,
          isOut,
          standing: at === 0 ? "adopted" : "present",
        });
        state = decided.state;
        return decided.outcomes.flatMap((one) =>
          one.what === "fired" ? [{ entity: row.entity, day: one.day }] : [],
        );
      });
    });
    const { own, foretold } = await lives(organization, condition, days);
    expect([condition, own]).toEqual([condition, timesOf(expected)]);
    expect([condition, foretold]).toEqual([condition, own]);
    expect(own.length).toBeGreaterThan(5);
  }
});

/** An account whose row on the last day is another one than before. */
async function turning(before: Partial<AccountRow>, now: Partial<AccountRow>) {
  const organization = subject.newOrganization();
  const days = Array.from({ length: 60 }, (_, at) => today - 59 + at);
  const base = { ...plain, entity: 1, activeMembers28: 5, seats: 25, pulse: null };
  const rows = days.map((day): AccountRow => ({ ...base, ...(day < today ? before : now), day }));
  await storeDays(subject, { organization, kind: "account", days, rows, horizonDays });
  return { organization, days: days.slice(-3) };
}

test("an alert says in plain words how many seats are used, and has no expected loss", async () => {
  const { organization, days } = await turning({}, { activeMembers28: 24 });
  const condition = { kind: "seatsAbove", percent: 90, minSeats: 5 } as const;
  const { ledger } = await lives(organization, condition, days);
  expect(ledger.fired).toMatchObject([
    { day: today, before: 0.2, after: 0.96, risk: null, expectedLoss: null, isExempt: false },
  ]);
  expect(ledger.fired[0]?.reasons[0]).toEqual({
    text: "Uses 24 of 25 seats",
    values: { activeMembers28: 24, seats: 25 },
  });
});

test("few seats used and a low pulse are risks, and have the churn risk of the day", async () => {
  const few = await turning({ activeMembers28: 20 }, { activeMembers28: 3 });
  const seats = await lives(few.organization, { kind: "seatsBelow", percent: 40, minSeats: 5 }, few.days);
  expect(seats.ledger.fired).toMatchObject([{ risk: 0.3, reasons: [{ text: "Uses 3 of 25 seats" }, {}] }]);
  const low = await turning({ pulse: 4 }, { pulse: 2 });
  const pulse = await lives(low.organization, { kind: "pulseAtMost", atMost: 2 }, low.days);
  expect(pulse.ledger.fired).toMatchObject([
    { risk: 0.3, before: 4, after: 2, reasons: [{ text: "Pulse 2 of 5" }, {}] },
  ]);
});

test("an account with one seat and one member is never near the limit, by default", async () => {
  const { organization, days } = await turning(
    { activeMembers28: 0, seats: 1 },
    { activeMembers28: 1, seats: 1 },
  );
  const quiet = await lives(organization, { kind: "seatsAbove", percent: 90, minSeats: 5 }, days);
  expect(quiet.own).toEqual([]);
  const told = await lives(organization, { kind: "seatsAbove", percent: 90, minSeats: 1 }, days);
  expect(told.own).toEqual([`1 ${today}`]);
});

test("use that rises fires in words, and not in the first weeks of an account", async () => {
  const { organization, days } = await turning({ volume28: 188 }, { volume28: 305 });
  const condition = { kind: "usageUp", percent: 50 } as const;
  const { ledger, own, foretold } = await lives(organization, condition, days);
  expect(own).toEqual([`1 ${today}`]);
  expect(foretold).toEqual(own);
  expect(ledger.fired).toMatchObject([{ before: 188, after: 305, risk: null, expectedLoss: null }]);
  expect(ledger.fired[0]?.reasons[0]?.text).toBe("Use up 62% in 4 weeks: 305 actions, 188 before");
  // The rows of a new account begin with it: after 40 days it is compared with its twelfth day.
  const young = subject.newOrganization();
  const scored = Array.from({ length: 80 }, (_, at) => today - 79 + at);
  const since = today - 39;
  const others = scored.map((day): AccountRow => {
    return { ...plain, entity: 2, day, activeMembers28: 1, seats: null, pulse: null };
  });
  const rows = scored
    .filter((day) => day >= since)
    .map((day): AccountRow => {
      const volume28 = 10 * Math.min(28, day - since + 1);
      return { ...plain, entity: 1, day, volume28, activeMembers28: 1, seats: null, pulse: null };
    });
  await storeDays(subject, {
    organization: young,
    kind: "account",
    days: scored,
    rows: [...others, ...rows],
    horizonDays,
  });
  expect((await lives(young, condition, scored.slice(-14))).own).toEqual([]);
});
