/** The part of the contract about the inbox, as the loader sees it. */
import { expect, test } from "bun:test";
import type { FrozenBatch } from "../../server/ledger/inbox.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { appendAlone, inboxRows } from "./writes.ts";

const hourMs = 3_600_000;

type Read = (batch: FrozenBatch) => Promise<string>;

/** Declares the tests of the inbox. */
export function inboxContract(subject: LedgerUnderTest): void {
  const read: Read = async (batch) => (await subject.ledger.inbox.read(batch)).toString();
  freezeContract(subject, read);
  frozenContract(subject, read);
  finishContract(subject);
  keptContract(subject, read);
}

function freezeContract(subject: LedgerUnderTest, read: Read): void {
  test("an empty inbox freezes nothing", async () => {
    expect(await subject.ledger.inbox.freeze(10)).toEqual([]);
    expect(await subject.ledger.inbox.backlog()).toEqual({
      rows: 0,
      bytes: 0,
      newestInboxId: 0,
      loadedUptoInboxId: 0,
    });
  });

  test("waiting rows are frozen by table, year and schema, each in the order of arrival", async () => {
    const { ledger } = subject;
    await appendAlone(ledger, inboxRows(["a", "b"]));
    await appendAlone(ledger, inboxRows(["old"], { year: 2025 }));
    await appendAlone(ledger, inboxRows(["ada"], { table: "users", year: 0 }));
    await appendAlone(ledger, inboxRows(["next"], { schema: 2 }));
    await appendAlone(ledger, inboxRows(["c"]));
    const batches = await ledger.inbox.freeze(100);
    expect(batches).toHaveLength(4);
    const bodies = await Promise.all(batches.map(read));
    expect(bodies).toEqual(['["a"]\n["b"]\n["c"]\n', '["old"]\n', '["ada"]\n', '["next"]\n']);
    expect(batches.map(({ table, year, schema, rows }) => [table, year, schema, rows])).toEqual([
      ["events", 2026, 1, 3],
      ["events", 2025, 1, 1],
      ["users", 0, 1, 1],
      ["events", 2026, 2, 1],
    ]);
    expect(batches.map((batch) => batch.bytes)).toEqual(bodies.map((body) => Buffer.byteLength(body)));
  });

  test("a body whose last line is not ended does not run into the next", async () => {
    await appendAlone(subject.ledger, { ...inboxRows(["ä"]), body: '["ä"]' });
    await appendAlone(subject.ledger, { ...inboxRows(["b"]), body: '["b"]' });
    const [batch] = await subject.ledger.inbox.freeze(100);
    if (batch === undefined) throw new Error("nothing was frozen");
    expect(await read(batch)).toBe('["ä"]\n["b"]\n');
  });

  test("at most the wanted rows are frozen, but one inbox row even when it has more", async () => {
    const { ledger } = subject;
    await appendAlone(ledger, inboxRows(["a", "b", "c"]));
    await appendAlone(ledger, inboxRows(["d"]));
    await appendAlone(ledger, inboxRows(["e"]));
    const frozen: number[] = [];
    for (let round = 0; round < 3; round++) {
      const batches = await ledger.inbox.freeze(2);
      frozen.push(...batches.map((batch) => batch.rows));
      for (const batch of batches) await ledger.inbox.finish(batch.number, []);
    }
    expect(frozen).toEqual([3, 2]);
  });
}

function frozenContract(subject: LedgerUnderTest, read: Read): void {
  test("while a frozen batch is unfinished the same batches come back, across restarts", async () => {
    await appendAlone(subject.ledger, inboxRows(["a"]));
    await appendAlone(subject.ledger, inboxRows(["ada"], { table: "users", year: 0 }));
    const frozen = await subject.ledger.inbox.freeze(100);
    const bodies = await Promise.all(frozen.map(read));
    await appendAlone(subject.ledger, inboxRows(["b"]));
    expect(await subject.ledger.inbox.freeze(100)).toEqual(frozen);
    await subject.reopen();
    expect(await subject.ledger.inbox.freeze(100)).toEqual(frozen);
    expect(await Promise.all(frozen.map(read))).toEqual(bodies);
    await subject.ledger.inbox.finish(frozen[0]?.number ?? 0, []);
    expect(await subject.ledger.inbox.freeze(100)).toEqual(frozen.slice(1));
  });

  test("numbers of batches and inbox ids are never used again, even when all rows are gone", async () => {
    const batchNumbers: number[] = [];
    const inboxIds: number[] = [];
    for (let round = 0; round < 3; round++) {
      await appendAlone(subject.ledger, inboxRows([`row ${round}`]));
      const batches = await subject.ledger.inbox.freeze(100);
      expect(batches).toHaveLength(1);
      for (const batch of batches) {
        expect(await read(batch)).toBe(`["row ${round}"]\n`);
        batchNumbers.push(batch.number);
        await subject.ledger.inbox.finish(batch.number, []);
      }
      inboxIds.push((await subject.ledger.inbox.backlog()).newestInboxId);
      subject.nowMs += 2 * hourMs;
      await subject.ledger.tidy(subject.nowMs);
      await subject.reopen();
    }
    expect(new Set(batchNumbers).size).toBe(3);
    expect(inboxIds).toEqual([...new Set(inboxIds)].sort((a, b) => a - b));
  });
}

