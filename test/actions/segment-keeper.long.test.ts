/** The record of who is in segments: evaluations that come due, the causes of changes, and a keeper that is
 * killed. */
import { expect, test } from "bun:test";
import type { SegmentCause } from "../../contract/segments/segments.ts";
import { absoluteRiskScale } from "../../server/scoring/scores/risk-scale.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { eraseUsers } from "../../server/warehouse/upkeep/erase.ts";
import { msPerDay } from "../warehouse/support.ts";
import { storeRuns } from "./rules-support.ts";
import { begun, quarterMs, subject, today, World } from "./segment-world.ts";

test("members of the first evaluation did not enter; later ones enter and leave", async () => {
  const world = await begun(1, 2);
  expect(await world.changes()).toEqual([]);
  expect(await world.days()).toEqual([{ day: today, size: 2, entered: 0, left: 0, causes: ["first"] }]);
  world.load(2, 3);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [3, true, "change"],
    [1, false, "change"],
  ]);
  world.load(1, 2, 3);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([1, true, "change"]);
  const causes: SegmentCause[] = ["change", "first"];
  expect(await world.days()).toEqual([{ day: today, size: 3, entered: 2, left: 1, causes }]);
});

test("without new data there is no evaluation before midnight, and with it one in a quarter of an hour", async () => {
  const world = await begun(1);
  world.members = [];
  world.nowMs += 10 * quarterMs;
  await world.lookAgain();
  expect(world.evaluations).toBe(1);
  world.nowMs -= 9 * quarterMs + 1;
  world.batches += 1;
  await world.lookAgain();
  expect(world.evaluations).toBe(1);
  world.nowMs += 1;
  await world.lookAgain();
  expect([world.evaluations, await world.changes()]).toEqual([2, [[1, false, "change"]]]);
  // "Not in m days" changes without an event.
  world.members = [4];
  world.nowMs = (today + 1) * msPerDay;
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [4, true, "change"],
    [1, false, "change"],
  ]);
  expect((await world.days()).map(({ day, size }) => [day, size])).toEqual([
    [today, 0],
    [today + 1, 1],
  ]);
});

test("a clock that goes back delays nothing, and later changes stay the newest", async () => {
  const world = await begun();
  world.load(1);
  await world.lookAgain();
  world.nowMs -= 0.8 * msPerDay;
  world.members = [];
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [1, false, "change"],
    [1, true, "change"],
  ]);
});

test("the day's first scores are a reason, and another model marks the changes of segments that scores decide", async () => {
  const world = await begun(1);
  const { organization } = world;
  const stored = (riskScale: typeof absoluteRiskScale) =>
    storeRuns(subject.warehouse, { organization, kind: "user", days: [today], riskScale });
  world.readsScores = true;
  world.members = [2];
  await stored(absoluteRiskScale);
  await world.lookAgain();
  // Before, there were no scores at all.
  expect((await world.changes()).map(([, , cause]) => cause)).toEqual(["scores", "scores"]);
  world.load(3);
  await world.lookAgain();
  expect((await world.changes()).slice(0, 2).map(([, , cause]) => cause)).toEqual(["change", "change"]);
  await stored({ ...absoluteRiskScale, high: absoluteRiskScale.high + 0.1 });
  world.load(4);
  await world.lookAgain();
  expect((await world.changes()).slice(0, 2)).toEqual([
    [4, true, "scores"],
    [3, false, "scores"],
  ]);
});

test("other bands of the scores of 28 days before mark the changes, too: some filters compare with them", async () => {
  const world = await begun(1);
  const { organization } = world;
  const stored = (day: number, high: number) =>
    storeRuns(subject.warehouse, {
      organization,
      kind: "user" as const,
      days: [day],
      riskScale: { ...absoluteRiskScale, high },
    });
  world.readsScores = true;
  await stored(today - 28, 0.5);
  await stored(today, 0.5);
  world.load(2);
  await world.lookAgain();
  world.load(3);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([3, true, "change"]);
  await stored(today - 28, 0.6);
  world.load(4);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([4, true, "scores"]);
});

test("a stop of the service does not wait for a turn that another work has, and the next start records the change", async () => {
  const world = await begun(1);
  world.load(2);
  world.turn = new Promise(() => undefined);
  const looking = world.lookAgain();
  world.stop();
  await looking;
  expect(await world.changes()).toEqual([]);
  world.turn = Promise.resolve();
  await world.look();
  expect((await world.changes()).length).toBe(2);
});

test("changes by an edit, by an import and by exclusions are marked", async () => {
  const world = await begun(1);
  world.members = [2];
  world.edit();
  await world.lookAgain();
  world.bulkLoadedAtMs = world.nowMs + 1;
  world.load(3);
  await world.lookAgain();
  world.nowMs += 60_000;
  world.load(4);
  await world.lookAgain();
  world.revision += 1;
  world.load(5);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [5, true, "bulk"],
    [4, false, "bulk"],
    [4, true, "change"],
    [3, false, "change"],
    [3, true, "bulk"],
    [2, false, "bulk"],
    [2, true, "edit"],
    [1, false, "edit"],
  ] as never);
});

