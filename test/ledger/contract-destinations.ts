/** The part of the contract about destinations and deliveries. */
import { describe, expect, test } from "bun:test";
import { destinationLimits } from "../../contract/actions/destinations.ts";
import { commandLine } from "../../server/ledger/ports/audit.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";

/** Characters that a store may take for its own: none of them is lost. */
const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀";
const dayMs = 86_400_000;
const delivered = { status: 200, said: "ok", verdict: { is: "delivered" } } as const;
const failed = (waitMs: number) =>
  ({ status: 500, said: hostile, verdict: { is: "retry", waitMs } }) as const;

/** Calls on the ledger that is under test now. */
function callsOn(subject: LedgerUnderTest) {
  return {
    add: (organization: number, name: string) =>
      subject.ledger.destinations.add(
        organization,
        {
          kind: "webhook",
          name,
          address: "https://example.com/",
          secrets: ["whsec_x"],
          notices: ["source.silent"],
        },
        commandLine,
        subject.nowMs,
      ),
    change: (organization: number, id: number, change: object) =>
      subject.ledger.destinations.change(organization, id, change, commandLine, subject.nowMs + 1),
    send: (organization: number, destination: number, messageId: string, atMs = subject.nowMs) =>
      subject.ledger.deliveries.add(
        organization,
        destination,
        { messageId, type: "alert.fired", body: JSON.stringify({ text: hostile }) },
        atMs,
      ),
    /** The ids of messages that are claimed. */
    claim: async (atMs: number, perDestination = 10, most = 100) => {
      const claimed = await subject.ledger.deliveries.claim(most, perDestination, atMs);
      return claimed.map(({ delivery, destination }) => `${destination.name} ${delivery.messageId}`).sort();
    },
    states: async (organization: number) => {
      const list = await subject.ledger.deliveries.list(organization, { limit: 100 });
      return list.map(({ messageId, state, tries }) => `${messageId} ${state} ${tries}`).sort();
    },
    idOf: async (organization: number, messageId: string) => {
      const list = await subject.ledger.deliveries.list(organization, { limit: 100 });
      return list.find((one) => one.messageId === messageId)?.id ?? 0;
    },
  };
}

/** Declares the tests of destinations and deliveries. */
export function destinationsContract(subject: LedgerUnderTest): void {
  destinations(subject);
  mailboxes(subject);
  namesAndPlaces(subject);
  describe("deliveries", () => {
    addedAndClaimed(subject);
    tried(subject);
    held(subject);
  });
}

function destinations(subject: LedgerUnderTest): void {
  const { add, change } = callsOn(subject);

  describe("destinations", () => {
    test("are listed by name, and are there after a restart", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      for (const name of ["b", "é", "A", hostile]) await add(id, name);
      await add(other.id, "b");
      await subject.reopen();
      const destinations = await subject.ledger.destinations.list(id);
      expect(destinations.map(({ name }) => name)).toEqual(["A", hostile, "b", "é"]);
      expect(destinations[0]).toMatchObject({
        ...{ organization: id, kind: "webhook", address: "https://example.com/", secrets: ["whsec_x"] },
        ...{ notices: ["source.silent"], state: "active", pending: 0, held: 0, createdAtMs: subject.nowMs },
      });
    });

    test("are changed and deleted by their own organization only, and the log has neither address nor secret", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const added = await add(id, "b");
      expect(await change(other.id, added.id, { name: "c" })).toBeUndefined();
      const after = { address: "https://secret.example/", secrets: ["whsec_y", "whsec_x"] };
      expect(await change(id, added.id, { name: "c", ...after })).toMatchObject({ name: "c", ...after });
      const { destinations, audit } = subject.ledger;
      expect(await destinations.remove(other.id, added.id, commandLine, 1)).toBe(false);
      expect(await destinations.remove(id, added.id, commandLine, 1)).toBe(true);
      const log = await audit.list(id, { limit: 9 });
      expect(log.map(({ summary }) => summary)).toEqual([
        "Deleted the destination c",
        "Changed address, name, secrets of the destination c",
        "Added the destination b",
      ]);
      expect(JSON.stringify(log)).not.toMatch(/whsec|https/);
    });
  });
}

