/** The records of imported files: one for a file and a mapping, moving on with the rows that it counts. */
import { describe, expect, spyOn, test } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import { workImporter } from "../../server/features/notes-and-tasks/imported/import-work.ts";
import { Importer } from "../../server/intake/importer.ts";
import type { Noted } from "../../server/intake/warnings.ts";
import { userKey } from "../../server/ledger/rules/held-events.ts";
import type { ImportRecord } from "../../server/ledger/stores/imports.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { inboxRows, needs, writes } from "./writes.ts";

async function beginImport(
  subject: LedgerUnderTest,
  some: { mapping?: string; sha256?: string } = {},
): Promise<ImportRecord> {
  const [first] = await subject.ledger.organizations.list();
  const organization = first ?? (await subject.organization());
  return subject.ledger.imports.begin({
    organization: organization.id,
    sha256: "aa",
    mapping: "{}",
    fileName: "a.csv",
    nowMs: 5,
    ...some,
  });
}

const inboxRowCount = async (subject: LedgerUnderTest) => (await subject.ledger.inbox.backlog()).rows;

export function importsContract(subject: LedgerUnderTest): void {
  const begin = (some?: { mapping?: string; sha256?: string }) => beginImport(subject, some);

  /** Writes one inbox row for these rows of an import. */
  function advance(importId: number, fromRow: number, rows: number): Promise<void> {
    const rejected = [{ row: fromRow, reason: "no" }];
    const importProgress = { importId, fromRow, rows, stored: rows - 1, duplicates: 0, rejected };
    return subject.ledger.transact(needs({}), () => writes(7, { inbox: [inboxRows(["a"])], importProgress }));
  }

  describe("imports", () => {
    test("the same file under the same mapping has one record, also after a restart", async () => {
      const record = await begin();
      await advance(record.id, 0, 10);
      await subject.reopen();
      expect(await begin()).toEqual({
        ...record,
        rowsDone: 10,
        stored: 9,
        rejected: 1,
        updatedAtMs: 7,
        lastFromRow: 0,
        lastRejected: [{ row: 0, reason: "no" }],
      });
      const other = await begin({ mapping: "other" });
      expect(other).toMatchObject({ rowsDone: 0, stored: 0 });
      const known = await subject.ledger.imports.ofFile(record.organization, "aa");
      expect(known.map(({ id }) => id)).toEqual([record.id, other.id]);
      expect(await subject.ledger.imports.ofFile(record.organization, "bb")).toEqual([]);
    });

    test("rows that do not begin where the record stands are refused, and nothing of them is kept", async () => {
      const { id } = await begin();
      await advance(id, 0, 10);
      for (const fromRow of [0, 9, 11]) {
        expect(advance(id, fromRow, 10)).rejects.toBeInstanceOf(Refusal);
      }
      expect([await inboxRowCount(subject), (await begin()).rowsDone]).toEqual([1, 10]);
    });

    test("an import of which something was stored stays finished; one of which nothing was begins again", async () => {
      const stored = await begin();
      await advance(stored.id, 0, 10);
      await subject.ledger.imports.finish(stored.id, 8);
      await subject.ledger.imports.finish(stored.id, 9);
      expect(await begin()).toMatchObject({ rowsDone: 10, finishedAtMs: 8 });
      const empty = await begin({ sha256: "bb" });
      await advance(empty.id, 0, 1);
      await subject.ledger.imports.finish(empty.id, 8);
      const again = await begin({ sha256: "bb" });
      expect(again).toMatchObject({ id: empty.id, rowsDone: 0, rejected: 0, finishedAtMs: null });
    });
  });
}

/** Holds 300 events under the id of each of them. @returns how many these are */
async function hold(
  subject: LedgerUnderTest,
  organization: number,
  people: readonly string[],
): Promise<number> {
  const { nowMs: receivedAtMs } = subject;
  const said = {
    kind: "track",
    event: "e",
    label: null,
    properties: "{}",
    isActivity: true,
    messageId: null,
  };
  const item = { receivedAtMs, atMs: receivedAtMs - 1_000, accountId: null, body: JSON.stringify(said) };
  const held = people.flatMap((userId) =>
    Array.from({ length: 300 }, () => ({ ...userKey(organization, userId), ...item })),
  );
  const heldEvents = { taken: [], held, refused: [], links: [], labels: [] };
  await subject.ledger.transact(needs({}), () => writes(receivedAtMs, { heldEvents }));
  return held.length;
}

function importerOf(subject: LedgerUnderTest, noted: Noted[], closedBecause?: string): Importer {
  return new Importer(
    subject.ledger,
    () => closedBecause,
    () => subject.nowMs,
    { note: (one) => noted.push(one) },
    workImporter(subject.ledger),
  );
}

