/** Evaluations of segments during which something else happens: none is recorded that mixes members of before
 * and after. */
import { expect, test } from "bun:test";
import { msPerDay } from "../warehouse/support.ts";
import { begun, today, type World } from "./segment-world.ts";

test("an edit between the evaluation and its record is not taken for the customers' change", async () => {
  const world = await begun(1);
  world.load(2);
  const list = world.segments;
  let reads = 0;
  Object.defineProperty(world, "segments", {
    get: () => {
      reads += 1;
      return reads > 2 ? list.map((one) => ({ ...one, contentAtMs: 99 })) : list;
    },
  });
  await world.lookAgain();
  expect(await world.changes()).toEqual([]);
});

test("an evaluation during which exclusions or scores change is not recorded, and the next one is marked", async () => {
  const world = await begun(1);
  world.load(2);
  world.reads = () => {
    world.revision = 2;
  };
  await world.lookAgain();
  expect(await world.changes()).toEqual([]);
  await world.lookAgain();
  expect((await world.changes()).map(([, , cause]) => cause)).toEqual(["bulk", "bulk"]);
});

/** A world in which something happens once, while members are read, and what is recorded at the next look. */
async function meanwhile(happens: (world: World) => void) {
  const world = await begun(1);
  world.load(2);
  let isOver = false;
  world.reads = () => {
    if (!isOver) happens(world);
    isOver = true;
  };
  await world.lookAgain();
  expect([isOver, world.evaluations, await world.changes()]).toEqual([true, 2, []]);
  await world.lookAgain();
  return world;
}

test("an evaluation during which the day ends is not recorded, and the next one is of the new day", async () => {
  const world = await meanwhile((one) => {
    one.nowMs = (today + 1) * msPerDay;
  });
  expect(await world.changes()).toEqual([
    [2, true, "change"],
    [1, false, "change"],
  ]);
  expect((await world.days()).map(({ day, size, entered }) => [day, size, entered])).toEqual([
    [today, 1, 0],
    [today + 1, 1, 1],
  ]);
});

test("an evaluation during which the timezone changes is not recorded, and the next one is marked", async () => {
  const world = await meanwhile((one) => {
    // The day stays the same.
    one.timezone = "Etc/GMT-1";
  });
  expect(await world.changes()).toEqual([
    [2, true, "bulk"],
    [1, false, "bulk"],
  ]);
  world.load(3);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([3, true, "change"]);
});

test("an evaluation during which a rebuild begins is not recorded, and the next one waits for its end", async () => {
  const world = await meanwhile((one) => {
    one.isRebuilding = true;
  });
  expect([world.evaluations, await world.changes()]).toEqual([2, []]);
  world.isRebuilding = false;
  await world.lookAgain();
  expect([world.evaluations, await world.changes()]).toEqual([
    3,
    [
      [2, true, "change"],
      [1, false, "change"],
    ],
  ]);
});
