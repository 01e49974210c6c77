/** The part of the contract about held events, and names of events. */
import { expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { type PersonKey, userKey, visitorKey } from "../../server/ledger/rules/held-events.ts";
import {
  dayMs,
  heldIn,
  heldUnder,
  item,
  link,
  linkedTo,
  linksIn,
  maxHeldEventBytes,
  nothing,
  warningsOf,
  write,
} from "./held-event-support.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { look, needs, writes } from "./writes.ts";

/** Declares the tests of held events. */
export function heldEventsContract(subject: LedgerUnderTest): void {
  itemsContract(subject);
  organizationsContract(subject);
  limitsContract(subject);
  countsContract(subject);
}

function itemsContract(subject: LedgerUnderTest): void {
  test("held items come back in the order of their arrival, until they are taken", async () => {
    const { id } = await subject.organization();
    const ofVisitor = [
      item(id, "v\u0000", { receivedAtMs: 3_000, body: '{"n":"ü\u0000"}' }),
      item(id, "v\u0000", { receivedAtMs: 2_000, accountId: "acme", atMs: -1 }),
    ];
    await write(subject.ledger, subject.nowMs, { held: [...ofVisitor, item(id, "other")] });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const found = await heldIn(subject.ledger, id, "v\u0000");
      expect(found).toEqual(
        ofVisitor.toReversed().map(({ organization: _, kind: __, id: ___, ...stored }) => stored),
      );
      expect(await subject.ledger.heldEvents.counts(id)).toEqual({
        people: 2,
        items: 3,
        bytes: 11 + 2 + 2,
        oldestAtMs: 2_000,
        droppedFull: 0,
        droppedExpired: 0,
        links: 0,
      });
      expect(await subject.ledger.heldEvents.people(id, 1)).toEqual([
        { kind: "visitor", id: "v\u0000", items: 2, oldestAtMs: 2_000, newestAtMs: 3_000 },
      ]);
    }
    await write(subject.ledger, subject.nowMs, {
      taken: [visitorKey(id, "v\u0000")],
      held: [item(id, "v\u0000", { body: "[]" })],
    });
    expect((await heldIn(subject.ledger, id, "v\u0000")).map(({ body }) => body)).toEqual(["[]"]);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({ people: 2, items: 2, bytes: 4 });
  });

  test("the same text as a user's id and as a visitor's is two people", async () => {
    const { id } = await subject.organization();
    const [user, visitor] = [userKey(id, "42"), visitorKey(id, "42")];
    await write(subject.ledger, subject.nowMs, {
      held: [item(id, "42", { kind: "user", body: '"user"' }), item(id, "42", { body: '"visitor"' })],
      links: [link(id, "w", "42"), { ...userKey(id, "w"), link: { userId: "43", atMs: 1 } }],
    });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const bodies = async (person: PersonKey) =>
        (await heldUnder(subject.ledger, person)).map(({ body }) => body);
      expect([await bodies(user), await bodies(visitor)]).toEqual([['"user"'], ['"visitor"']]);
      expect(await linkedTo(subject.ledger, id, "42")).toEqual(["visitor w"]);
      expect(await linkedTo(subject.ledger, id, "43")).toEqual(["user w"]);
      expect((await subject.ledger.heldEvents.people(id, 9)).map((one) => `${one.kind} ${one.id}`)).toEqual([
        "user 42",
        "visitor 42",
      ]);
    }
    await write(subject.ledger, subject.nowMs, {
      taken: [user],
      links: [{ ...userKey(id, "w"), link: null }],
    });
    expect(await heldUnder(subject.ledger, user)).toEqual([]);
    expect(await heldUnder(subject.ledger, visitor)).toHaveLength(1);
    expect(await linkedTo(subject.ledger, id, "43")).toEqual([]);
    expect(await linksIn(subject.ledger, id, ["w"])).toEqual(["w → 42 at 1"]);
  });
}

function organizationsContract(subject: LedgerUnderTest): void {
  test("a new organization has no held items, also while another has some", async () => {
    const first = await subject.organization("first");
    const second = await subject.organization("second");
    const has = () =>
      look(subject.ledger, {}, (stored) => [first, second].map(({ id }) => stored.hasHeldEvents(id)));
    expect(await has()).toEqual([false, false]);
    await write(subject.ledger, subject.nowMs, {
      held: [item(first.id, "v")],
      links: [link(first.id, "w", "u")],
      labels: [{ organization: first.id, event: "a_b", label: "a b" }],
    });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await has()).toEqual([true, false]);
      expect(await heldIn(subject.ledger, second.id, "v")).toEqual([]);
      expect(await linksIn(subject.ledger, second.id, ["w"])).toEqual([]);
      expect(await subject.ledger.heldEvents.labels(second.id, ["a_b"])).toEqual({});
      expect(await subject.ledger.heldEvents.counts(second.id)).toMatchObject({
        people: 0,
        oldestAtMs: null,
      });
      expect(await subject.ledger.heldEvents.people(second.id, 9)).toEqual([]);
    }
  });

  test("a transaction that fails holds nothing, links nothing and names nothing", async () => {
    const { id } = await subject.organization();
    const heldEvents = {
      ...nothing,
      held: [item(id, "v")],
      links: [link(id, "w", "u")],
      labels: [{ organization: id, event: "a_b", label: "a b" }],
    };
    const dayCounts = [{ organization: 1_000_000, utcDay: 1, events: 1, checksum: 1 }];
    const failing = subject.ledger.transact(needs({}), () => writes(1_000, { heldEvents, dayCounts }));
    await expect(failing).rejects.toThrow();
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await heldIn(subject.ledger, id, "v")).toEqual([]);
      expect(await linksIn(subject.ledger, id, ["w"])).toEqual([]);
      expect(await subject.ledger.heldEvents.labels(id, ["a_b"])).toEqual({});
    }
    await write(subject.ledger, subject.nowMs, heldEvents);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({ people: 1, items: 1 });
  });
}

