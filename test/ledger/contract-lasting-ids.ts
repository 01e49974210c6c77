/** The part of the contract about message ids that are remembered for good: each imported row is stored once,
 * ever. */
import { describe, expect, test } from "bun:test";
import { limits } from "../../contract/limits.ts";
import { workImporter } from "../../server/features/notes-and-tasks/imported/import-work.ts";
import type { SourcedItem } from "../../server/intake/admission/sourced.ts";
import { Importer } from "../../server/intake/importer.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { inboxRows, look, messageOf, needs, remember, writes } from "./writes.ts";

const dayMs = 86_400_000;

export function lastingIdsContract(subject: LedgerUnderTest): void {
  describe("message ids for good", () => {
    idsContract(subject);
    importedRowsContract(subject);
    formerIdsContract(subject);
    droppedRowsContract(subject);
    largeRowContract(subject);
  });
}

function importerOf(subject: LedgerUnderTest): Importer {
  return new Importer(
    subject.ledger,
    () => undefined,
    () => subject.nowMs,
    { note: () => undefined },
    workImporter(subject.ledger),
  );
}

function idsContract(subject: LedgerUnderTest): void {
  const track = (organization: number, lastingDay: number | undefined) =>
    ({ organization, kind: "track", messageId: "order-17", lastingDay }) as const;

  test("an id is remembered months later and after a restart, under its day, kind and organization", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const key = track(id, 20_000);
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([]);
    subject.nowMs += 200 * dayMs;
    await subject.ledger.tidy(subject.nowMs);
    await subject.reopen();
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([key]);
    const others = [
      track(id, 20_001),
      { ...track(id, 20_000), kind: "identify" as const },
      track(other.id, 20_000),
      { ...track(id, 20_000), messageId: "order-18" },
    ];
    for (const one of others) {
      const found = await look(subject.ledger, { messageIds: [one] }, (stored) => messageOf(stored, one));
      expect(found).toMatchObject({ remembered: false, isNewForGood: true });
    }
  });

  test("an id of a message that was not stored is not remembered", async () => {
    const { id } = await subject.organization();
    const [stored, refused] = [track(id, 1), { ...track(id, 1), messageId: "order-18" }];
    await subject.ledger.transact(needs({ messageIds: [stored, refused] }), (state) =>
      writes(subject.nowMs, { messages: [messageOf(state, stored)], inbox: [inboxRows(["a"])] }),
    );
    subject.nowMs += 2 * dayMs;
    expect(await remember(subject.ledger, [stored, refused], subject.nowMs)).toEqual([stored]);
  });

  test("an id that is known for 24 hours becomes one for good by its next message", async () => {
    const { id } = await subject.organization();
    const [live, imported] = [track(id, undefined), track(id, 20_000)];
    await remember(subject.ledger, [live], subject.nowMs);
    await subject.ledger.transact(needs({ messageIds: [imported] }), (stored) => {
      const message = messageOf(stored, imported);
      expect(message).toMatchObject({ remembered: true, isNewForGood: true });
      return writes(subject.nowMs, { messages: [message] });
    });
    subject.nowMs += 2 * dayMs;
    expect(await remember(subject.ledger, [imported], subject.nowMs)).toEqual([imported]);
  });
}