function mailboxes(subject: LedgerUnderTest): void {
  const { add } = callsOn(subject);

  describe("destinations of e-mail", () => {
    test("send when the recipient agrees, and no more when the recipient unsubscribes", async () => {
      const { id } = await subject.organization();
      const { destinations, deliveries, audit } = subject.ledger;
      const mailbox = {
        kind: "email",
        name: "Ada",
        address: "ada@example.com",
        secrets: ["code"],
        notices: [],
      } as const;
      const added = await destinations.add(id, mailbox, commandLine, subject.nowMs);
      expect(added.state).toBe("unconfirmed");
      const message = { messageId: "1", type: "test", body: "{}" } as const;
      await deliveries.add(id, added.id, message, subject.nowMs);
      expect(await destinations.agree(added.id, "other", 1)).toBeUndefined();
      expect(await destinations.unsubscribe(added.id, "other", 1)).toBeUndefined();
      expect(await destinations.agree(added.id, "code", 1)).toMatchObject({ state: "active" });
      expect(await destinations.find(id, added.id)).toMatchObject({ state: "active", pending: 0 });
      await deliveries.add(id, added.id, message, subject.nowMs);
      expect(await destinations.unsubscribe(added.id, "code", 2)).toMatchObject({ state: "disabled" });
      expect(await destinations.find(id, added.id)).toMatchObject({
        ...{ state: "disabled", stoppedBecause: "The recipient unsubscribed.", held: 1 },
      });
      expect((await audit.list(id, { limit: 9 })).map(({ summary }) => summary)).toEqual([
        "Disabled the destination Ada: The recipient unsubscribed.",
        "The recipient of Ada agreed",
        "Added the destination Ada",
      ]);
      const webhook = await add(id, "b");
      expect(await destinations.agree(webhook.id, "whsec_x", 1)).toBeUndefined();
    });
  });
}

