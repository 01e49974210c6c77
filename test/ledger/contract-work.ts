/** The part of the contract about notes, tasks, owners and timelines. */
import { describe, expect, test } from "bun:test";
import type { TaskList } from "../../contract/notes-and-tasks.ts";
import { zoneOf } from "../../server/calendar/zone.ts";
import { contactNote } from "../../server/features/notes-and-tasks/contacts.ts";
import { ownerNote } from "../../server/features/notes-and-tasks/handlers.ts";
import {
  comparePositions,
  type WorkPosition,
  workPosition,
} from "../../server/features/notes-and-tasks/timeline-entries.ts";
import { changeTrait } from "../../server/intake/change-trait.ts";
import { addMemberEvent } from "../../server/intake/member-event.ts";
import { type Actor, commandLine, personActor } from "../../server/ledger/audit.ts";
import type { EntityRef } from "../../server/ledger/stores/entity-rows.ts";
import { alertRule, decision, firedAlert } from "./alert-decision.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, look, user, writePeople } from "./writes.ts";

/** Characters that a store may take for its own: none of them is lost. */
const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀\nsecond line";
const ada: EntityRef = { kind: "user", id: "ada" };
const engines: EntityRef = { kind: "account", id: "engines" };
const dayMs = 86_400_000;
/** A day of alerts. */
const today = 20_000;

/** An organization with an owner, Grace, and with Ada, Bob and an account. */
async function ground(subject: LedgerUnderTest, name?: string) {
  const { id } = await subject.organization(name);
  const { ledger, nowMs } = subject;
  await writePeople(ledger, {
    accounts: [account(id, "engines")],
    users: [
      user(id, "ada", { number: 1, account: 1, traits: { name: "Ada" } }),
      user(id, "bob", { number: 2, email: "bob@example.com" }),
    ],
  });
  return { id, ledger, nowMs };
}

/** Grace, who claims the installation and so owns every organization. */
async function claimed({ ledger, nowMs }: LedgerUnderTest) {
  await ledger.members.addClaimLink("claim", nowMs);
  const person = { email: "grace@example.com", name: "Grace", passwordHash: "hash" };
  const grace = await ledger.logins.claim("claim", person, nowMs);
  if (grace === undefined) throw new Error("the ledger was claimed before");
  return { grace, by: personActor(grace) };
}

/** Declares the tests of notes, tasks and owners. */
export function workContract(subject: LedgerUnderTest): void {
  describe("notes and tasks", () => {
    notes(subject);
    tasks(subject);
    tasksOfSome(subject);
    assignees(subject);
    alerts(subject);
    timelines(subject);
    pulses(subject);
    erased(subject);
  });
  describe("the owner", () => owners(subject));
  describe("a contact", () => contacts(subject));
}

function notes(subject: LedgerUnderTest): void {
  test("notes are listed, changed and deleted, and the log has no text", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const { by } = await claimed(subject);
    const first = await ledger.notes.add(id, ada, hostile, by, nowMs);
    const second = await ledger.notes.add(id, ada, "second", commandLine, nowMs + 1);
    await ledger.notes.add(id, engines, "of the account", by, nowMs);
    expect(await ledger.notes.add(id, { kind: "user", id: "nobody" }, "text", by, nowMs)).toBeUndefined();
    await subject.reopen();
    const list = await subject.ledger.notes.ofEntity(id, ada, { limit: 9 });
    expect(list.map(({ text }) => text)).toEqual(["second", hostile]);
    expect(list[1]).toEqual({
      id: first?.id ?? 0,
      entity: { ...ada, label: "Ada" },
      text: hostile,
      createdBy: { id: by.person?.id ?? 0, name: "Grace" },
      author: null,
      createdAtMs: nowMs,
      updatedAtMs: nowMs,
    });
    expect(list[0]).toMatchObject({ createdBy: null, author: "command line" });
    const { notes: store, audit } = subject.ledger;
    expect(await store.ofEntity(id, ada, { limit: 9, before: second?.id })).toHaveLength(1);
    const other = await ground(subject, "other");
    expect(await store.ofEntity(other.id, ada, { limit: 9 })).toEqual([]);
    const noteId = first?.id ?? 0;
    expect(await store.change(id, noteId, "changed", by, nowMs + 2)).toMatchObject({
      text: "changed",
      createdAtMs: nowMs,
      updatedAtMs: nowMs + 2,
    });
    expect(await store.remove(id, noteId, by, nowMs)).toBe(true);
    expect((await store.all(id, 0, 9)).map(({ entity }) => entity.label)).toEqual([
      "Ada",
      "Analytical Engines",
    ]);
    const log = await audit.list(id, { limit: 2 });
    expect(log.map(({ summary, detail }) => [summary, detail])).toEqual([
      ["Deleted a note on a user", { note: noteId, user: 1 }],
      ["Changed a note on a user", { note: noteId, user: 1 }],
    ]);
  });
}

