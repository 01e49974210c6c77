/** The order in which places are given, without a clock. */
import { expect, test } from "bun:test";
import {
  type Asker,
  FairTurns,
  type FairTurnsOptions,
  sharedPlaces,
} from "../../server/process/fair-turns.ts";
import { turns } from "../until.ts";

/** Four places, of which a group holds two while others wait and three at most. */
class Turns {
  readonly turns: FairTurns;
  /** The askers that got a turn, in order. */
  readonly given: string[] = [];
  readonly #holding: (Asker | undefined)[] = [];

  constructor(options: FairTurnsOptions = { places: 4, heldWhileOthersWait: 2, heldAtMost: 3 }) {
    this.turns = new FairTurns(options);
  }

  /** Asks for a turn and writes down that it came. */
  ask(group: string, member = "somebody", signal?: AbortSignal): Promise<void> {
    return this.#take({ group, member, ...(signal && { signal }) }, `${group} ${member}`);
  }

  askForTheService(): Promise<void> {
    return this.#take(undefined, "service");
  }

  /** The place that was held for longest is given back. */
  async next(): Promise<void> {
    this.turns.giveBack(this.#holding.shift());
    await turns(1);
  }

  async #take(asker: Asker | undefined, name: string): Promise<void> {
    await this.turns.take(asker);
    this.given.push(name);
    this.#holding.push(asker);
  }
}

test("a flood of one group leaves a place to another, which then has every other turn", async () => {
  const subject = new Turns();
  for (let index = 0; index < 50; index += 1) subject.ask("flood");
  await turns(1);
  expect(subject.given).toHaveLength(3);
  for (let index = 0; index < 4; index += 1) subject.ask("quick");
  await turns(1);
  // The group gets the free place at once, and the next that comes free. Then both groups hold two of four.
  for (let turn = 0; turn < 6; turn += 1) await subject.next();
  const quick = subject.given.flatMap((name, index) => (name.startsWith("quick") ? [index] : []));
  expect(quick).toEqual([3, 4, 7, 8]);
});

test("members of a group take turns, and what one asked comes in order", async () => {
  const subject = new Turns();
  for (let index = 0; index < 10; index += 1) subject.ask("one", "greedy");
  subject.ask("one", "modest");
  await turns(1);
  for (let turn = 0; turn < 3; turn += 1) await subject.next();
  expect(subject.given.slice(3, 6)).toEqual(["one greedy", "one modest", "one greedy"]);
});

test("one person never holds more than half of the places, even if no other waits", async () => {
  const subject = new Turns(sharedPlaces(4));
  for (let index = 0; index < 10; index += 1) subject.ask("one", "greedy");
  await turns(1);
  expect(subject.given).toEqual(["one greedy", "one greedy"]);
  subject.ask("one", "modest");
  subject.ask("another");
  await turns(1);
  expect(subject.given.slice(2)).toEqual(["one modest", "another somebody"]);
  await subject.next();
  expect(subject.given.slice(4)).toEqual(["one greedy"]);
});

test("the service's own work has its turn among groups, and no limit", async () => {
  const subject = new Turns();
  for (let index = 0; index < 5; index += 1) subject.askForTheService();
  await turns(1);
  expect(subject.given).toHaveLength(4);
  for (let index = 0; index < 5; index += 1) subject.ask("flood");
  await subject.next();
  await subject.next();
  expect(subject.given.slice(4)).toEqual(["service", "flood somebody"]);
});

test("an asker that goes away leaves the queue, and the next one gets the turn", async () => {
  const subject = new Turns();
  const leaving = new AbortController();
  for (let index = 0; index < 3; index += 1) subject.ask("one", "holds");
  const left = Array.from({ length: 20 }, () => subject.ask("one", "left", leaving.signal));
  subject.ask("one", "stays");
  leaving.abort(new Error("gone"));
  const outcomes = await Promise.allSettled(left);
  expect(outcomes.every(({ status }) => status === "rejected")).toBe(true);
  await subject.next();
  expect(subject.given.at(-1)).toBe("one stays");
  expect(subject.turns.waiting("one")).toBe(0);
  // A turn that had come already is kept, and asking without hope is refused.
  const late = new AbortController();
  await subject.ask("two", "late", late.signal);
  late.abort();
  await expect(subject.ask("two", "late", late.signal)).rejects.toThrow();
  for (let turn = 0; turn < 4; turn += 1) await subject.next();
  for (let index = 0; index < 4; index += 1) await subject.ask(`group ${index}`);
  expect(subject.given.slice(-4)).toEqual([0, 1, 2, 3].map((index) => `group ${index} somebody`));
});

test("a place that is held by two groups is shared by three", async () => {
  const subject = new Turns();
  for (let index = 0; index < 9; index += 1) for (const group of ["a", "b", "c"]) subject.ask(group);
  await turns(1);
  for (let turn = 0; turn < 23; turn += 1) await subject.next();
  const counts = ["a", "b", "c"].map(
    (group) => subject.given.filter((name) => name.startsWith(group)).length,
  );
  expect(counts).toEqual([9, 9, 9]);
  for (let round = 0; round < 27; round += 3) {
    expect(new Set(subject.given.slice(round, round + 3)).size).toBeGreaterThanOrEqual(2);
  }
});
