/** The part of the contract about deliveries. */
import { describe, expect, test } from "bun:test";
import { commandLine } from "../../server/ledger/audit.ts";
import { callsOn, dayMs, delivered, failed, hostile } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Declares the tests of deliveries. */
export function deliveriesContract(subject: LedgerUnderTest): void {
  describe("deliveries", () => {
    addedAndClaimed(subject);
    claimed(subject);
    tests(subject);
    sent(subject);
    sentAgain(subject);
    held(subject);
  });
}

function addedAndClaimed(subject: LedgerUnderTest): void {
  const { add, send, claim, states, idOf } = callsOn(subject);

  test("are added once, and come back as they were after a restart", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    await send(id, to.id, hostile);
    await send(id, to.id, hostile);
    await subject.reopen();
    const [delivery, ...more] = await subject.ledger.deliveries.list(id, { limit: 9 });
    expect(more).toEqual([]);
    expect(delivery).toMatchObject({
      messageId: hostile,
      state: "pending",
      attempts: 0,
      type: "alert.fired",
    });
    expect(JSON.parse(delivery?.body ?? "")).toEqual({ text: hostile });
    const found = (messageId: string) => subject.ledger.deliveries.list(id, { messageId, limit: 9 });
    expect([await found(hostile), await found("1")]).toEqual([[delivery], []] as never);
  });

  test("of another organization's destination are not added, listed, sent again or settled", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const to = await add(id, "b");
    await send(other.id, to.id, "1");
    expect(await states(other.id)).toEqual([]);
    await send(id, to.id, "1");
    expect(await states(other.id)).toEqual([]);
    const { deliveries } = subject.ledger;
    expect(await deliveries.again(other.id, await idOf(id, "1"), commandLine, subject.nowMs)).toBe(false);
    expect(await deliveries.settleHeld(other.id, to.id, "drop", commandLine, subject.nowMs)).toBe(0);
  });

  test("are claimed for a minute, and so many of one destination", async () => {
    const { id } = await subject.organization();
    const [hanging, quick] = [await add(id, "hanging"), await add(id, "quick")];
    for (const message of ["1", "2", "3"]) await send(id, hanging.id, message);
    await send(id, quick.id, "4");
    const { nowMs } = subject;
    expect(await claim(nowMs - 1)).toEqual([]);
    expect(await claim(nowMs, { perDestination: 2 })).toEqual(["hanging 1", "hanging 2", "quick 4"]);
    expect(await claim(nowMs + 59_999, { perDestination: 2 })).toEqual([]);
    expect(await claim(nowMs + 60_000, { perDestination: 2 })).toEqual(["hanging 1", "hanging 2", "quick 4"]);
    expect(await claim(nowMs + 60_000, { perDestination: 3 })).toEqual(["hanging 3"]);
  });

  test("of destinations that work come first", async () => {
    const { id } = await subject.organization();
    const [failing, working] = [await add(id, "failing"), await add(id, "working")];
    const { nowMs, ledger } = subject;
    await send(id, failing.id, "1");
    await claim(nowMs);
    await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(5_000) }], nowMs);
    await send(id, working.id, "2");
    expect(await claim(nowMs + 5_000, { most: 1 })).toEqual(["working 2"]);
  });
}

/** Tests of the order and the number of claims. */
function claimed(subject: LedgerUnderTest): void {
  const { add, send, claim, idOf } = callsOn(subject);

  test("of a destination with no more room take no room of others", async () => {
    const { id } = await subject.organization();
    const [full, other] = [await add(id, "full"), await add(id, "other")];
    for (const message of ["1", "2", "3"]) await send(id, full.id, message);
    const { nowMs } = subject;
    expect(await claim(nowMs, { perDestination: 2 })).toEqual(["full 1", "full 2"]);
    await send(id, other.id, "4");
    expect(await claim(nowMs, { most: 1, perDestination: 2 })).toEqual(["other 4"]);
    expect(await claim(nowMs, { most: 1, perDestination: 3 })).toEqual(["full 3"]);
  });

  test("of destinations that fail are claimed one at a time, and so many in all", async () => {
    const { id } = await subject.organization();
    const { nowMs, ledger } = subject;
    for (const name of ["a", "b", "c"]) {
      const to = await add(id, name);
      for (const message of ["1", "2", "3"]) await send(id, to.id, `${name}${message}`);
    }
    await claim(nowMs, { perDestination: 1 });
    const tried = ["a1", "b1", "c1"].map(async (message) => ({ id: await idOf(id, message), ...failed(1) }));
    await ledger.deliveries.tried(await Promise.all(tried), nowMs);
    expect(await claim(nowMs, { failing: 2 })).toHaveLength(2);
    expect(await claim(nowMs)).toHaveLength(1);
    expect(await claim(nowMs)).toEqual([]);
    await ledger.deliveries.tried([{ id: await idOf(id, "a2"), ...delivered }], nowMs);
    expect(await claim(nowMs + 1)).toEqual(["a a1", "a a3"]);
  });

  test("are claimed for some destinations only", async () => {
    const { id } = await subject.organization();
    const [one, other] = [await add(id, "one"), await add(id, "other")];
    await send(id, one.id, "1");
    await send(id, other.id, "2");
    expect(await claim(subject.nowMs, { only: [other.id] })).toEqual(["other 2"]);
    expect(await claim(subject.nowMs, { only: [] })).toEqual([]);
  });
}