function importedRowsContract(subject: LedgerUnderTest): void {
  test("an import stores rows of another file once, months later, also those that are held", async () => {
    const { id: organization } = await subject.organization();
    const importer = importerOf(subject);
    const begin = (sha256: string) =>
      importer.begin({ organization, sha256, mapping: '{"type":"events"}', fileName: sha256 });
    const event = (userId: string, messageId: string | null): SourcedItem => ({
      type: "track",
      userId,
      messageId,
      atMs: subject.nowMs - 5 * dayMs,
      event: "bought",
      properties: {},
      isActivity: true,
    });
    const ada: SourcedItem = { type: "identify", userId: "ada", atMs: 1, messageId: null, traits: {} };
    const rows = [
      { items: [ada, event("ada", "a1")] },
      { items: [event("unknown", "h1")] },
      { items: [event("ada", null)] },
      { ignored: "It is about the page." },
    ];
    const first = await begin("aa");
    expect(await importer.check(organization, rows)).toEqual([
      "new",
      "new, held until its user is identified",
      "new",
      "ignored: It is about the page.",
    ]);
    expect(await importer.append(first.id, 0, rows)).toMatchObject({
      rowsDone: 4,
      stored: 3,
      duplicates: 0,
      rejected: 0,
    });
    const waiting = await subject.ledger.inbox.backlog();
    subject.nowMs += 5 * dayMs;
    // The same rows in another order. The one without an id would be another one.
    const again = [rows[1], rows[0]].flatMap((row) => row ?? []);
    const second = await begin("bb");
    expect(await importer.append(second.id, 0, again)).toMatchObject({
      rowsDone: 2,
      stored: 0,
      duplicates: 2,
      rejected: 0,
    });
    expect((await subject.ledger.inbox.backlog()).rows).toBe(waiting.rows);
    // The held event is stored once when its user is identified.
    const named: SourcedItem = { ...ada, userId: "unknown" };
    expect(await importer.append(second.id, 2, [{ items: [named] }])).toMatchObject({ rowsDone: 3 });
    const { rows: inWarehouse } = await subject.ledger.inbox.backlog();
    // Of the user: a row of users, one of its versions, and the event.
    expect(inWarehouse - waiting.rows).toBe(3);
  });
}

function formerIdsContract(subject: LedgerUnderTest): void {
  test("a row that is known by the id of an earlier version is a duplicate, also of another file", async () => {
    const { id: organization } = await subject.organization();
    const importer = importerOf(subject);
    const row = (messageId: string, formerMessageId?: string) => ({
      items: [
        {
          type: "track" as const,
          anonymousId: "v",
          atMs: 1_000,
          lastingDay: 0,
          messageId,
          formerMessageId,
          event: "cancellation_scheduled",
          isActivity: false,
          properties: { subscriptionId: "sub_1", endsAt: "2026-05-01T00:00:00Z" },
        },
      ],
    });
    const imported = async (sha256: string, ...rows: readonly ReturnType<typeof row>[]) => {
      const record = await importer.begin({ organization, sha256, mapping: "{}", fileName: sha256 });
      return importer.append(record.id, 0, rows);
    };
    const counts = (stored: number, duplicates: number) => ({ stored, duplicates });
    expect(await imported("aa", row("end:1"))).toMatchObject(counts(1, 0));
    subject.nowMs += 5 * dayMs;
    expect(await imported("bb", row("end:1:may", "end:1"))).toMatchObject(counts(0, 1));
    // The end was moved, or is that of another cancellation.
    const later = [row("end:1:june"), row("end:2:june", "end:2")];
    expect(await imported("cc", ...later)).toMatchObject(counts(2, 0));
    expect(await imported("dd", ...later, row("end:2"))).toMatchObject(counts(1, 2));
  });
}