export function importerContract(subject: LedgerUnderTest): void {
  heldOfBrowser(subject);
  timeOfImports(subject);
  const begin = () => beginImport(subject);
  const importing = (closedBecause?: string) => importerOf(subject, [], closedBecause);

  describe("an importer", () => {
    test("a chunk that is sent again after its answer got lost stores nothing, and gets the same answer", async () => {
      const importer = importing();
      const { id } = await begin();
      const identify = JSON.stringify({ type: "identify", userId: "u", email: "a@example.com" });
      const track = JSON.stringify({ type: "track", userId: "u", event: "e" });
      const rows = [identify, track, { invalid: "unreadable" }, track, identify];
      const answer = await importer.append(id, 0, rows);
      expect(answer).toMatchObject({ rowsDone: 5, stored: 3, duplicates: 1, rejected: 1 });
      expect(answer).toMatchObject({ lastRejected: [{ row: 2, reason: "unreadable" }] });
      const before = await inboxRowCount(subject);
      expect(await importer.append(id, 0, rows)).toEqual(answer);
      expect(await inboxRowCount(subject)).toBe(before);
    });

    test("a chunk looks its own organization up and lists no others", async () => {
      const importer = importing();
      const { id } = await begin();
      const list = spyOn(subject.ledger.organizations, "list");
      await importer.append(id, 0, [
        JSON.stringify({ type: "identify", userId: "u", email: "a@example.com" }),
      ]);
      expect(list).not.toHaveBeenCalled();
      list.mockRestore();
    });

    test("a chunk of users with very many held items is stored in parts, and each gets theirs once", async () => {
      const importer = importing();
      const { id, organization } = await begin();
      const people = Array.from({ length: 40 }, (_, n) => `u${n}`);
      const held = await hold(subject, organization, people);
      const rows = people.map((userId) =>
        JSON.stringify({ type: "identify", userId, email: `${userId}@example.com` }),
      );
      const steps: unknown[] = [];
      for (let done = 0; done < rows.length; ) {
        const answer = await importer.append(id, done, rows.slice(done));
        if ("closedBecause" in answer || answer.rowsDone === done) throw new Error("nothing was taken");
        done = answer.rowsDone;
        steps.push([done, answer.stored]);
      }
      // 4 × 300 are the first that are more than 1,000.
      expect(steps).toEqual(Array.from({ length: 10 }, (_, step) => [4 * (step + 1), 4 * (step + 1)]));
      const counts = await subject.ledger.dayCounts(organization);
      expect(counts.reduce((sum, { events }) => sum + events, 0)).toBe(held);
    });

    test("while no write is accepted an import gets the reason, and its record stays", async () => {
      const importer = importing("full");
      const { id } = await begin();
      expect(await importer.append(id, 0, ["{}"])).toEqual({ closedBecause: "full" });
      expect((await begin()).rowsDone).toBe(0);
    });
  });
}

function timeOfImports(subject: LedgerUnderTest): void {
  test("an importer: the ledger knows when an import last stored rows", async () => {
    const importer = importerOf(subject, []);
    const { id, organization } = await beginImport(subject);
    expect(await subject.ledger.lastBulkLoadAtMs(organization)).toBeNull();
    expect(await subject.ledger.imported(organization)).toEqual({ rows: 0, lastAtMs: null });
    await importer.append(id, 0, [{ invalid: "unreadable" }]);
    expect(await subject.ledger.lastBulkLoadAtMs(organization)).toBeNull();
    const row = JSON.stringify({ type: "identify", userId: "u", email: "a@example.com" });
    const answer = await importer.append(id, 1, [row]);
    if ("closedBecause" in answer) throw new Error("nothing was taken");
    expect(await subject.ledger.lastBulkLoadAtMs(organization)).toBe(answer.updatedAtMs);
    expect(await subject.ledger.imported(organization)).toEqual({ rows: 1, lastAtMs: answer.updatedAtMs });
  });
}

function heldOfBrowser(subject: LedgerUnderTest): void {
  test("an importer: a row whose user's held items may not change an account is new, and warned of once it is stored", async () => {
    const noted: Noted[] = [];
    const importer = importerOf(subject, noted);
    const { id, organization } = await beginImport(subject);
    const row = (userId: string, account: object) =>
      JSON.stringify({ type: "identify", userId, email: "a@example.com", account });
    await importer.append(id, 0, [row("first", { id: "acme", name: "Acme" })]);
    const { nowMs: receivedAtMs } = subject;
    const said = { kind: "track", event: "e", label: null, properties: "{}", isActivity: true };
    const account = { accountId: "acme", avatar: "https://evil.test/a.png" };
    const body = JSON.stringify({ ...said, messageId: null, account, isBrowser: true });
    const item = { receivedAtMs, atMs: receivedAtMs - 1_000, accountId: "acme", body };
    const held = [{ ...userKey(organization, "late"), ...item }];
    const heldEvents = { taken: [], held, refused: [], links: [], labels: [] };
    await subject.ledger.transact(needs({}), () => writes(receivedAtMs, { heldEvents }));
    const rows = [row("late", { id: "acme", name: "Acme" })];
    noted.length = 0;
    expect(await importer.check(organization, rows)).toEqual(["new"]);
    expect(noted).toEqual([]);
    expect(await importer.append(id, 1, rows)).toMatchObject({ stored: 2, duplicates: 0, rejected: 0 });
    expect(noted).toMatchObject([
      {
        organization,
        kind: "browser_field_ignored",
        endpoint: "import",
        detail: "account",
        userId: "late",
      },
    ]);
  });
}