function namesAndPlaces(subject: LedgerUnderTest): void {
  const { add, change, send, states } = callsOn(subject);

  describe("destinations", () => {
    test("are paused in a ledger that is at another place, and their messages held", async () => {
      const { id } = await subject.organization();
      const { ledger, nowMs } = subject;
      const place = await ledger.place();
      expect(await ledger.destinations.pauseElsewhere(place, nowMs)).toBe(0);
      const [active, paused] = [await add(id, "active"), await add(id, "paused")];
      await change(id, paused.id, { state: "paused" });
      await send(id, active.id, "1");
      await subject.reopen();
      const { destinations } = subject.ledger;
      expect(await subject.ledger.place()).toBe(place);
      expect(await destinations.pauseElsewhere(place, nowMs)).toBe(0);
      expect(await states(id)).toEqual(["1 pending 0"]);
      expect(await destinations.pauseElsewhere("elsewhere", nowMs)).toBe(1);
      expect(await states(id)).toEqual(["1 held 0"]);
      const because = "This installation was restored, copied or moved.";
      expect(await destinations.list(id)).toMatchObject([
        { name: "active", state: "paused", stoppedBecause: because, held: 1 },
        { name: "paused", state: "paused", stoppedBecause: null },
      ]);
      const [entry] = await subject.ledger.audit.list(id, { limit: 1 });
      expect(entry).toMatchObject({
        action: "destination.paused",
        summary: `Paused the destination active: ${because}`,
      });
      expect(await change(id, active.id, { state: "active" })).toMatchObject({ stoppedBecause: null });
      expect(await destinations.pauseElsewhere("elsewhere", nowMs)).toBe(0);
    });

    test("that ask for messages about an organization are found in all of them, unless they are disabled", async () => {
      const { id } = await subject.organization();
      const other = await subject.organization("other");
      const { destinations } = subject.ledger;
      await add(id, "b");
      const paused = await add(other.id, "c");
      const silent = await add(id, "d");
      await change(other.id, paused.id, { state: "paused" });
      await change(id, silent.id, { notices: [] });
      const mailbox = { kind: "email", name: "Ada", address: "ada@example.com", secrets: ["code"] } as const;
      await destinations.add(id, { ...mailbox, notices: ["source.silent"] }, commandLine, subject.nowMs);
      expect((await destinations.asking()).map(({ organization, name }) => [organization, name])).toEqual([
        [id, "b"],
        [other.id, "c"],
      ]);
    });

    test("have a name of their own, and there are so many at most", async () => {
      const { id } = await subject.organization();
      const first = await add(id, "b");
      await add(id, "c");
      await expect(add(id, "b")).rejects.toThrow("name is taken: there is a destination called b already.");
      await expect(change(id, first.id, { name: "c" })).rejects.toThrow("name is taken");
      for (let n = 2; n < destinationLimits.perOrganization; n++) await add(id, `destination ${n}`);
      await expect(add(id, "one more")).rejects.toThrow("There are 20 destinations already");
    });
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
    expect(delivery).toMatchObject({ messageId: hostile, state: "pending", tries: 0, type: "alert.fired" });
    expect(JSON.parse(delivery?.body ?? "")).toEqual({ text: hostile });
  });

  test("of another organization's destination are not added, listed, tried again or settled", async () => {
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

function tried(subject: LedgerUnderTest): void {
  const { add, send, claim, states, idOf } = callsOn(subject);

  test("are tried until they succeed", async () => {
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
      failedTries: 1,
    });
    expect(await claim(nowMs + 4_999)).toEqual([]);
    expect(await claim(nowMs + 5_000)).toEqual(["b 1"]);
    await ledger.deliveries.tried(await idOf(id, "1"), delivered, nowMs + 6_000);
    expect(await states(id)).toEqual(["1 delivered 2"]);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      ...{ failingSinceMs: null, failedTries: 0, deliveredAtMs: nowMs + 6_000 },
    });
    expect(await claim(nowMs + dayMs)).toEqual([]);
    expect(await ledger.deliveries.again(id, await idOf(id, "1"), nowMs + dayMs)).toBe(true);
    expect(await claim(nowMs + dayMs)).toEqual(["b 1"]);
  });
}

function held(subject: LedgerUnderTest): void {
  const { add, change, send, claim, states, idOf } = callsOn(subject);

  test("disable their destination after five days and 20 tries, and are held then", async () => {
    const { id } = await subject.organization();
    const to = await add(id, "b");
    const { nowMs, ledger } = subject;
    await send(id, to.id, "1");
    const fail = async (atMs: number) => ledger.deliveries.tried(await idOf(id, "1"), failed(1), atMs);
    for (let tries = 0; tries < 19; tries++) await fail(nowMs);
    await fail(nowMs + 5 * dayMs - 1);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({ state: "active", failedTries: 20 });
    await fail(nowMs + 5 * dayMs);
    expect(await ledger.destinations.find(id, to.id)).toMatchObject({
      ...{
        state: "disabled",
        stoppedBecause: "No message was delivered for 5 days, in 21 tries.",
        held: 1,
      },
    });
    expect((await ledger.audit.list(id, { limit: 1 }))[0]).toMatchObject({
      action: "destination.disabled",
      summary: "Disabled the destination b: No message was delivered for 5 days, in 21 tries.",
    });
    await send(id, to.id, "2", nowMs + 6 * dayMs);
    expect(await states(id)).toEqual(["1 held 21"]);
    expect(await change(id, to.id, { state: "active" })).toMatchObject({
      failedTries: 0,
      failingSinceMs: null,
    });
    expect(await ledger.deliveries.settleHeld(id, to.id, "send", nowMs + 6 * dayMs)).toBe(1);
    expect(await claim(nowMs + 6 * dayMs)).toEqual(["b 1"]);
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