function finishContract(subject: LedgerUnderTest): void {
  test("the backlog counts what waits, frozen or not, and is the same after a restart", async () => {
    await appendAlone(subject.ledger, inboxRows(["a", "b"]));
    await appendAlone(subject.ledger, inboxRows(["ada"], { table: "users", year: 0 }));
    const frozen = await subject.ledger.inbox.freeze(100);
    await appendAlone(subject.ledger, inboxRows(["ü"]));
    await subject.ledger.inbox.finish(frozen[1]?.number ?? 0, []);
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const bytes = Buffer.byteLength('["a"]\n["b"]\n["ü"]\n');
      expect(await subject.ledger.inbox.backlog()).toEqual({
        rows: 3,
        bytes,
        newestInboxId: 3,
        loadedUptoInboxId: 0,
      });
    }
    await subject.ledger.inbox.finish(frozen[0]?.number ?? 0, []);
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 1, loadedUptoInboxId: 2 });
    }
  });
}

/** Declares the tests of what becomes of rows that the warehouse does not take. */
export function rejectedEventsOfInboxContract(subject: LedgerUnderTest): void {
  test("finishing a batch twice changes nothing, also with other rejected events", async () => {
    await appendAlone(subject.ledger, inboxRows(["a", "b"]));
    const [batch] = await subject.ledger.inbox.freeze(100);
    if (batch === undefined) throw new Error("nothing was frozen");
    await subject.ledger.inbox.finish(batch.number, [{ table: "events", row: '["b"]', reason: "no time" }]);
    const backlog = await subject.ledger.inbox.backlog();
    await subject.ledger.inbox.finish(batch.number, [{ table: "events", row: '["a"]', reason: "other" }]);
    expect(await subject.ledger.inbox.backlog()).toEqual(backlog);
    expect(await subject.ledger.rejectedEvents.count({})).toBe(1);
  });

  test("rejected events are kept with reason and time, the newest first", async () => {
    for (const line of ["a", "b", "c"]) {
      await appendAlone(subject.ledger, inboxRows([line]));
      const [batch] = await subject.ledger.inbox.freeze(100);
      const rejectedRow = { table: "events", row: `["${line}"]`, reason: `bad ${line}` } as const;
      await subject.ledger.inbox.finish(batch?.number ?? 0, [rejectedRow]);
      subject.nowMs += 1;
    }
    await subject.reopen();
    expect(await subject.ledger.rejectedEvents.count({})).toBe(3);
    expect(await subject.ledger.rejectedEvents.list({}, 2)).toEqual([
      { id: 3, organization: 0, atMs: subject.nowMs - 1, table: "events", row: '["c"]', reason: "bad c" },
      { id: 2, organization: 0, atMs: subject.nowMs - 2, table: "events", row: '["b"]', reason: "bad b" },
    ]);
  });
}

function keptContract(subject: LedgerUnderTest, read: Read): void {
  test("loaded rows stay for an hour, and rows that wait stay for ever", async () => {
    await appendAlone(subject.ledger, inboxRows(["loaded"]));
    const [loaded] = await subject.ledger.inbox.freeze(100);
    if (loaded === undefined) throw new Error("nothing was frozen");
    await subject.ledger.inbox.finish(loaded.number, []);
    await appendAlone(subject.ledger, inboxRows(["frozen"]));
    const [frozen] = await subject.ledger.inbox.freeze(100);
    await appendAlone(subject.ledger, inboxRows(["waiting"]));
    await subject.ledger.tidy(subject.nowMs + hourMs - 1);
    expect(await read(loaded)).toBe('["loaded"]\n');
    await subject.ledger.tidy(subject.nowMs + 100 * hourMs);
    await expect(read(loaded)).rejects.toThrow("holds 0 rows");
    if (frozen === undefined) throw new Error("nothing was frozen");
    expect(await read(frozen)).toBe('["frozen"]\n');
    expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 2 });
  });

  test("an old batch stays while a batch of the same range is unfinished", async () => {
    await appendAlone(subject.ledger, inboxRows(["a"]));
    await appendAlone(subject.ledger, inboxRows(["ada"], { table: "users", year: 0 }));
    const [events, users] = await subject.ledger.inbox.freeze(100);
    if (events === undefined || users === undefined) throw new Error("two batches were expected");
    await subject.ledger.inbox.finish(events.number, []);
    await subject.ledger.tidy(subject.nowMs + 100 * hourMs);
    expect(await read(users)).toBe('["ada"]\n');
    await subject.ledger.inbox.finish(users.number, []);
    await subject.ledger.tidy(subject.nowMs + 100 * hourMs);
    await expect(read(users)).rejects.toThrow("holds 0 rows");
  });
}
