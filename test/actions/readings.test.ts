/** Readings of conditions from stored rows of scores, compared with plain arithmetic on random histories. */
import { describe, expect, test } from "bun:test";
import { Zone } from "../../server/calendar/zone.ts";
import type { DailyCondition } from "../../server/features/alerts/rules/conditions.ts";
import { readingsOf } from "../../server/features/alerts/rules/readings.ts";
import type { Reading } from "../../server/features/alerts/rules/step.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { plainReadings, randomRows, type ScoreRow, storeDays, type UserCondition } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const zone = new Zone("UTC");
const firstDay = 20_000;
const lastDay = firstDay + 79;

const conditions: readonly UserCondition[] = [
  { kind: "riskBand", band: "high" },
  { kind: "riskBand", band: "medium" },
  { kind: "healthBelow", below: 30 },
  { kind: "riskUp", by: 0.2, days: 7 },
  { kind: "healthDown", by: 25, days: 28 },
  { kind: "state", state: "inactive" },
  { kind: "usageDown", percent: 50 },
  { kind: "usageUp", percent: 60 },
];

/** All days but a freeze of ten, and some others at random. */
function scoredDays(random: ReturnType<typeof randomOfThisRun>): number[] {
  const freeze = firstDay + random.between(35, 60);
  return Array.from({ length: lastDay - firstDay + 1 }, (_, at) => firstDay + at).filter(
    (day) => (day < freeze || day >= freeze + 10) && !random.chance(0.03),
  );
}

const question = (organization: number, condition: DailyCondition, fromDay: number) => ({
  organization: { id: organization, zone },
  kind: "user" as const,
  condition,
  fromDay,
  toDay: lastDay,
});

/** The first day is taken over. */
const adoptedOn = (firstDay: number) => (reading: Reading) => {
  const isAdopted = reading.day === firstDay && reading.standing === "present";
  return isAdopted ? ({ ...reading, standing: "adopted" } as const) : reading;
};

describe("of random histories", () => {
  const organization = 900;
  const random = randomOfThisRun("readings");
  const days = scoredDays(random);
  const rows = randomRows(random, 150, days);

  test("have each scored day of each entity that is ever inside", async () => {
    // Rows of a run that was cut off are on a day without a record.
    const cutOff = rows
      .filter(({ day }) => day === days[40])
      .map((row) => ({ ...row, risk: 0.99, health: 1 }));
    await storeDays(subject, {
      organization,
      kind: "user",
      days: days.filter((day) => day !== days[40]),
      rows,
    });
    expect(cutOff.length).toBeGreaterThan(50);
    const scored = days.filter((day) => day !== days[40]);
    const fromDay = scored.find((day) => day >= firstDay + 30) ?? 0;
    for (const condition of conditions) {
      const { entities, runs } = await readingsOf(
        subject.warehouse,
        question(organization, condition, fromDay),
      );
      expect(runs.map(({ day }) => day)).toEqual(scored.filter((day) => day >= fromDay));
      const found = new Map([...entities].map(({ entity, readings }) => [entity, readings]));
      const byEntity = Map.groupBy(rows, ({ entity }) => entity);
      let inside = 0;
      for (const [entity, own] of byEntity) {
        const plain = plainReadings(condition, own, { scored, fromDay }).map(adoptedOn(fromDay));
        const isEver = plain.some(({ isInside }) => isInside);
        if (isEver) inside += 1;
        expect(found.get(entity) ?? []).toEqual(isEver ? plain : []);
      }
      expect([condition.kind, found.size]).toEqual([condition.kind, inside]);
      expect(inside).toBeGreaterThan(5);
    }
  });
});

test("of entities that are followed come also when they are never inside", async () => {
  const organization = subject.newOrganization();
  const days = [firstDay, firstDay + 1];
  const rows: ScoreRow[] = days.flatMap((day) =>
    [1, 2].map((entity) => ({ entity, day, state: "active", risk: 0.1, health: 50, volume28: 1 })),
  );
  await storeDays(subject, { organization, kind: "user", days, rows });
  const about = question(organization, { kind: "riskBand", band: "high" }, firstDay);
  const { entities } = await readingsOf(subject.warehouse, { ...about, followed: [2, 7] });
  expect([...entities]).toEqual([
    {
      entity: 2,
      readings: days.map((day) => ({
        day,
        isInside: false,
        isInsideAsBefore: false,
        isOut: true,
        standing: day === firstDay ? "adopted" : "present",
      })),
    },
  ]);
});

test("of the first day are adopted", async () => {
  const organization = subject.newOrganization();
  const rows: ScoreRow[] = [firstDay, firstDay + 1].map((day) => ({
    entity: 1,
    day,
    state: "active",
    risk: 0.9,
    health: 50,
    volume28: 1,
  }));
  await storeDays(subject, { organization, kind: "user", days: [firstDay, firstDay + 1], rows });
  const about = question(organization, { kind: "riskBand", band: "high" }, firstDay);
  const { entities } = await readingsOf(subject.warehouse, about);
  const [only] = [...entities];
  expect(only?.readings.map(({ standing }) => standing)).toEqual(["adopted", "present"]);
});
