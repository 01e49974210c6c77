/** The part of the contract about what people are told of deliveries: in the audit log, and by mail when a
 * destination is disabled. */
import { describe, expect, test } from "bun:test";
import { commandLine } from "../../server/ledger/audit.ts";
import { callsOn } from "./destination-calls.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Declares the tests of entries and mails about deliveries. */
export function notedDeliveriesContract(subject: LedgerUnderTest): void {
  describe("deliveries", () => {
    noted(subject);
    told(subject);
  });
}

function noted(subject: LedgerUnderTest): void {
  const { add, change, send, idOf } = callsOn(subject);

  test("that are settled or sent again by hand have an entry in the log, and none without messages", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    for (const [held, messages] of [
      ["drop", ["1", "2"]],
      ["send", ["3"]],
    ] as const) {
      await change(id, to.id, { state: "paused" });
      for (const message of messages) await send(id, to.id, message);
      await change(id, to.id, { state: "active" });
      await ledger.deliveries.settleHeld(id, to.id, held, commandLine, nowMs);
      expect(await ledger.deliveries.settleHeld(id, to.id, held, commandLine, nowMs)).toBe(0);
    }
    const delivery = await idOf(id, "3");
    await ledger.deliveries.again(id, delivery, commandLine, nowMs);
    const log = await ledger.audit.list(id, { limit: 99 });
    const settled = log.filter(({ action }) => !/created|changed/.test(action));
    const [by, kind] = ["command line", "webhook"];
    expect(settled.map(({ action, summary, detail }) => [action, summary, detail])).toEqual([
      [
        "delivery.sent_again",
        "Sent a message (alert.fired) to the destination b again",
        { delivery, destination: to.id, type: "alert.fired", by },
      ],
      [
        "destination.held_sent",
        "Sent 1 held message of the destination b",
        { id: to.id, kind, name: "b", messages: 1, by },
      ],
      [
        "destination.held_dropped",
        "Dropped 2 held messages of the destination b",
        { id: to.id, kind, name: "b", messages: 2, by },
      ],
    ]);
  });
}

function told(subject: LedgerUnderTest): void {
  const { add, change, send, idOf } = callsOn(subject);

  test("that disable their destination are told to the owners, every ten minutes until they know", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    const untold = async (minutes: number) =>
      (await ledger.destinations.claimUntold(nowMs + minutes * 60_000)).map(({ name, held }) => [name, held]);
    const disable = async (messageId: string) => {
      await send(id, to.id, messageId);
      await send(id, to.id, `${messageId} waits`);
      const gone = { status: 410, said: "", verdict: { is: "failed", isGone: true } } as const;
      await ledger.deliveries.tried([{ id: await idOf(id, messageId), ...gone }], nowMs);
    };
    expect(await untold(0)).toEqual([]);
    await disable("1");
    expect([await untold(0), await untold(9), await untold(10)]).toEqual([[["b", 1]], [], [["b", 1]]]);
    await ledger.destinations.told(to.id);
    expect(await untold(60)).toEqual([]);
    // A change is made by an owner, and two days later a mail is too late.
    await change(id, to.id, { state: "active" });
    await disable("2");
    await change(id, to.id, { state: "paused" });
    expect(await untold(60)).toEqual([]);
    await change(id, to.id, { state: "active" });
    await disable("3");
    expect([await untold(2 * 24 * 60), await untold(60)]).toEqual([[], [["b", 3]]]);
    // A copy of the installation tells nobody.
    await ledger.copies.pauseElsewhere("elsewhere", nowMs);
    expect(await untold(120)).toEqual([]);
  });
}
