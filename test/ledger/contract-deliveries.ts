/** The part of the contract about deliveries. */
import { describe, expect, test } from "bun:test";
import { callsOn, dayMs, delivered, failed, hostile } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Declares the tests of deliveries. */
export function deliveriesContract(subject: LedgerUnderTest): void {
  describe("deliveries", () => {
    addedAndClaimed(subject);
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
    expect(await deliveries.again(other.id, await idOf(id, "1"), subject.nowMs)).toBe(false);
    expect(await deliveries.settleHeld(other.id, to.id, "drop", subject.nowMs)).toBe(0);
  });

  test("are claimed for a minute, and so many of one destination", async () => {
    const { id } = await subject.organization();
    const [hanging, quick] = [await add(id, "hanging"), await add(id, "quick")];
    for (const message of ["1", "2", "3"]) await send(id, hanging.id, message);
    await send(id, quick.id, "4");
    const { nowMs } = subject;
    expect(await claim(nowMs - 1)).toEqual([]);
    expect(await claim(nowMs, 2)).toEqual(["hanging 1", "hanging 2", "quick 4"]);
    expect(await claim(nowMs + 59_999, 2)).toEqual([]);
    expect(await claim(nowMs + 60_000, 2)).toEqual(["hanging 1", "hanging 2", "quick 4"]);
    expect(await claim(nowMs + 60_000, 3)).toEqual(["hanging 3"]);
  });

  test("of destinations that work come first", async () => {
    const { id } = await subject.organization();
    const [failing, working] = [await add(id, "failing"), await add(id, "working")];
    const { nowMs, ledger } = subject;
    await send(id, failing.id, "1");
    await claim(nowMs);
    await ledger.deliveries.tried(await idOf(id, "1"), failed(5_000), nowMs);
    await send(id, working.id, "2");
    expect(await claim(nowMs + 5_000, 10, 1)).toEqual(["working 2"]);
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
    await ledger.deliveries.tried(await idOf(id, "1"), failed(5_000), nowMs);
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
    await ledger.deliveries.tried(await idOf(id, "1"), delivered, nowMs + 6_000);
    expect(await states(id)).toEqual(["1 delivered 2"]);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      ...{ failingSinceMs: null, failedAttempts: 0, deliveredAtMs: nowMs + 6_000 },
    });
    expect(await claim(nowMs + dayMs)).toEqual([]);
    expect(await ledger.deliveries.again(id, await idOf(id, "1"), nowMs + dayMs)).toBe(true);
    expect(await claim(nowMs + dayMs)).toEqual(["b 1"]);
  });
}

function sentAgain(subject: LedgerUnderTest): void {
  const { add, change, send, claim, states, idOf } = callsOn(subject);

  test("are sent again unless they are under way, held or dropped, or the destination is not active", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    const again = async () => ledger.deliveries.again(id, await idOf(id, "1"), nowMs);
    await send(id, to.id, "1");
    await claim(nowMs);
    await expect(again()).rejects.toThrow("The message is being sent.");
    await ledger.deliveries.tried(await idOf(id, "1"), failed(5_000), nowMs);
    expect(await again()).toBe(true);
    expect(await claim(nowMs)).toEqual(["b 1"]);
    await ledger.deliveries.tried(await idOf(id, "1"), failed(5_000), nowMs);
    await change(id, to.id, { state: "paused" });
    await expect(again()).rejects.toThrow("The destination is paused.");
    await change(id, to.id, { state: "active" });
    await expect(again()).rejects.toThrow("The message is held.");
    await ledger.deliveries.settleHeld(id, to.id, "drop", nowMs);
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
    await ledger.deliveries.tried(await idOf(id, "arrived"), delivered, nowMs);
    await ledger.deliveries.tried(await idOf(id, "failed"), failed(5_000), nowMs);
    const refused = { ...failed(0), verdict: { is: "failed", isGone: false } } as const;
    await ledger.deliveries.tried(await idOf(id, "lost"), refused, nowMs);
    expect(await states(id)).toEqual([
      "arrived delivered 1",
      "dropped held 0",
      "failed held 1",
      "lost held 1",
    ]);
    await ledger.deliveries.settleHeld(id, to.id, "drop", nowMs);
    await ledger.deliveries.tried(await idOf(id, "dropped"), delivered, nowMs);
    await ledger.deliveries.tried(await idOf(id, "lost"), failed(5_000), nowMs);
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
    const fail = async (atMs: number) => ledger.deliveries.tried(await idOf(id, "1"), failed(1), atMs);
    for (let attempts = 0; attempts < 19; attempts++) await fail(nowMs);
    await fail(nowMs + 5 * dayMs - 1);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({ state: "active", failedAttempts: 20 });
    await fail(nowMs + 5 * dayMs);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      ...{
        state: "disabled",
        stoppedBecause: "No message was delivered for 5 days, in 21 attempts.",
        held: 1,
      },
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
    expect(await ledger.deliveries.settleHeld(id, to.id, "send", nowMs + 6 * dayMs)).toBe(1);
    expect(await claim(nowMs + 6 * dayMs)).toEqual(["b 1"]);
    expect(await states(id)).toEqual(["1 pending 0"]);
  });

  test("disable their destination at once when the address is gone", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    await send(id, to.id, "1");
    const gone = { status: 410, said: "", verdict: { is: "failed", isGone: true } } as const;
    await subject.ledger.deliveries.tried(await idOf(id, "1"), gone, subject.nowMs);
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
    expect(await ledger.deliveries.settleHeld(id, to.id, "drop", nowMs)).toBe(2);
    expect(await states(id)).toEqual(["1 canceled 0", "2 canceled 0"]);
  });

  test("are kept for 30 days when they are done", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    await send(id, to.id, "done");
    await send(id, to.id, "waits");
    await subject.ledger.deliveries.tried(await idOf(id, "done"), delivered, subject.nowMs);
    await subject.ledger.tidy(subject.nowMs + 31 * dayMs);
    expect(await states(id)).toEqual(["waits pending 0"]);
  });
}
