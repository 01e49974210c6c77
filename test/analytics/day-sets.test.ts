/** Sets of entities by day: read from the engine, combined, and asked by both sides, as plain numbers of 128
 * bits have it. */
import { expect, test } from "bun:test";
import { DaySets, isMember, maxDays } from "../../server/analytics/segments/past/day-sets.ts";
import { daySetsOf } from "../../server/analytics/segments/past/past-days.ts";
import type { Random } from "../../simulation/random.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const random = randomOfThisRun("day sets");
/** More than the engine gives in one row. */
const entities = 20_000;
const places = Array.from({ length: maxDays }, (_, place) => place);

/** The bits of some entities, of which some have all or none. */
function randomBits(of: Random): Map<number, bigint> {
  const all = (1n << BigInt(maxDays)) - 1n;
  const some = () =>
    places.reduce((bits, place) => (of.chance(0.5) ? bits | (1n << BigInt(place)) : bits), 0n);
  const numbers = Array.from({ length: 60 }, () => of.between(1, entities - 1));
  return new Map([...numbers, entities - 1].map((entity) => [entity, of.pick([some(), some(), all, 0n])]));
}

function read(bits: ReadonlyMap<number, bigint>): Promise<DaySets> {
  return daySetsOf(subject.warehouse, entities, {
    text: `
      SELECT pair.1 AS entity, pair.2 AS bits
      FROM (SELECT arrayJoin(arrayZip({numbers:Array(UInt32)}, {bits:Array(UInt128)})) AS pair)`,
    parameters: { numbers: [...bits.keys()], bits: [...bits.values()] },
  });
}

const placesIn = (bits: bigint) => places.filter((place) => ((bits >> BigInt(place)) & 1n) === 1n);
const placesOf = (sets: DaySets, entity: number) => places.filter((place) => sets.has(entity, place));

test("sets have the bits that the engine gives, and are combined bit by bit", async () => {
  const [one, other] = [randomBits(random), randomBits(random)];
  const [sets, others] = [await read(one), await read(other)];
  const [both, rest] = [sets.and(others), sets.not()];
  const asked = [...one.keys(), ...other.keys(), 0, random.between(0, entities - 1)];
  for (const entity of asked) {
    const [bits, more] = [one.get(entity) ?? 0n, other.get(entity) ?? 0n];
    expect(placesOf(sets, entity)).toEqual(placesIn(bits));
    expect(placesOf(both, entity)).toEqual(placesIn(bits & more));
    expect(placesOf(rest, entity)).toEqual(placesIn(~bits));
    const [from, to] = [random.between(0, maxDays), random.between(0, maxDays)];
    expect(sets.hasAny(entity, from, to)).toBe(placesIn(bits).some((place) => place >= from && place < to));
  }
});

test("the days of a stay pass from one entity to another", () => {
  const account = new DaySets(3);
  account.addFrom(2, { sets: new DaySets(1).not(), entity: 0 }, { from: 20, to: 100 });
  const user = new DaySets(10);
  user.addFrom(7, { sets: account, entity: 2 }, { from: 0, to: 33 });
  user.addFrom(7, { sets: account, entity: 2 }, { from: 96, to: maxDays });
  user.addFrom(12, { sets: account, entity: 2 }, { from: 0, to: maxDays });
  const expected = places.filter((place) => (place >= 20 && place < 33) || (place >= 96 && place < 100));
  expect(placesOf(user, 7)).toEqual(expected);
  expect(placesOf(user, 6)).toEqual([]);
});

test("the engine knows the members of a range of numbers", async () => {
  const bits = randomBits(random);
  const sets = await read(bits);
  const range = { from: 5_000, below: entities };
  const asked = [...bits.keys(), range.from, 3];
  const rows = await subject.warehouse.rows<{ entity: number; found: readonly number[] }>(
    `SELECT entity, arraySort(groupArrayIf(place, ${isMember("entity", "place")})) AS found
     FROM (SELECT arrayJoin({asked:Array(UInt32)}) AS entity) AS entities
     CROSS JOIN (SELECT toUInt8(number) AS place FROM numbers({days:UInt8})) AS days
     GROUP BY entity`,
    { ...sets.parameters(range), asked: [...new Set(asked)], days: maxDays },
  );
  expect(rows).toHaveLength(new Set(asked).size);
  for (const { entity, found } of rows) {
    expect([...found]).toEqual(entity < range.from ? [] : placesIn(bits.get(entity) ?? 0n));
  }
});
