/** The part of the contract about imported notes, tasks, contacts and owners. */
import { describe, expect, test } from "bun:test";
import type { WorkType } from "../../contract/notes-and-tasks.ts";
import { workImporter } from "../../server/features/notes-and-tasks/imported/import-work.ts";
import type { ImportRow } from "../../server/intake/import-rows.ts";
import { Importer } from "../../server/intake/importer.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, look, user, writePeople } from "./writes.ts";

const dayMs = 86_400_000;
const hostile = "first\nb\\0c\\d 'e' \"f\" {g} ünïcode 😀";
/** A name that a store may take for something else. */
const odd = "Zoë \\0 'of' {Vitally}";
const at = "2025-05-17T09:30:00Z";
const atMs = Date.parse(at);

/** An organization with Grace, with Ada (of the account engines), Bob and Eve, who share an address, and an
 * account without users. */
async function ground(subject: LedgerUnderTest) {
  const { id } = await subject.organization();
  const { ledger } = subject;
  await ledger.members.addClaimLink("claim", subject.nowMs);
  const person = { email: "grace@example.com", name: "Grace", passwordHash: "hash" };
  const grace = await ledger.logins.claim("claim", person, subject.nowMs);
  if (grace === undefined) throw new Error("the ledger was claimed before");
  await writePeople(ledger, {
    accounts: [account(id, "engines", { number: 1 }), account(id, "empty", { number: 2 })],
    users: [
      user(id, "ada", { number: 1, account: 1, email: "Ada@Example.com" }),
      user(id, "bob", { number: 2, email: "shared@example.com" }),
      user(id, "eve", { number: 3, email: "shared@example.com" }),
      user(id, "lady", { number: 4, account: 1, email: "lady@example.com", isAccountOwner: true }),
    ],
  });
  const importer = new Importer(
    ledger,
    () => undefined,
    () => subject.nowMs,
    { note: () => undefined },
    workImporter(ledger),
  );
  let files = 0;
  const run = async (work: WorkType, ...rows: (Record<string, string | boolean> | ImportRow)[]) => {
    files += 1;
    const file = { organization: id, sha256: `file ${files}`, mapping: "{}", fileName: "a.csv" };
    const { id: importId } = await importer.begin(file);
    const sent = rows.map(
      (row): ImportRow =>
        typeof row === "object" && !("invalid" in row) && !("work" in row)
          ? { work, fields: row as Record<string, string>, columns: {} }
          : (row as ImportRow),
    );
    const verdicts = await importer.check(id, sent);
    const record = await importer.append(importId, 0, sent);
    if ("closedBecause" in record) throw new Error(record.closedBecause);
    const { stored, duplicates, lastRejected } = record;
    return {
      stored,
      duplicates,
      verdicts,
      rejected: lastRejected.map(({ row, reason }) => `${row} ${reason}`),
    };
  };
  return { id, ledger, grace, run };
}

