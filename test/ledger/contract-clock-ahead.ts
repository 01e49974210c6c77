/** The part of the contract about deliveries of a clock that was ahead and is right again. */
import { describe, expect, test } from "bun:test";
import { commandLine } from "../../server/ledger/audit.ts";
import { callsOn, dayMs, failed } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

const yearMs = 365 * dayMs;

/** Declares the tests of deliveries after a clock that was a year ahead. */
export function clockAheadContract(subject: LedgerUnderTest): void {
  const { add, send, claim, idOf } = callsOn(subject);

  describe("after a clock that was a year ahead", () => {
    test("claims of a process that is gone are over", async () => {
      const { id } = await subject.organization();
      const to = await add(id, "b");
      const { nowMs, ledger } = subject;
      for (const message of ["1", "2", "3", "4", "5"]) await send(id, to.id, message);
      const room = { perDestination: 4 };
      expect(await claim(nowMs + yearMs, room)).toHaveLength(4);
      expect(await ledger.deliveries.again(id, await idOf(id, "1"), commandLine, nowMs)).toBe(true);
      expect(await claim(nowMs, room)).toEqual(["b 1", "b 2", "b 3", "b 4"]);
      expect(await claim(nowMs, { perDestination: 5 })).toEqual(["b 5"]);
    });

    test("messages that were added or tried are due, and others still wait", async () => {
      const { id } = await subject.organization();
      const [to, other] = [await add(id, "b"), await add(id, "other")];
      const { nowMs, ledger } = subject;
      await send(id, to.id, "tried");
      await claim(nowMs + yearMs);
      await ledger.deliveries.tried([{ id: await idOf(id, "tried"), ...failed(5_000) }], nowMs + yearMs);
      await send(id, other.id, "added", nowMs + yearMs);
      await send(id, other.id, "waits");
      const last = failed(dayMs * 1.1);
      await ledger.deliveries.tried([{ id: await idOf(id, "waits"), ...last }], nowMs);
      expect(await claim(nowMs)).toEqual(["b tried", "other added"]);
    });

    test("a destination that fails is disabled five days later", async () => {
      const { id } = await subject.organization();
      const to = await add(id, "b");
      const { nowMs, ledger } = subject;
      await send(id, to.id, "1");
      const fail = async (atMs: number) =>
        ledger.deliveries.tried([{ id: await idOf(id, "1"), ...failed(1) }], atMs);
      await fail(nowMs + yearMs);
      for (let attempts = 0; attempts < 20; attempts++) await fail(nowMs);
      expect(await ledger.destinations.find(id, to.id)).toMatchObject({
        state: "active",
        failingSinceMs: nowMs,
      });
      await fail(nowMs + 5 * dayMs);
      expect(await ledger.destinations.find(id, to.id)).toMatchObject({ state: "disabled" });
    });

    test("owners are told of a destination that was disabled", async () => {
      const { id } = await subject.organization();
      const to = await add(id, "b");
      const { nowMs, ledger } = subject;
      await send(id, to.id, "1");
      const gone = { status: 410, said: "", verdict: { is: "failed", isGone: true } } as const;
      await ledger.deliveries.tried([{ id: await idOf(id, "1"), ...gone }], nowMs + yearMs);
      expect(await ledger.destinations.claimUntold(nowMs)).toHaveLength(1);
      expect(await ledger.destinations.claimUntold(nowMs)).toEqual([]);
    });
  });
}
