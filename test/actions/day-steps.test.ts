/** The steps of many rules on one day, read in one statement, compared with plain arithmetic on random
 * histories. */
import { expect, test } from "bun:test";
import { setOfNumbers } from "../../server/analytics/entities/entity-sets.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { lookbackOf } from "../../server/features/alerts/rules/conditions.ts";
import { type SteppingRule, stepsOfDay } from "../../server/features/alerts/rules/day-steps.ts";
import { baseOf } from "../../server/features/alerts/rules/readings.ts";
import type { Reading } from "../../server/features/alerts/rules/step.ts";
import type { EntityStateRow } from "../../server/features/alerts/store/decisions.ts";
import { runsBetween } from "../../server/scoring/run/records.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { plainReadings, randomRows, rowsOfRisks, storeDays, type UserCondition } from "./rules-support.ts";

const subject = new WarehouseUnderTest();
const firstDay = 20_000;
const users = 150;

const conditions: readonly UserCondition[] = [
  { kind: "riskBand", band: "high" },
  { kind: "riskBand", band: "medium" },
  { kind: "healthBelow", below: 30 },
  { kind: "healthBelow", below: 70 },
  { kind: "riskUp", by: 0.2, days: 7 },
  { kind: "riskUp", by: 0.1, days: 1 },
  { kind: "healthDown", by: 25, days: 28 },
  { kind: "usageDown", percent: 50 },
  { kind: "usageUp", percent: 60 },
  { kind: "state", state: "inactive" },
  { kind: "state", state: "new" },
] as const;

type TestedRule = Pick<SteppingRule, "condition"> & Partial<SteppingRule>;

/** The readings of the entities that step on a day, by number, for each rule. */
async function readingsOn(
  organization: number,
  { day, lastDay }: { readonly day: number; readonly lastDay: number },
  tested: readonly TestedRule[],
): Promise<ReadonlyMap<number, Reading>[]> {
  const runs = await runsBetween(
    subject.warehouse,
    { organization, kind: "user" },
    { fromDay: firstDay - 100, toDay: day },
  );
  const run = runs.at(-1);
  if (run?.day !== day) throw new Error("the day is not scored");
  const rules = tested.map((rule): SteppingRule => {
    const lookback = lookbackOf(rule.condition);
    return {
      scope: undefined,
      states: new Map(),
      takesOver: false,
      isBySettings: false,
      decidedUpto: -1,
      before: lookback === 0 ? undefined : baseOf(runs, day, lookback),
      times: { cooldownDays: 14, exitDays: 2 },
      ...rule,
    };
  });
  const steps = await stepsOfDay(subject.warehouse, {
    organization: { id: organization, zone: new Zone("UTC") },
    kind: "user",
    run,
    rules,
    last: runs.find((one) => one.day === lastDay),
  });
  return rules.map(
    (rule) => new Map((steps.get(rule) ?? []).map(({ number, reading }) => [number, reading])),
  );
}

/** The state of a user who has an alert. */
function alerted(number: number, firedOn: number): [number, EntityStateRow] {
  const entity = { kind: "user", number } as const;
  return [number, { entity, hasLeft: false, daysOut: 0, restsUntil: null, firedOn, value: null }];
}

test("of random histories are those of each rule by plain arithmetic", async () => {
  const organization = subject.newOrganization();
  const random = randomOfThisRun("day-steps");
  const scored = Array.from({ length: 70 }, (_, at) => firstDay + at).filter(() => !random.chance(0.1));
  const rows = randomRows(random, users, scored);
  await storeDays(subject, { organization, kind: "user", days: scored, rows });
  const byEntity = [...Map.groupBy(rows, ({ entity }) => entity)];
  let inside = 0;
  for (const at of [35, 45, scored.length - 1]) {
    const [day = 0, lastDay = 0] = [scored[at], scored[at - 1]];
    const followed = new Set([3, 14, 92, 65].filter((number) => random.chance(0.5) || number === 3));
    const states = new Map([...followed].map((number) => alerted(number, day - 5)));
    const found = await readingsOn(
      organization,
      { day, lastDay },
      conditions.map((condition) => ({ condition, states })),
    );
    for (const [which, condition] of conditions.entries()) {
      const read = found[which] ?? new Map<number, Reading>();
      for (const [entity, own] of byEntity) {
        const upto = own.filter((row) => row.day <= day);
        const [plain] = plainReadings(condition, upto, { scored: scored.slice(0, at + 1), fromDay: day });
        const mustStep = followed.has(entity)
          ? plain !== undefined && (plain.isOut || plain.standing === "churned")
          : plain?.isInside === true;
        if (mustStep) inside += 1;
        const expected = mustStep ? plain : undefined;
        expect([condition.kind, entity, read.get(entity)]).toEqual([condition.kind, entity, expected]);
      }
    }
  }
  expect(inside).toBeGreaterThan(users);
});

/** Everybody is at risk today, and was not yesterday. */
async function storeRisen(organization: number): Promise<void> {
  const rows = rowsOfRisks([1, 2, 3, 4], firstDay, [0.1, 0.9]);
  await storeDays(subject, { organization, kind: "user", days: [firstDay, firstDay + 1], rows });
}

const days = { day: firstDay + 1, lastDay: firstDay };
const condition = { kind: "riskBand", band: "high" } as const;
const inside: Reading = {
  day: firstDay + 1,
  isInside: true,
  isInsideAsBefore: true,
  isOut: false,
  standing: "present",
};

test("entities beyond a rule's scope do not step, and one that has an alert is out", async () => {
  const organization = subject.newOrganization();
  await storeRisen(organization);
  const scope = await setOfNumbers(subject.warehouse, "user", { organization, numbers: [1, 2] });
  const states = new Map([alerted(3, firstDay - 5)]);
  const [within, all] = await readingsOn(organization, days, [{ condition, scope, states }, { condition }]);
  expect([...(within ?? [])]).toEqual([
    [1, inside],
    [2, inside],
    [3, { ...inside, isInside: false, isInsideAsBefore: false, isOut: true }],
  ]);
  expect([...(all ?? [])].map(([number]) => number)).toEqual([1, 2, 3, 4]);
});

test("a rule says who is inside by settings, is taken over or is decided already", async () => {
  const organization = subject.newOrganization();
  await storeRisen(organization);
  const [bySettings, adopted, goingOn] = await readingsOn(organization, days, [
    { condition, isBySettings: true },
    { condition, takesOver: true },
    { condition, decidedUpto: 3 },
  ]);
  expect([...(bySettings?.values() ?? [])]).toEqual(Array(4).fill({ ...inside, isInsideAsBefore: false }));
  expect([...(adopted ?? [])].map(([, { standing }]) => standing)).toEqual(Array(4).fill("adopted"));
  expect([...(goingOn ?? [])]).toEqual([[4, inside]]);
});