/** Declares the tests of imported notes, tasks, contacts and owners. */
export function importedWorkContract(subject: LedgerUnderTest): void {
  describe("imported notes and tasks", () => {
    test("are stored once, with their time and an author of the team, or as text", async () => {
      const { id, run } = await ground(subject);
      const rows = [
        { userId: "ada", timestamp: at, author: "GRACE@example.com", text: hostile.replace("\n", "\r\n") },
        { email: " ada@example.com ", timestamp: "2025-01-02", author: odd, text: "older" },
        { accountId: "engines", timestamp: at, messageId: "n-1", text: "of the account" },
        { accountId: "engines", timestamp: at, messageId: "n-1", text: "twice" },
      ];
      const first = await run("notes", ...rows);
      expect(first).toEqual({
        stored: 3,
        duplicates: 1,
        verdicts: ["new", "new", "new", "duplicate"],
        rejected: [],
      });
      // An address and an id are the same user.
      const again = await run("notes", { ...rows[1], email: "", userId: "ada" }, ...rows);
      expect([again.stored, again.duplicates]).toEqual([0, 5]);
      await subject.reopen();
      const { notes, audit } = subject.ledger;
      await notes.add(id, { kind: "user", id: "ada" }, "of today", commandLine, subject.nowMs);
      const list = await notes.ofEntity(id, { kind: "user", id: "ada" }, { limit: 9 });
      expect(
        list.map(({ text, createdBy, author, createdAtMs }) => [text, createdBy?.name, author, createdAtMs]),
      ).toEqual([
        ["of today", undefined, "command line", subject.nowMs],
        [hostile, "Grace", null, atMs],
        ["older", undefined, odd, Date.UTC(2025, 0, 1, 23)],
      ]);
      // By time and not by id, page by page, also behind a note that is deleted.
      for (const [index, note] of list.entries()) {
        const rest = await notes.ofEntity(id, { kind: "user", id: "ada" }, { limit: 9, before: note.id });
        expect(rest).toEqual(list.slice(index + 1));
      }
      const entries = (await audit.list(id, { limit: 9 })).filter(({ action }) => action === "note.imported");
      expect(entries.map(({ summary, detail }) => [summary, detail])).toEqual([
        ["Imported 3 notes", { import: expect.any(Number), rows: 3, by: "command line" }],
      ]);
    });

    test("tasks have a day, an assignee and when they were done", async () => {
      const { id, ledger, grace, run } = await ground(subject);
      const outcome = await run(
        "tasks",
        { userId: "ada", title: "open", due: "2031-02-03", assignee: "grace", author: "Zoë" },
        { userId: "ada", timestamp: at, title: "done", done: "yes", assignee: "Zoë" },
        { accountId: "engines", timestamp: at, title: "done later", done: "2025-05-18T10:00:00Z" },
        { userId: "ada", title: "open", due: "2031-02-03", assignee: "grace", author: "Zoë" },
      );
      expect(outcome).toMatchObject({ stored: 3, duplicates: 1, rejected: [] });
      const all = await ledger.tasks.all(id, 0, 9);
      expect(all).toMatchObject([
        {
          title: "open",
          dueDay: Date.UTC(2031, 1, 3) / dayMs,
          assignee: { id: grace.id },
          author: "Zoë",
          doneAtMs: null,
        },
        { title: "done", formerAssignee: "Zoë", assignee: null, createdAtMs: atMs, doneAtMs: atMs },
        { title: "done later", entity: { id: "engines" }, doneAtMs: atMs + dayMs + 1_800_000 },
      ]);
      // What was done last year is not what was done this week.
      expect(await ledger.tasks.doneSince(id, atMs + 1, 0, 9)).toHaveLength(1);
      const again = await run("tasks", {
        userId: "ada",
        title: "open",
        due: "2031-02-03",
        assignee: "grace",
        author: "Zoë",
      });
      expect([again.stored, again.duplicates]).toEqual([0, 1]);
    });

    test("rows that cannot be stored are rejected with the column, and the others are stored", async () => {
      const { id, ledger, run } = await ground(subject);
      const note = { userId: "ada", timestamp: at, text: "text" };
      const future = new Date(subject.nowMs + 2 * dayMs).toISOString();
      const { stored, rejected, verdicts } = await run(
        "notes",
        { ...note, userId: "" },
        { ...note, accountId: "engines" },
        { ...note, userId: "nobody" },
        { timestamp: at, text: "text", accountId: "nowhere" },
        { timestamp: at, text: "text", email: "nobody@example.com" },
        { timestamp: at, text: "text", email: "Shared@example.com" },
        { ...note, text: "x".repeat(4_001) },
        { ...note, text: "\u0007" },
        { ...note, text: "\uD800" },
        { ...note, author: "x".repeat(201) },
        { ...note, timestamp: future },
        { ...note, timestamp: "soon" },
        { ...note, timestamp: "" },
        { ...note, evil: "field" },
        { invalid: "row has 3 cells." },
        {
          work: "notes",
          fields: { userId: "ada", text: "t", timestamp: "x" },
          columns: { timestamp: "Created At" },
        },
        { work: "owners", fields: { userId: "ada", owner: "grace" }, columns: {} },
        note,
      );
      expect(rejected.map((one) => one.replace(/: .*/, ""))).toEqual([
        "0 userId, accountId or email is missing",
        "1 userId, accountId and email name the same thing",
        '2 userId "nobody" is unknown',
        '3 accountId "nowhere" is unknown',
        '4 email "nobody@example.com" is no user\'s',
        '5 email "shared@example.com" is that of 2 users',
        "6 text is too long",
        "7 text is not valid",
        "8 text has half of a character",
        "9 author is too long",
        "10 timestamp is in the future",
        "11 timestamp is not a time that can be read",
        "12 timestamp is missing",
        "13 evil is not known",
        "14 row has 3 cells.",
        "15 Created At is not a time that can be read",
        "16 work is another one",
      ]);
      expect(verdicts.map((verdict, row) => `${row} ${verdict}`)).toEqual([...rejected, "17 new"]);
      expect([stored, (await ledger.notes.all(id, 0, 9)).length]).toEqual([1, 1]);
    });

    test("keep the limit of one user, and are erased with the user", async () => {
      const { id, ledger, run } = await ground(subject);
      const rows = (from: number, to: number) =>
        Array.from({ length: to - from }, (_, index) => ({
          userId: "ada",
          title: `t${from + index}`,
          done: "yes",
        }));
      expect(await run("tasks", ...rows(0, 499))).toMatchObject({ stored: 499, rejected: [] });
      const { stored, duplicates, rejected } = await run("tasks", ...rows(498, 502), {
        userId: "bob",
        title: "other",
      });
      expect([stored, duplicates, rejected]).toEqual([
        2,
        1,
        ["2 there are 500 tasks of this user already.", "3 there are 500 tasks of this user already."],
      ]);
      await ledger.erasures.begin(id, "ada");
      const left = await ledger.tasks.all(id, 0, 999);
      expect(left.map(({ title }) => title)).toEqual(["other"]);
      const { rejected: gone } = await run("tasks", { userId: "ada", title: "back" });
      expect(gone).toHaveLength(1);
    });
  });

  describe("imported contacts and owners", () => {
    test("a contact is an event of the past, of a user or through one of an account, and once", async () => {
      const { id, run } = await ground(subject);
      const rows = [
        { userId: "ada", timestamp: at, kind: "E-Mail", author: "Grace (person 999)", text: "hello" },
        { accountId: "engines", timestamp: "2025-01-02", kind: "call", author: "Eve (person 1)" },
        { accountId: "empty", timestamp: at },
        { userId: "ada", timestamp: at, kind: "pigeon" },
        { userId: "ada", timestamp: new Date(subject.nowMs + dayMs).toISOString() },
      ];
      const first = await run("contacts", ...rows);
      expect(first).toMatchObject({ stored: 2, duplicates: 0 });
      expect(first.verdicts.slice(0, 2)).toEqual(["new", "new"]);
      expect(first.rejected.map((one) => one.replace(/[,:] .*/, ""))).toEqual([
        '2 accountId "empty" has no users',
        "3 kind is not valid",
        "4 timestamp is in the future",
      ]);
      const again = await run("contacts", ...rows);
      expect(again).toMatchObject({ stored: 0, duplicates: 2 });
      expect(again.verdicts.slice(0, 2)).toEqual(["duplicate", "duplicate"]);
      await subject.reopen();
      const log = (await subject.ledger.audit.list(id, { limit: 9 })).map(({ summary }) => summary);
      expect(log.filter((summary) => summary.startsWith("Imported"))).toEqual(["Imported 2 contacts"]);
      const events = (await subject.ledger.inbox.freeze(100)).filter(({ table }) => table === "events");
      expect(events.reduce((sum, { rows: count }) => sum + count, 0)).toBe(2);
    });

    test("an owner is a team member, and the newer one counts", async () => {
      const { id, grace, run } = await ground(subject);
      const rows = [
        { userId: "ada", owner: "grace" },
        { userId: "ada", owner: "grace@example.com" },
        { accountId: "engines", timestamp: at, owner: "Grace" },
        { userId: "bob", owner: "Zoë" },
        { userId: "nobody", owner: "Grace" },
      ];
      const first = await run("owners", ...rows);
      expect(first).toMatchObject({ stored: 2, duplicates: 1 });
      expect(first.rejected.map((one) => one.replace(/: .*/, ""))).toEqual([
        '3 owner "Zoë" is no team member',
        '4 userId "nobody" is unknown',
      ]);
      expect(await run("owners", ...rows)).toMatchObject({ stored: 0, duplicates: 3 });
      await subject.reopen();
      const needs = {
        users: [{ organization: id, userId: "ada" }],
        accounts: [{ organization: id, accountId: "engines" }],
      };
      const [ada, engines] = await look(subject.ledger, needs, (stored) => [
        stored.user(id, "ada")?.traits,
        stored.account(id, "engines")?.traits,
      ]);
      expect([ada, engines]).toMatchObject([{ owner: grace.email }, { owner: grace.email }]);
    });
  });
}