function tasks(subject: LedgerUnderTest): void {
  test("tasks are listed by their day, by assignee, and as done", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const { grace, by } = await claimed(subject);
    const add = (title: string, dueDay: number | null, assignee: number | null, entity = ada) =>
      ledger.tasks.add(id, entity, { title, dueDay, assignee }, by, nowMs);
    await add("any day", null, grace.id);
    await add("tomorrow", 101, null);
    await add("today", 100, grace.id, engines);
    await add(hostile.replaceAll("\n", " "), 99, null, { kind: "user", id: "bob" });
    const list = async (question: object) => {
      const asked = { list: "open", today: 100, limit: 9, offset: 0, ...question } as const;
      const { total, tasks: found } = await ledger.tasks.list(id, asked);
      return [total, ...found.map(({ entity, dueDay }) => `${entity.label} ${dueDay}`)];
    };
    expect(await list({})).toEqual([
      4,
      "bob@example.com 99",
      "Analytical Engines 100",
      "Ada 101",
      "Ada null",
    ]);
    expect(await list({ list: "due" })).toEqual([2, "bob@example.com 99", "Analytical Engines 100"]);
    expect(await list({ list: "overdue" })).toEqual([1, "bob@example.com 99"]);
    expect(await list({ assignee: grace.id })).toEqual([2, "Analytical Engines 100", "Ada null"]);
    expect(await list({ assignee: null, list: "due" })).toEqual([1, "bob@example.com 99"]);
    expect(await list({ limit: 1, offset: 2 })).toEqual([4, "Ada 101"]);
    const [first] = (await ledger.tasks.list(id, { list: "overdue", today: 100, limit: 1, offset: 0 })).tasks;
    const taskId = first?.id ?? 0;
    const done = await ledger.tasks.change(id, taskId, { isDone: true }, by, nowMs + 5);
    expect(done).toMatchObject({ doneAtMs: nowMs + 5, doneBy: { name: "Grace" }, updatedAtMs: nowMs + 5 });
    expect(await ledger.tasks.change(id, taskId, { isDone: true }, by, nowMs + 6)).toEqual(done);
    expect(await list({ list: "done" })).toEqual([1, "bob@example.com 99"]);
    const open = await ledger.tasks.change(id, taskId, { isDone: false, dueDay: null }, by, nowMs + 7);
    expect(open).toMatchObject({ doneAtMs: null, doneBy: null, dueDay: null });
    const [entry] = await ledger.audit.list(id, { limit: 1 });
    expect(entry).toMatchObject({
      action: "task.changed",
      summary: "Changed due day, done of a task for a user",
      detail: { task: taskId, user: 2, fields: ["due day", "done"] },
    });
  });
}

function tasksOfSome(subject: LedgerUnderTest): void {
  test("the users and accounts of tasks are named once, and tasks are listed for some of them", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const other = await ground(subject, "other");
    const bob: EntityRef = { kind: "user", id: "bob" };
    const add = (organization: number, entity: EntityRef, title: string, dueDay: number | null = null) =>
      ledger.tasks.add(organization, entity, { title, dueDay, assignee: null }, commandLine, nowMs);
    await add(id, ada, "a", 99);
    await add(id, ada, "b");
    await add(id, engines, "c");
    const closed = await add(id, bob, "d");
    await ledger.tasks.change(id, closed?.id ?? 0, { isDone: true }, commandLine, nowMs);
    await add(other.id, bob, "theirs");
    const entities = (list: TaskList, assignee?: null) =>
      ledger.tasks.entities(id, { list, today: 100, assignee });
    expect(await entities("open", null)).toEqual({ users: [1], accounts: [1] });
    expect(await entities("overdue")).toEqual({ users: [1], accounts: [] });
    expect(await entities("done")).toEqual({ users: [2], accounts: [] });
    const titles = async (users: readonly number[], accounts: readonly number[]) => {
      const asked = { list: "open", today: 100, limit: 1, offset: 0, among: { users, accounts } } as const;
      const { total, tasks: found } = await ledger.tasks.list(id, asked);
      return [total, ...found.map(({ title }) => title)];
    };
    expect(await titles([1, 2], [])).toEqual([2, "a"]);
    expect(await titles([2], [1])).toEqual([1, "c"]);
    expect(await titles([], [])).toEqual([0]);
    const open = await ledger.tasks.openOf(id, { users: [1, 2], accounts: [1] });
    expect(open).toEqual([
      { user: 1, account: 0, title: "a", dueDay: 99 },
      { user: 1, account: 0, title: "b", dueDay: null },
      { user: 0, account: 1, title: "c", dueDay: null },
    ]);
    expect(await ledger.tasks.openOf(id, { users: [2], accounts: [2] })).toEqual([]);
    expect(await ledger.tasks.openOf(other.id, { users: [1], accounts: [1] })).toEqual([]);
  });
}