function limitsContract(subject: LedgerUnderTest): void {
  test("of one person the newest 1,000 are kept, and not more bytes than are allowed", async () => {
    const { id } = await subject.organization();
    const many = Array.from({ length: limits.heldEvents + 2 }, (_, n) =>
      item(id, "v", { receivedAtMs: n, body: `${n}` }),
    );
    await write(subject.ledger, subject.nowMs, { held: many });
    const kept = await heldIn(subject.ledger, id, "v");
    expect([kept.length, kept[0]?.body]).toEqual([limits.heldEvents, "2"]);
    const large = [1, 2, 3, 4, 5].map((n) =>
      item(id, "w", { receivedAtMs: n, body: `${n}`.repeat(limits.heldEventBytes / 4) }),
    );
    await write(subject.ledger, subject.nowMs, { held: large });
    expect((await heldIn(subject.ledger, id, "w")).map(({ receivedAtMs }) => receivedAtMs)).toEqual([
      2, 3, 4, 5,
    ]);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({
      people: 2,
      items: limits.heldEvents + 4,
      droppedFull: 3,
      droppedExpired: 0,
    });
    expect(await warningsOf(subject.ledger, id)).toEqual(["held_full: 3"]);
  });

  test("after 30 days held items are dropped and counted", async () => {
    const { id } = await subject.organization();
    const receivedAtMs = subject.nowMs;
    const held = Array.from({ length: 150 }, (_, n) => item(id, `v${n}`, { receivedAtMs }));
    await write(subject.ledger, subject.nowMs, { held });
    await write(subject.ledger, subject.nowMs, {
      held: [item(id, "v0", { receivedAtMs: receivedAtMs + 2 })],
    });
    subject.nowMs += limits.heldEventDays * dayMs;
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({ items: 151, droppedExpired: 0 });
    subject.nowMs += 1;
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({
      people: 1,
      items: 1,
      oldestAtMs: receivedAtMs + 2,
      droppedFull: 0,
      droppedExpired: 150,
    });
    expect(await warningsOf(subject.ledger, id)).toEqual(["held_expired: 150"]);
  });

  test("of an organization that has too much waiting the oldest is dropped and counted", async () => {
    const { id } = await subject.organization();
    const body = JSON.stringify("x".repeat(maxHeldEventBytes / 6 - 2));
    const held = Array.from({ length: 8 }, (_, n) =>
      item(id, `v${n}`, { receivedAtMs: subject.nowMs + n, body }),
    );
    await write(subject.ledger, subject.nowMs, { held });
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.heldEvents.counts(id)).toMatchObject({
      people: 6,
      bytes: maxHeldEventBytes,
      oldestAtMs: subject.nowMs + 2,
      droppedFull: 2,
    });
    expect(await warningsOf(subject.ledger, id)).toEqual(["held_full: 2"]);
  });
}

function countsContract(subject: LedgerUnderTest): void {
  test("held items that their user cannot take are counted, with the reason", async () => {
    const { id } = await subject.organization();
    await write(subject.ledger, subject.nowMs, {
      refused: [
        { organization: id, message: "too many traits" },
        { organization: id, message: "too many traits" },
      ],
    });
    expect(await subject.ledger.warnings.list(id, 9)).toMatchObject([
      { kind: "held_refused", count: 2, detail: "too many traits", message: "too many traits" },
    ]);
  });

  test("names of events are kept as they were sent first, 10,000 of an organization", async () => {
    const { id } = await subject.organization();
    const label = (n: number, text: string) => ({ organization: id, event: `e_${n}`, label: text });
    const all = Array.from({ length: limits.eventLabels + 1 }, (_, n) => label(n, `e ${n}`));
    await write(subject.ledger, subject.nowMs, { labels: all });
    await write(subject.ledger, subject.nowMs, { labels: [label(1, "E 1")] });
    const asked = ["e_1", "e_2", "none", `e_${limits.eventLabels}`];
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await subject.ledger.heldEvents.labels(id, asked)).toEqual({ e_1: "e 1", e_2: "e 2" });
    }
  });
}
