/** Parts of health of the organization's own: what the engine reads of traits, beside a reading in
 * TypeScript, and the scores that follow. */
import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import type { HealthTrait } from "../../contract/api/health-traits.ts";
import { userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { healthValuesQuery } from "../../server/scoring/queries/health-sql.ts";
import { defaultHealthWeights, healthOf, scoreOfTrait } from "../../server/scoring/scores/health.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import type { Random } from "../../simulation/random.ts";
import { user } from "../ledger/writes.ts";
import { msPerDay, randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";
import { logDay, population, zone } from "./engine-support.ts";

const subject = new WarehouseUnderTest();
const names = ["nps", 'it\'s "nps"', "open tickets"];
const values = [0, 7, -3.25, 1e21, 1e-7, 0.30000000000000004, "9", "-1.5", "1e2", "", " 7", "0x10"];
const noNumbers = ["Infinity", "nan", "7 %", true, null, [7], { nps: 7 }];

interface Said {
  readonly user: number;
  readonly atMs: number;
  readonly traits: Readonly<Record<string, unknown>>;
}

function randomWords(random: Random, users: number): Said[] {
  return Array.from({ length: users }, (_, index) =>
    Array.from({ length: random.between(0, 4) }, (): Said => {
      const said = names
        .filter(() => random.chance(0.6))
        .map((name) => [name, random.pick([...values, ...noNumbers])]);
      const atMs =
        zone.startOfDay(logDay(100)) + random.pick([-msPerDay, -1, 0, msPerDay]) + random.between(0, 1);
      return { user: index + 1, atMs, traits: { plan: "pro", ...Object.fromEntries(said) } };
    }),
  ).flat();
}

/** The last value of a trait that was sent before the day, as a number. */
function expectedValue(said: readonly Said[], name: string): number | null {
  const known = said.filter(({ atMs, traits }) => atMs < zone.startOfDay(logDay(100)) && name in traits);
  const last = known.toSorted((a, b) => a.atMs - b.atMs).at(-1)?.traits[name];
  if (typeof last === "number") return last;
  return typeof last === "string" && /^-?\d+(\.\d+)?(e\d+)?$/.test(last) ? Number(last) : null;
}

async function filled(what: string) {
  const organization = subject.newOrganization();
  const said = randomWords(randomOfThisRun(what), 120);
  await subject.insert(
    "user_versions",
    said.map(({ user: number, atMs, traits }, index) =>
      userVersionRow(user(organization, `u${number}`, { number, version: index + 1 }), {
        atMs,
        account: null,
        traits,
      }),
    ),
  );
  return { organization, said };
}

async function inEngine(organization: number, kind: "user" | "account") {
  const { sql, parameters } = healthValuesQuery(population(organization, kind), logDay(100), names);
  const rows = await subject.warehouse.rows<{ entity: number; saidValues: (number | null)[] }>(
    `SELECT entity, saidValues FROM (${sql}) ORDER BY entity SETTINGS allow_simdjson = 0`,
    parameters,
  );
  return new Map(rows.map(({ entity, saidValues }) => [entity, saidValues]));
}

describe("the engine reads", () => {
  test("the last number of each trait as of a day", async () => {
    const { organization, said } = await filled("values of users");
    const found = await inEngine(organization, "user");
    let numbers = 0;
    for (let number = 1; number <= 120; number += 1) {
      const own = said.filter(({ user: one }) => one === number);
      const expected = names.map((name) => expectedValue(own, name));
      expect(found.get(number) ?? [null, null, null]).toEqual(expected);
      numbers += expected.filter((value) => value !== null).length;
    }
    expect(numbers).toBeGreaterThan(20);
  });

  test("the traits of its owner for an account", async () => {
    const { organization, said } = await filled("values of accounts");
    await subject.insert(
      "users",
      Array.from({ length: 120 }, (_, index) =>
        userRow(
          user(organization, `u${index + 1}`, {
            number: index + 1,
            account: Math.floor(index / 4) + 1,
            isAccountOwner: index % 4 === 1,
          }),
        ),
      ),
    );
    const found = await inEngine(organization, "account");
    for (let account = 1; account <= 30; account += 1) {
      const owner = 4 * (account - 1) + 2;
      const own = said.filter(({ user: one }) => one === owner);
      expect(found.get(account) ?? [null, null, null]).toEqual(names.map((name) => expectedValue(own, name)));
    }
  });
});

describe("health", () => {
  const nps: HealthTrait = { trait: "nps", zeroAt: 0, hundredAt: 10, weight: 20 };
  const tickets: HealthTrait = { trait: "tickets", zeroAt: 8, hundredAt: 0, weight: 10 };
  const weights = { engagement: 40, outlook: 30, momentum: 0, adoption: 0 };
  const input = { state: "active", engagement: 80, risk: 0.2, momentum: 50, adoption: null } as const;
  const of = (traitValues: Readonly<Record<string, number>>) =>
    healthOf({ ...input, traitValues }, weights, absoluteRiskScale, [nps, tickets]);

  test("has a part for each trait with a number", () => {
    const { score, contributions } = of({ nps: 7, tickets: 2 });
    expect(contributions).toEqual({ engagement: 32, outlook: 24, "trait.nps": 14, "trait.tickets": 7.5 });
    expect(score).toBeCloseTo(77.5, 12);
  });

  test("shares the weight of a trait without a number among the others", () => {
    expect(of({ nps: 7 }).score).toBeCloseTo((32 + 24 + 14) / 0.9, 12);
    expect(of({}).score).toBeCloseTo(80, 12);
    expect(healthOf({ ...input, traitValues: { nps: 1 } })).toEqual(healthOf(input, defaultHealthWeights));
  });

  test("takes values beyond the scale for 0 and 100", () => {
    fc.assert(
      fc.property(fc.double({ noNaN: true, noDefaultInfinity: true }), (value) => {
        expect(scoreOfTrait(value, nps)).toBeWithin(0, 100 + 1e-9);
        expect(scoreOfTrait(value, { zeroAt: 10, hundredAt: 0 })).toBeCloseTo(
          100 - scoreOfTrait(value, nps),
          9,
        );
      }),
    );
  });
});