test("a user who is excluded leaves marked, beside others who leave by themselves", async () => {
  const world = await begun(1, 2, 3);
  await subject.warehouse.command(
    `INSERT INTO excluded_users (organization, users, revision)
     SELECT {organization:UInt32}, groupBitmapState(toUInt32(1)), 1`,
    { organization: world.organization },
  );
  world.load(1, 3);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [2, false, "change"],
    [1, false, "bulk"],
  ]);
});

test("while data has stopped only edits are evaluated", async () => {
  const world = await begun(1, 2);
  world.isStopped = true;
  world.load();
  world.nowMs += msPerDay;
  await world.lookAgain();
  expect([await world.changes(), await world.size()]).toEqual([[], 2]);
  world.edit();
  world.members = [2];
  await world.lookAgain();
  expect(await world.changes()).toEqual([[1, false, "edit"]]);
  world.isStopped = false;
  world.load(2, 3);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([3, true, "bulk"]);
  world.nowMs += 15 * 60_000;
  world.load(2, 3, 4);
  await world.lookAgain();
  expect((await world.changes())[0]).toEqual([4, true, "change"]);
});

test("changes after days without data are marked", async () => {
  const world = await begun(1, 2);
  world.isStopped = true;
  world.load(2);
  world.nowMs += 3 * msPerDay;
  await world.lookAgain();
  world.isStopped = false;
  await world.look();
  expect(await world.changes()).toEqual([[1, false, "bulk"]]);
  world.load(3);
  await world.look();
  expect((await world.changes())[0]).toEqual([3, true, "change"]);
});

/** Fails at one of its commands, before it or after it. */
function failing(at: number, isAfter: boolean): Warehouse {
  const { warehouse } = subject;
  let commands = 0;
  return new Proxy(warehouse, {
    get(target, name) {
      if (name !== "command") {
        const value: unknown = Reflect.get(target, name);
        return typeof value === "function" ? value.bind(target) : value;
      }
      return async (...statement: Parameters<Warehouse["command"]>) => {
        const isHit = commands === at;
        commands += 1;
        if (isHit && !isAfter) throw new Error("killed");
        await target.command(...statement);
        if (isHit) throw new Error("killed");
      };
    },
  });
}

test("a keeper that is killed at any point loses no change and doubles none", async () => {
  for (const at of [0, 1]) {
    for (const isAfter of [false, true]) {
      const world = await new World().fill();
      world.members = [1, 2];
      await world.look(failing(at, isAfter));
      await world.look();
      expect([await world.changes(), await world.size()]).toEqual([[], 2]);
      world.load(2, 3);
      await world.look(failing(at, isAfter));
      // Other members than at the time of the kill.
      const isDone = at === 1 && isAfter;
      world.load(2, 4);
      await world.look();
      const undone = [
        [4, true],
        [3, false],
        [3, true],
        [1, false],
      ];
      expect((await world.changes()).map(([user, entered]) => [user, entered])).toEqual(
        isDone
          ? undone
          : [
              [4, true],
              [1, false],
            ],
      );
      expect(await world.size()).toBe(2);
    }
  }
});

test("an evaluation that lands after its repetition counts once", async () => {
  const world = await begun(1);
  world.load(1, 2);
  await world.lookAgain();
  // The same place in the order, with a lower number: a statement that the server went on with.
  await subject.warehouse.command(
    `INSERT INTO segment_evaluations SELECT * REPLACE (evaluation - 1 AS evaluation, 9 AS entries)
     FROM segment_evaluations WHERE organization = {organization:UInt32} AND sequence = 2`,
    { organization: world.organization },
  );
  expect((await world.days()).map(({ entered }) => entered)).toEqual([1]);
  expect(await world.changes()).toEqual([[2, true, "change"]]);
});

test("a segment that cannot be evaluated does not stop the others, and is tried again when it is edited", async () => {
  const world = await new World().fill();
  const [own] = world.segments;
  if (own === undefined) throw new Error("there is no segment");
  const broken = { ...own, id: 6 };
  world.segments = [broken, own];
  world.members = [1];
  const tried: number[] = [];
  world.reads = (segment) => {
    tried.push(segment);
    if (segment === broken.id) throw new Error("its filter needs a setting");
  };
  await world.look();
  await world.lookAgain();
  expect([tried, await world.size()]).toEqual([[6, own.id], 1]);
  world.edit();
  await world.lookAgain();
  expect(tried).toEqual([6, own.id, 6, own.id]);
});

test("an erased user leaves no row, and is not written again", async () => {
  const world = await begun(1, 2);
  world.load(2, 3);
  await world.lookAgain();
  const { organization } = world;
  await eraseUsers(subject.warehouse, [
    { organization, user: 1 },
    { organization, user: 2 },
  ]);
  expect(await world.changes()).toEqual([[3, true, "change"]]);
  // The evaluation had read user 2 before.
  world.load(2, 3);
  await world.lookAgain();
  expect([await world.changes(), await world.size()]).toEqual([[[3, true, "change"]], 1]);
});

test("the rows of a deleted segment go with it, also those of an evaluation that was cut off", async () => {
  const world = await new World().fill();
  world.members = [1, 2];
  await world.look(failing(0, true));
  expect(await world.rows("user_segment_changes")).toBe(2);
  world.segments = [];
  await world.look();
  expect([await world.rows("user_segment_changes"), await world.rows("segment_evaluations")]).toEqual([0, 0]);
});