/** Tests of the messages that are sent by hand. */
function tests(subject: LedgerUnderTest): void {
  const { add, send, claim, idOf } = callsOn(subject);

  test("that are tests come first", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs } = subject;
    for (const message of ["1", "2", "3"]) await send(id, to.id, message, nowMs - dayMs);
    await send(id, to.id, "test", nowMs, "test");
    expect(await claim(nowMs, { most: 1 })).toEqual(["b test"]);
    expect(await claim(nowMs)).toEqual(["b 1", "b 2", "b 3"]);
  });

  test("that are tests have one place of their own, also while the destination fails", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    for (const message of ["1", "2", "3"]) await send(id, to.id, message);
    const room = { perDestination: 2 };
    expect(await claim(nowMs, room)).toEqual(["b 1", "b 2"]);
    for (const message of ["test 1", "test 2"]) await send(id, to.id, message, nowMs, "test");
    expect([await claim(nowMs, room), await claim(nowMs, room)]).toEqual([["b test 1"], []]);
    await ledger.deliveries.tried([{ id: await idOf(id, "test 1"), ...failed(1) }], nowMs);
    expect([await claim(nowMs, room), await claim(nowMs, room)]).toEqual([["b test 2"], []]);
    // After its first attempt a test waits as the others do.
    const both = ["1", "2", "test 2"].map(async (message) => ({ id: await idOf(id, message), ...failed(9) }));
    await ledger.deliveries.tried(await Promise.all(both), nowMs);
    expect(await claim(nowMs + 9, room)).toEqual(["b 3"]);
    expect(await claim(nowMs + 9, room)).toEqual([]);
  });
}

function sent(subject: LedgerUnderTest): void {
  const { add, send, claim, states, idOf } = callsOn(subject);

  test("are sent until they succeed", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    await send(id, to.id, "1");
    await claim(nowMs);
    await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(5_000) }], nowMs);
    expect(await states(id)).toEqual(["1 pending 1"]);
    expect((await ledger.deliveries.list(id, { limit: 1 }))[0]).toMatchObject({
      status: 500,
      said: hostile,
    });
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      failingSinceMs: nowMs,
      failedAttempts: 1,
    });
    expect(await claim(nowMs + 4_999)).toEqual([]);
    expect(await claim(nowMs + 5_000)).toEqual(["b 1"]);
    await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...delivered }], nowMs + 6_000);
    expect(await states(id)).toEqual(["1 delivered 2"]);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      failingSinceMs: null,
      failedAttempts: 0,
      deliveredAtMs: nowMs + 6_000,
    });
    expect(await claim(nowMs + dayMs)).toEqual([]);
    expect(await ledger.deliveries.again(id, await idOf(id, "1"), commandLine, nowMs + dayMs)).toBe(true);
    expect(await claim(nowMs + dayMs)).toEqual(["b 1"]);
  });

  test("whose attempts are recorded together count for each destination", async () => {
    const { id } = await subject.organization();
    const [broken, mended] = [await add(id, "broken"), await add(id, "mended")];
    const { nowMs, ledger } = subject;
    for (const message of ["1", "2"]) {
      await send(id, broken.id, `b${message}`);
      await send(id, mended.id, `m${message}`);
    }
    const outcomes = [
      { id: await idOf(id, "b1"), ...failed(5_000) },
      { id: await idOf(id, "m1"), ...failed(5_000) },
      { id: await idOf(id, "m2"), ...delivered },
      { id: await idOf(id, "b2"), ...failed(5_000) },
    ];
    await ledger.deliveries.tried(outcomes, nowMs);
    expect(await ledger.destinations.list(id)).toMatchObject([
      { name: "broken", failingSinceMs: nowMs, failedAttempts: 2, deliveredAtMs: null, pending: 2 },
      { name: "mended", failingSinceMs: null, failedAttempts: 0, deliveredAtMs: nowMs, pending: 1 },
    ]);
  });

  test("are kept for 30 days when they are done", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    await send(id, to.id, "done");
    await send(id, to.id, "waits");
    await subject.ledger.deliveries.tried([{ id: await idOf(id, "done"), ...delivered }], subject.nowMs);
    await subject.ledger.tidy(subject.nowMs + 31 * dayMs);
    expect(await states(id)).toEqual(["waits pending 0"]);
  });
}