/** Mia, who was invited and is a member. */
async function joinedMia({ ledger, nowMs }: LedgerUnderTest, organization: number, by: Actor) {
  const invitation = { organization, email: "mia@example.com", role: "member", sha256: "m" } as const;
  await ledger.members.invite({ ...invitation, expiresAtMs: nowMs + dayMs }, by, nowMs);
  const mia = await ledger.logins.accept("m", { name: "Mia", passwordHash: "hash" }, nowMs);
  if (mia === undefined) throw new Error("the invitation was not accepted");
  return mia;
}

function alerts(subject: LedgerUnderTest): void {
  test("a removed member has no open alert any more, and keeps those that are done", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const { by } = await claimed(subject);
    const mia = await joinedMia(subject, id, by);
    const { id: rule } = await ledger.alertRules.add(id, alertRule, by, nowMs);
    const entity = { kind: "user", number: 1 } as const;
    const fired = [1, 2].map((number) => firedAlert({ kind: "user", number }, today));
    const chunk = { ...decision({ organization: id, rule, entity, day: today }), states: [], fired };
    await ledger.ruleDecisions.commitDecision(chunk, nowMs);
    const account = { kind: "account", number: 1 } as const;
    const next = { ...decision({ organization: id, rule, entity, day: today + 1 }), after: 2 };
    await ledger.ruleDecisions.commitDecision(
      { ...next, states: [], fired: [firedAlert(account, today + 1)] },
      nowMs,
    );
    const all = () => subject.ledger.alerts.all(id, today + 1, 0, 9);
    const [open, snoozed, handled] = await all();
    const change = (alert: typeof open, more: object) =>
      ledger.alerts.change(id, alert?.id ?? 0, { assignee: mia.id, ...more }, by, today, nowMs);
    await change(open, {});
    await change(snoozed, { snoozedUntil: today + 30 });
    await change(handled, { verdict: "handled" });
    await ledger.members.remove(id, mia.id, by, nowMs);
    await subject.reopen();
    expect((await all()).map(({ assignee }) => assignee?.name)).toEqual([undefined, undefined, "Mia"]);
    const [left] = await subject.ledger.audit.list(id, { limit: 1 });
    expect(left).toMatchObject({
      summary: "Removed Mia, and left 2 alerts without an assignee",
      detail: { alerts: 2 },
    });
  });
}

function assignees(subject: LedgerUnderTest): void {
  test("only team members are assigned, and the open tasks of a removed member say so", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const { by } = await claimed(subject);
    const mia = await joinedMia(subject, id, by);
    const task = (title: string) => ({ title, dueDay: null, assignee: mia.id });
    await expect(ledger.tasks.add(id, ada, { ...task("x"), assignee: 99 }, by, nowMs)).rejects.toThrow(
      "assignee is not valid",
    );
    const open = await ledger.tasks.add(id, ada, task("open"), by, nowMs);
    const done = await ledger.tasks.add(id, ada, task("done"), by, nowMs);
    await ledger.tasks.change(id, done?.id ?? 0, { isDone: true }, by, nowMs);
    await ledger.members.remove(id, mia.id, by, nowMs);
    const [left] = await ledger.audit.list(id, { limit: 1 });
    expect(left?.summary).toBe("Removed Mia, and left 1 task without an assignee");
    await subject.reopen();
    const found = await subject.ledger.tasks.ofEntity(id, ada);
    expect(
      found.map(({ title, assignee, formerAssignee }) => [title, assignee?.name, formerAssignee]),
    ).toEqual([
      ["open", undefined, "Mia"],
      ["done", "Mia", null],
    ]);
    await expect(
      subject.ledger.tasks.change(id, open?.id ?? 0, { assignee: mia.id }, by, nowMs),
    ).rejects.toThrow("assignee is not valid");
    const settled = await subject.ledger.tasks.change(id, open?.id ?? 0, { assignee: null }, by, nowMs);
    expect(settled?.formerAssignee).toBeNull();
  });
}

