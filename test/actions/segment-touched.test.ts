/** Changes of segments that follow from an erasure or from another owner are marked one by one: others beside
 * them stay own changes. */
import { expect, test } from "bun:test";
import type { Filter } from "../../contract/segments/filters.ts";
import { touchedSince } from "../../server/features/segments/cause.ts";
import type { Evaluation } from "../../server/features/segments/evaluations.ts";
import { begin, begun, quarterMs, subject, World } from "./segment-world.ts";

/** An erasure that was requested now. */
const erasure = ({ nowMs }: World, account: number, ofAccounts: readonly number[] = []) => ({
  requestedAtMs: nowMs,
  account,
  ofAccounts,
});

test("accounts of an erased user leave marked, once", async () => {
  const world = await begin(new World("account"), 1, 2, 3);
  world.nowMs += quarterMs;
  world.erased = [erasure(world, 0, [1, 3])];
  world.load(3);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [2, false, "change"],
    [1, false, "bulk"],
  ]);
  world.nowMs += quarterMs;
  world.load(1);
  await world.lookAgain();
  expect((await world.changes()).slice(0, 2)).toEqual([
    [3, false, "change"],
    [1, true, "change"],
  ]);
});

test("users without an account leave marked after an account was erased, and others do not", async () => {
  const world = await begun(1, 2, 3, 4);
  world.nowMs += quarterMs;
  world.erased = [erasure(world, 9)];
  world.load(2, 4);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [3, false, "change"],
    [1, false, "bulk"],
  ]);
});

test("an erasure of a user marks no other user", async () => {
  const world = await begun(1, 2);
  world.nowMs += quarterMs;
  world.erased = [erasure(world, 0, [1, 2])];
  world.load(2);
  await world.lookAgain();
  expect(await world.changes()).toEqual([[1, false, "change"]]);
});

/** A team member sets the owner of an account or a user: a version with this trait alone. */
async function own({ organization, nowMs }: World, kind: "user" | "account", number: number): Promise<void> {
  await subject.warehouse.command(
    `INSERT INTO ${kind}_versions (organization, ${kind}, version, at, traits)
     SELECT {organization:UInt32}, {number:UInt32}, 2, fromUnixTimestamp64Milli({nowMs:Int64}), '{"owner":"olga@example.com"}'`,
    { organization, number, nowMs },
  );
}

const byOwner: readonly Filter[] = [{ owner: "3" }, { traits: [{ trait: "owner", value: "Olga" }] }];

test("accounts with another owner enter and leave marked, where the segment asks for the owner", async () => {
  const other: Filter = { traits: [{ trait: "plan", value: "owner" }] };
  for (const filter of [...byOwner, other]) {
    const cause = filter === other ? "change" : "bulk";
    const world = await begin(new World("account", filter), 1, 2);
    world.nowMs += quarterMs;
    await own(world, "account", 1);
    await own(world, "account", 4);
    world.load(4, 5);
    await world.lookAgain();
    expect(await world.changes()).toEqual([
      [5, true, "change"],
      [4, true, cause],
      [2, false, "change"],
      [1, false, cause],
    ]);
    world.nowMs += quarterMs;
    world.load(5);
    await world.lookAgain();
    expect((await world.changes())[0]).toEqual([4, false, "change"]);
  }
});

test("users with another owner, of their own or by their account, enter and leave marked", async () => {
  const world = await begin(new World("user", { owner: "3" }), 1, 2, 3);
  world.nowMs += quarterMs;
  await own(world, "user", 1);
  await own(world, "account", 3);
  world.load(4);
  await world.lookAgain();
  expect(await world.changes()).toEqual([
    [4, true, "change"],
    [3, false, "bulk"],
    [2, false, "change"],
    [1, false, "bulk"],
  ]);
});

test("where scores decide, an erasure counts until scores that began after it", () => {
  const minute = 60_000;
  const erased = [{ requestedAtMs: 100 * minute, account: 0, ofAccounts: [1] }];
  const touched = (loaded: number, scored: number, readsScores: boolean) =>
    touchedSince(
      erased,
      { loadedUptoMs: loaded * minute, scoredAtMs: scored * minute } as Evaluation,
      [],
      readsScores,
    ).accounts;
  expect([touched(101, 50, false), touched(102, 50, false), touched(102, 101, true)]).toEqual([[1], [], [1]]);
  expect([touched(200, 50, true), touched(200, 102, true)]).toEqual([[1], []]);
});