function droppedRowsContract(subject: LedgerUnderTest): void {
  const factOf = (n: number): SourcedItem => ({
    type: "track",
    anonymousId: "stripe:cus_1",
    messageId: `in_${n}:payment_succeeded`,
    lastingDay: 0,
    atMs: 1_000,
    event: "payment_succeeded",
    isActivity: false,
    properties: { amount: 500, currency: "eur" },
  });
  const named: SourcedItem = {
    type: "identify",
    userId: "cus_1",
    anonymousId: "stripe:cus_1",
    messageId: null,
    atMs: 1,
    traits: {},
  };

  test("facts whose held events expired are imported again with their user", async () => {
    const { id: organization } = await subject.organization();
    const importer = importerOf(subject);
    const rows = [{ items: [factOf(1)] }];
    const begin = (sha256: string) =>
      importer.begin({ organization, sha256, mapping: "{}", fileName: sha256 });
    await importer.append((await begin("aa")).id, 0, rows);
    subject.nowMs += limits.heldEventDays * dayMs;
    await subject.ledger.tidy(subject.nowMs);
    expect(await importer.append((await begin("bb")).id, 0, rows)).toMatchObject({ duplicates: 1 });
    subject.nowMs += 1;
    await subject.ledger.tidy(subject.nowMs);
    expect(await subject.ledger.heldEvents.counts(organization)).toMatchObject({ droppedExpired: 1 });
    const third = await begin("cc");
    expect(await importer.append(third.id, 0, [{ items: [named] }, ...rows])).toMatchObject({
      rowsDone: 2,
      stored: 2,
      duplicates: 0,
    });
    // A fact that is stored stays known for good.
    subject.nowMs += 100 * dayMs;
    await subject.ledger.tidy(subject.nowMs);
    expect(await importer.append((await begin("dd")).id, 0, rows)).toMatchObject({ duplicates: 1 });
  });

  test("facts that are dropped because one customer has too many are imported again", async () => {
    const { id: organization } = await subject.organization();
    const importer = importerOf(subject);
    const begin = (sha256: string) =>
      importer.begin({ organization, sha256, mapping: "{}", fileName: sha256 });
    const rows = Array.from({ length: limits.heldEvents + 2 }, (_, n) => ({ items: [factOf(n)] }));
    const first = await begin("aa");
    for (let at = 0; at < rows.length; at += 400) {
      await importer.append(first.id, at, rows.slice(at, at + 400));
    }
    expect(await subject.ledger.heldEvents.counts(organization)).toMatchObject({ droppedFull: 2 });
    // Until then the ids are known as those of any message are.
    subject.nowMs += (limits.messageIdMemoryHours + 1) * 3_600_000;
    const second = await begin("bb");
    expect(await importer.append(second.id, 0, [{ items: [named] }])).toMatchObject({ rowsDone: 1 });
    const answer = await importer.append(second.id, 1, rows.slice(0, 5));
    expect(answer).toMatchObject({ rowsDone: 6, stored: 3, duplicates: 3 });
  });
}

function largeRowContract(subject: LedgerUnderTest): void {
  test("a row whose first item attaches very many held events is stored once", async () => {
    const { id: organization } = await subject.organization();
    const importer = importerOf(subject);
    const record = await importer.begin({ organization, sha256: "cc", mapping: "{}", fileName: "c" });
    const of = (type: "anonymousId" | "userId", id: string, messageId: string): SourcedItem => ({
      type: "track",
      [type]: id,
      messageId,
      atMs: subject.nowMs - dayMs,
      event: "seen",
      properties: {},
      isActivity: true,
    });
    const visits = Array.from({ length: 400 }, (_, n) => n).flatMap((n) =>
      ["v1", "v2", "v3"].map((visitor) => of("anonymousId", visitor, `${visitor}-${n}`)),
    );
    let done = 0;
    for (let at = 0; at < visits.length; at += 400) {
      await importer.append(
        record.id,
        done,
        visits.slice(at, at + 400).map((item) => ({ items: [item] })),
      );
      done += 400;
    }
    const names = ["v1", "v2", "v3"].map((anonymousId): SourcedItem => {
      return {
        type: "identify",
        userId: "ada",
        anonymousId,
        atMs: subject.nowMs,
        messageId: null,
        traits: {},
      };
    });
    const row = { items: [...names, of("userId", "ada", "last")] };
    const answer = await importer.append(record.id, done, [row]);
    expect(answer).toMatchObject({ rowsDone: done + 1, stored: done + 1, duplicates: 0 });
    const waiting = await subject.ledger.inbox.backlog();
    // 1,200 visits and the last event, a row of users and one of its versions.
    expect(waiting.rows).toBe(1_203);
  });
}