function timelines(subject: LedgerUnderTest): void {
  test("entries of a timeline come a page at a time, each once, also those of one time", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const entity = { kind: "user", number: 1 } as const;
    for (const controlUntil of [null, today]) {
      const name = `rule ${controlUntil}`;
      const { id: rule } = await ledger.alertRules.add(id, { ...alertRule, name }, commandLine, nowMs);
      const fired = [
        firedAlert(entity, today, { arm: controlUntil === null ? null : "control", controlUntil }),
      ];
      const chunk = { ...decision({ organization: id, rule, entity, day: today }), fired };
      await ledger.ruleDecisions.commitDecision(chunk, nowMs);
    }
    for (const [index, title] of ["a", "b", "c"].entries()) {
      const task = await ledger.tasks.add(
        id,
        ada,
        { title, dueDay: null, assignee: null },
        commandLine,
        nowMs,
      );
      await ledger.notes.add(id, ada, title, commandLine, nowMs + (index % 2));
      if (index < 2)
        await ledger.tasks.change(id, task?.id ?? 0, { isDone: true }, commandLine, nowMs + index);
    }
    await ledger.notes.add(id, engines, "elsewhere", commandLine, nowMs);
    const whole = await ledger.workTimeline.entries(id, ada, { limit: 99, today });
    expect(whole).toHaveLength(9);
    const later = await ledger.workTimeline.entries(id, ada, { limit: 99, today: today + 1 });
    expect(later.filter(({ kind }) => kind === "alert")).toHaveLength(2);
    const places = whole.map(workPosition);
    expect(places.toSorted(comparePositions)).toEqual(places);
    for (const limit of [1, 2, 3]) {
      const paged: WorkPosition[] = [];
      for (;;) {
        const page = await ledger.workTimeline.entries(id, ada, { limit, before: paged.at(-1), today });
        paged.push(...page.map(workPosition));
        if (page.length < limit) break;
      }
      expect(paged).toEqual(places);
    }
    const behindEvents = { atMs: nowMs, kind: "event", id: 0 } as const;
    const older = await ledger.workTimeline.entries(id, ada, { limit: 99, before: behindEvents, today });
    expect(older.map(({ atMs }) => atMs)).toEqual(Array.from({ length: older.length }, () => nowMs));
  });
}

function pulses(subject: LedgerUnderTest): void {
  test("a pulse is an entry of its account's timeline until it is taken back, and an erasure deletes it", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const say = (value: number, atMs: number) =>
      ledger.pulses.add(id, "engines", { value, text: `says ${value}` }, commandLine, atMs);
    expect(
      await ledger.pulses.add(id, "nobody", { value: 1, text: "text" }, commandLine, nowMs),
    ).toBeUndefined();
    const first = await say(2, nowMs);
    await ledger.notes.add(id, engines, "note", commandLine, nowMs + 1);
    await say(5, nowMs + 2);
    const kinds = async () =>
      (await ledger.workTimeline.entries(id, engines, { limit: 9, today: 1 })).map(({ kind, atMs }) => [
        kind,
        atMs - nowMs,
      ]);
    expect(await kinds()).toEqual([
      ["pulse", 2],
      ["note", 1],
      ["pulse", 0],
    ]);
    await ledger.pulses.takeBack(id, first?.id ?? 0, commandLine, nowMs + 3);
    // Once more changes nothing.
    await ledger.pulses.takeBack(id, first?.id ?? 0, commandLine, nowMs + 9);
    expect(await kinds()).toEqual([
      ["pulse", 2],
      ["note", 1],
    ]);
    const facts = (await ledger.pulses.ofAccount(id, "engines", 9)).map((one) => [
      one.value,
      one.text,
      one.saidBy,
      one.takenBackAtMs,
    ]);
    expect(facts).toEqual([
      [5, "says 5", null, null],
      [2, "says 2", null, nowMs + 3],
    ]);
    expect(await ledger.pulses.counts(id)).toEqual({ pulses: 2, takenBack: 1 });
    await ledger.erasures.beginAccount(id, "engines");
    expect(await ledger.pulses.counts(id)).toEqual({ pulses: 0, takenBack: 0 });
  });
}