function sentAgain(subject: LedgerUnderTest): void {
  const { add, change, send, claim, states, idOf } = callsOn(subject);

  test("are sent again unless they are under way, held or dropped, or the destination is not active", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    const again = async () => ledger.deliveries.again(id, await idOf(id, "1"), commandLine, nowMs);
    await send(id, to.id, "1");
    await claim(nowMs);
    await expect(again()).rejects.toThrow("The message is being sent.");
    await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(5_000) }], nowMs);
    expect(await again()).toBe(true);
    expect(await claim(nowMs)).toEqual(["b 1"]);
    await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(5_000) }], nowMs);
    await change(id, to.id, { state: "paused" });
    await expect(again()).rejects.toThrow("The destination is paused.");
    await change(id, to.id, { state: "active" });
    await expect(again()).rejects.toThrow("The message is held.");
    await ledger.deliveries.settleHeld(id, to.id, "drop", commandLine, nowMs);
    await expect(again()).rejects.toThrow("The message is canceled.");
    expect(await states(id)).toEqual(["1 canceled 1"]);
  });

  test("that were under way when their destination was paused have the outcome of the attempt", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    for (const message of ["arrived", "failed", "dropped", "lost"]) await send(id, to.id, message);
    await claim(nowMs);
    await change(id, to.id, { state: "paused" });
    await ledger.deliveries.tried([{ id: await idOf(id, "arrived"), ...delivered }], nowMs);
    await ledger.deliveries.tried([{ id: await idOf(id, "failed"), ...failed(5_000) }], nowMs);
    const refused = { ...failed(0), verdict: { is: "failed", isGone: false } } as const;
    await ledger.deliveries.tried([{ id: await idOf(id, "lost"), ...refused }], nowMs);
    expect(await states(id)).toEqual([
      "arrived delivered 1",
      "dropped held 0",
      "failed held 1",
      "lost held 1",
    ]);
    await ledger.deliveries.settleHeld(id, to.id, "drop", commandLine, nowMs);
    await ledger.deliveries.tried([{ id: await idOf(id, "dropped"), ...delivered }], nowMs);
    await ledger.deliveries.tried([{ id: await idOf(id, "lost"), ...failed(5_000) }], nowMs);
    expect(await states(id)).toEqual([
      "arrived delivered 1",
      "dropped delivered 1",
      "failed canceled 1",
      "lost canceled 2",
    ]);
    const list = await ledger.deliveries.list(id, { limit: 9 });
    expect(list.find(({ messageId }) => messageId === "lost")?.said).toBeNull();
  });
}

function held(subject: LedgerUnderTest): void {
  const { add, change, send, claim, states, idOf } = callsOn(subject);

  test("disable their destination after five days and 20 failed attempts, and are held then", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    await send(id, to.id, "1");
    const fail = async (atMs: number) =>
      ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(1) }], atMs);
    for (let attempts = 0; attempts < 19; attempts++) await fail(nowMs);
    await fail(nowMs + 5 * dayMs - 1);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({ state: "active", failedAttempts: 20 });
    await fail(nowMs + 5 * dayMs);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      state: "disabled",
      stoppedBecause: "No message was delivered for 5 days, in 21 attempts.",
      held: 1,
    });
    expect((await ledger.audit.list(id, { limit: 1 }))[0]).toMatchObject({
      action: "destination.disabled",
      summary: "Disabled the destination b: No message was delivered for 5 days, in 21 attempts.",
    });
    await send(id, to.id, "2", nowMs + 6 * dayMs);
    expect(await states(id)).toEqual(["1 held 21"]);
    expect(await change(id, to.id, { state: "active" })).toMatchObject({
      failedAttempts: 0,
      failingSinceMs: null,
    });
    expect(await ledger.deliveries.settleHeld(id, to.id, "send", commandLine, nowMs + 6 * dayMs)).toBe(1);
    expect(await claim(nowMs + 6 * dayMs)).toEqual(["b 1"]);
    expect(await states(id)).toEqual(["1 pending 0"]);
  });

  test("disable their destination at once when the address is gone", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    await send(id, to.id, "1");
    const gone = { status: 410, said: "", verdict: { is: "failed", isGone: true } } as const;
    await subject.ledger.deliveries.tried([{ id: await idOf(id, "1"), ...gone }], subject.nowMs);
    expect(await states(id)).toEqual(["1 failed 1"]);
    expect(await subject.ledger.destinations.find(id, to.id)).toMatchObject({ state: "disabled" });
  });

  test("of a paused destination are held until they are sent or dropped", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    await send(id, to.id, "1");
    await change(id, to.id, { state: "paused" });
    await send(id, to.id, "2");
    expect(await states(id)).toEqual(["1 held 0", "2 held 0"]);
    expect(await claim(nowMs + 1)).toEqual([]);
    await expect(ledger.deliveries.settleHeld(id, to.id, "send", commandLine, nowMs)).rejects.toThrow(
      "The destination is paused.",
    );
    expect(await states(id)).toEqual(["1 held 0", "2 held 0"]);
    expect(await ledger.deliveries.settleHeld(id, to.id, "drop", commandLine, nowMs)).toBe(2);
    expect(await states(id)).toEqual(["1 canceled 0", "2 canceled 0"]);
  });
}