function erased(subject: LedgerUnderTest): void {
  test("an erasure deletes the notes, tasks and calls of its user or account, and of no other", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const other = await ground(subject, "other");
    const all = async (organization: number) => [
      ...(await subject.ledger.notes.all(organization, 0, 99)).map(({ entity }) => entity.id),
      ...(await subject.ledger.tasks.all(organization, 0, 99)).map(({ entity }) => entity.id),
    ];
    const numbers = [1, 2, 3, 4, 5];
    const setAside = async (organization: number) =>
      (await subject.ledger.alerts.workedOn(organization, { users: numbers, accounts: numbers }, 0, 9))
        .length;
    for (const organization of [id, other.id]) {
      for (const entity of [ada, engines, { kind: "user", id: "bob" } as const]) {
        await ledger.notes.add(organization, entity, "text", commandLine, nowMs);
        const task = { title: "title", dueDay: 1, assignee: null };
        await ledger.tasks.add(organization, entity, task, commandLine, nowMs);
        await ledger.alerts.setCallAside(organization, entity, { snoozedUntil: 10 }, commandLine, nowMs);
      }
    }
    await ledger.erasures.begin(id, "ada");
    expect(await all(id)).toEqual(["engines", "bob", "engines", "bob"]);
    expect(await setAside(id)).toBe(2);
    await ledger.erasures.beginAccount(id, "engines");
    await subject.reopen();
    expect(await all(id)).toEqual(["bob", "bob"]);
    expect(await all(other.id)).toHaveLength(6);
    expect([await setAside(id), await setAside(other.id)]).toEqual([1, 3]);
  });
}

function contacts(subject: LedgerUnderTest): void {
  test("is an event whose entry in the log is in the same commit", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const arrival = { organization: id, zone: zoneOf("UTC"), receivedAtMs: nowMs, idempotencyKey: null };
    const add = (userId: string, properties: object = {}) =>
      addMemberEvent(ledger, {
        body: { userId, event: "contacted", properties: { ...properties } },
        arrival,
        by: commandLine,
        note: contactNote,
      });
    expect(await add("nobody")).toBe("not_found");
    expect(await add("bob", { text: "\uD800" })).toHaveProperty("invalid");
    expect(await add("bob", { text: hostile })).toBe("stored");
    await subject.reopen();
    const log = await subject.ledger.audit.list(id, { limit: 9 });
    expect(log.map(({ action, detail }) => [action, detail])).toEqual([
      ["contact.created", { user: 2, by: "command line" }],
    ]);
    const events = (await subject.ledger.inbox.freeze(100)).filter(({ table }) => table === "events");
    expect(events.map(({ rows }) => rows)).toEqual([1]);
  });
}

function owners(subject: LedgerUnderTest): void {
  test("is a trait with a version, and its entry in the log is in the same commit", async () => {
    const { id, ledger, nowMs } = await ground(subject);
    const { grace, by } = await claimed(subject);
    const change = (entity: EntityRef, owner: typeof grace, atMs = nowMs + 10) =>
      changeTrait(ledger, {
        organization: id,
        zone: zoneOf("UTC"),
        entity,
        trait: "owner",
        value: owner.email,
        by,
        nowMs: atMs,
        note: (numbers) => ownerNote(numbers, owner),
      });
    expect(await change({ kind: "user", id: "nobody" }, grace)).toBe("not_found");
    expect(await change({ kind: "account", id: "nobody" }, grace)).toBe("not_found");
    const before = await ledger.audit.list(id, { limit: 99 });
    for (const entity of [ada, engines]) {
      expect(await change(entity, grace)).toBe("stored");
      expect(await change(entity, grace, nowMs + 20)).toBe("stored");
    }
    await subject.reopen();
    const needs = {
      users: [{ organization: id, userId: "ada" }],
      accounts: [{ organization: id, accountId: "engines" }],
    };
    const [ownedUser, ownedAccount] = await look(subject.ledger, needs, (stored) => [
      stored.user(id, "ada"),
      stored.account(id, "engines"),
    ]);
    expect(ownedUser).toMatchObject({ traits: { name: "Ada", owner: "grace@example.com" }, version: 2 });
    expect(ownedAccount).toMatchObject({ traits: { owner: "grace@example.com" }, version: 2 });
    const log = await subject.ledger.audit.list(id, { limit: 99 });
    expect(log.slice(0, log.length - before.length).map(({ summary, detail }) => [summary, detail])).toEqual([
      ["Made Grace the owner of an account", { account: 1, owner: grace.id }],
      ["Made Grace the owner of a user", { user: 1, owner: grace.id }],
    ]);
  });
}
