/** The part of the contract about segments. */
import { describe, expect, test } from "bun:test";
import type { Filter } from "../../contract/segments/filters.ts";
import type { SegmentKind } from "../../contract/segments/segments.ts";
import type { SegmentContent } from "../../server/features/segments/segments.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, user, writePeople } from "./writes.ts";

/** Characters that a store may take for its own: none of them is lost. */
const hostile = "a\0b\\0c\\d 'e' \"f\" {g} ünïcode 😀";
const risky: Filter = { riskBand: "high", traits: [{ trait: hostile, match: "contains", value: hostile }] };

/** An organization with Ada, a user of odd name and an account. */
async function ground(subject: LedgerUnderTest, name?: string) {
  const { id } = await subject.organization(name);
  await writePeople(subject.ledger, {
    accounts: [account(id, "engines")],
    users: [
      user(id, "ada", { number: 1, account: 1 }),
      user(id, hostile, { number: 2, email: "b@example.com" }),
      user(id, "eve", { number: 3, email: "e@example.com" }),
    ],
  });
  const save = async (name: string, filter: Filter, kind: SegmentKind = "users") =>
    (await subject.ledger.segments.add(id, { kind, name, content: { filter } }, commandLine, subject.nowMs))
      .segment;
  const fix = (name: string, ids: readonly string[], kind: SegmentKind = "users") =>
    subject.ledger.segments.add(id, { kind, name, content: { ids } }, commandLine, subject.nowMs);
  return { id, ledger: subject.ledger, save, fix };
}

/** Declares the tests of segments. */
export function segmentsContract(subject: LedgerUnderTest): void {
  describe("segments", () => {
    kept(subject);
    fixed(subject);
    large(subject);
    refused(subject);
    nested(subject);
  });
}

function kept(subject: LedgerUnderTest): void {
  test("are listed by name, changed and deleted, and the log has no filter", async () => {
    const { id, save } = await ground(subject);
    const other = await ground(subject, "other");
    await save("b", risky);
    await save(hostile, { healthBand: "none" }, "accounts");
    await other.save("b", risky);
    await subject.reopen();
    const { segments, audit } = subject.ledger;
    const [odd, saved] = await segments.list(id);
    const without = await subject.organization("without");
    const having = await segments.organizations();
    expect([id, other.id, without.id].filter((one) => having.includes(one))).toEqual([id, other.id]);
    const times = { createdAtMs: subject.nowMs, updatedAtMs: subject.nowMs, contentAtMs: subject.nowMs };
    expect(odd).toMatchObject({ name: hostile, kind: "accounts", filter: { healthBand: "none" } });
    expect(saved).toMatchObject({ name: "b", kind: "users", filter: risky, fixed: null, createdBy: null });
    expect(saved).toMatchObject(times);
    const later = subject.nowMs + 1;
    const change = (what: object) => segments.change(id, saved?.id ?? 0, what, commandLine, later);
    expect((await change({ name: "c" }))?.segment).toMatchObject({
      ...times,
      name: "c",
      updatedAtMs: later,
    });
    const content = { filter: { state: "churned" } } as const;
    expect((await change({ content }))?.segment).toMatchObject({
      filter: content.filter,
      contentAtMs: later,
    });
    expect(await segments.remove(id, saved?.id ?? 0, commandLine, later)).toBe(true);
    expect((await segments.list(id)).map(({ name }) => name)).toEqual([hostile]);
    const entries = await audit.list(id, { limit: 4 });
    expect(entries.map(({ summary }) => summary)).toEqual([
      "Deleted the segment c of users",
      "Changed the segment c of users",
      "The segment b of users is called c now",
      `Saved the segment ${hostile} of accounts`,
    ]);
    expect(JSON.stringify(entries)).not.toContain("state");
  });

  test("have a name of their own", async () => {
    const { id, ledger, save } = await ground(subject);
    const { id: first } = await save("a", risky);
    await save("b", risky, "accounts");
    await expect(save("b", risky)).rejects.toThrow("name is taken: there is a segment called b already.");
    const rename = ledger.segments.change(id, first, { name: "b" }, commandLine, 1);
    await expect(rename).rejects.toThrow("name is taken");
  });
}

function fixed(subject: LedgerUnderTest): void {
  test("of fixed ids have the numbers of those that are known, until an erasure", async () => {
    const { id, ledger, fix } = await ground(subject);
    const people = await fix("people", [hostile, "ada", "nobody", "ada"]);
    const firms = await fix("firms", ["engines"], "accounts");
    expect(people).toMatchObject({ segment: { fixed: 2, filter: null }, unknownIds: ["nobody"] });
    const numbersOf = (segment: number) => subject.ledger.segments.numbers(id, segment);
    expect(await numbersOf(people.segment.id)).toEqual([1, 2]);
    expect(await numbersOf(firms.segment.id)).toEqual([1]);
    const ofAda = { id: people.segment.id, name: "people" };
    expect(await ledger.segments.ofUser(id, 1)).toEqual([ofAda]);
    await subject.reopen();
    await subject.ledger.erasures.begin(id, "ada");
    expect(await subject.ledger.segments.ofUser(id, 1)).toEqual([]);
    await subject.ledger.erasures.beginAccount(id, "engines");
    expect([await numbersOf(people.segment.id), await numbersOf(firms.segment.id)]).toEqual([[2], []]);
    const content = { ids: ["eve"] };
    await subject.ledger.segments.change(id, people.segment.id, { content }, commandLine, subject.nowMs);
    expect(await numbersOf(people.segment.id)).toEqual([3]);
    expect(await ledger.segments.numbers(id + 1, people.segment.id).catch(() => [])).toEqual([]);
  });

  test("of numbers have those that there are, and at least one", async () => {
    const { id, ledger } = await ground(subject);
    const other = await ground(subject, "other");
    const add = (organization: number, name: string, numbers: readonly number[]) =>
      ledger.segments.add(organization, { kind: "users", name, content: { numbers } }, commandLine, 1);
    await ledger.erasures.begin(id, "ada");
    const { segment, unknownIds } = await add(id, "some", [1, 2, 3, 900]);
    expect([segment.fixed, unknownIds]).toEqual([2, []]);
    expect(await ledger.segments.numbers(id, segment.id)).toEqual([2, 3]);
    expect(await ledger.segments.numbers(other.id, segment.id)).toEqual([]);
    await expect(add(id, "none", [1])).rejects.toThrow("All of these users were erased meanwhile");
  });

  test("stay fixed, or stay a filter, and a fixed one needs an id that is known", async () => {
    const { id, ledger, save, fix } = await ground(subject);
    const { id: filtered } = await save("filtered", risky);
    const { segment } = await fix("fixed", ["ada"]);
    const change = (which: number, content: { filter: Filter } | { ids: string[] }) =>
      ledger.segments.change(id, which, { content }, commandLine, 1);
    await expect(change(filtered, { ids: ["ada"] })).rejects.toThrow("ids cannot be set");
    await expect(change(segment.id, { filter: risky })).rejects.toThrow("filter cannot be set");
    await expect(change(segment.id, { ids: ["nobody"] })).rejects.toThrow(
      "none of them is the id of a user.",
    );
    expect(await ledger.segments.numbers(id, segment.id)).toEqual([1]);
  });
}

/** Thousands of users, and ids among which some of them are. */
async function crowd(subject: LedgerUnderTest) {
  const { id, ledger } = await ground(subject);
  const numbers = Array.from({ length: 2_100 }, (_, at) => at + 4);
  const users = numbers.map((number) => user(id, `u${number}`, { number, email: `u${number}@example.com` }));
  await writePeople(ledger, { users });
  const fix = async (name: string, content: SegmentContent) => {
    const segment = { kind: "users", name, content } as const;
    return (await ledger.segments.add(id, segment, commandLine, subject.nowMs)).segment;
  };
  return { id, ledger, numbers, fix };
}

function large(subject: LedgerUnderTest): void {
  test("of thousands of users have each once, and lose those who are erased", async () => {
    const { id, ledger, numbers, fix } = await crowd(subject);
    const twice = [...numbers.toReversed(), ...numbers, 9_999_999];
    const all = await fix("all", { numbers: twice });
    const few = await fix("few", { numbers: [2_048, 1_024, 1_023] });
    expect([all.fixed, few.fixed]).toEqual([2_100, 3]);
    expect(await ledger.segments.numbers(id, all.id)).toEqual(numbers);
    const names = async (number: number) =>
      (await ledger.segments.ofUser(id, number)).map(({ name }) => name);
    expect(await names(1_024)).toEqual(["all", "few"]);
    expect([await names(1_025), await names(3)]).toEqual([["all"], []]);
    const firm = { kind: "accounts", name: "firm", content: { numbers: [1] } } as const;
    const { segment } = await ledger.segments.add(id, firm, commandLine, subject.nowMs);
    await ledger.erasures.begin(id, "u2048");
    // The user and the account have the number 1 both.
    await ledger.erasures.begin(id, "ada");
    expect(await ledger.segments.numbers(id, few.id)).toEqual([1_023, 1_024]);
    expect((await ledger.segments.numbers(id, all.id)).length).toBe(2_099);
    expect(await ledger.segments.numbers(id, segment.id)).toEqual([1]);
    const sizes = (await ledger.segments.list(id)).map(({ name, fixed }) => [name, fixed]);
    expect(sizes).toEqual([
      ["all", 2_099],
      ["few", 2],
      ["firm", 1],
    ]);
  });

  test("have no user who is erased while they are saved", async () => {
    const { id, ledger, numbers, fix } = await crowd(subject);
    // The look-up of those who are not there goes on while one of the others is erased.
    const absent = Array.from({ length: 10_000 }, (_, at) => 1_000_000 + at);
    const content = { numbers: [...numbers, ...absent] };
    const [byNumbers] = await Promise.all([fix("numbers", content), ledger.erasures.begin(id, "u4")]);
    const ids = content.numbers.slice(1).map((number) => `u${number}`);
    const [byIds] = await Promise.all([fix("ids", { ids }), ledger.erasures.begin(id, "u5")]);
    const change = ledger.segments.change(id, byNumbers.id, { content }, commandLine, subject.nowMs);
    await Promise.all([change, ledger.erasures.begin(id, "u6")]);
    const gone = [4, 5, 6];
    for (const segment of [byNumbers, byIds]) {
      const left = await ledger.segments.numbers(id, segment.id);
      expect(left).toEqual(numbers.filter((number) => !gone.includes(number)));
    }
  });
}

function refused(subject: LedgerUnderTest): void {
  test("refuse conditions that are not whole, that accounts do not have, or that name a user", async () => {
    const { save } = await ground(subject);
    const days = { activeFrom: "2026-01-01", activeTo: "2026-01-07" };
    const attempts = [
      [() => save("a", days, "accounts"), "filter.activeFrom is not valid: accounts have no such condition."],
      [
        () => save("b", { activeTo: "2026-01-07" }),
        "filter.activeTo is not valid: send activeFrom and activeTo",
      ],
      [() => save("h", { ...days, activeTo: "2025-12-31" }), "filter.activeTo is not valid"],
      [() => save("c", { lifecycle: "new" }), "filter.lifecycle is not valid"],
      [
        () => save("d", { traits: [{ trait: "plan" }] }),
        "filter.traits is not valid: send trait and value together.",
      ],
      [() => save("e", { traits: [{ trait: "Email", value: "ada" }] }), "leave out values of names"],
      [() => save("f", { owner: "me" }), "filter.owner is not valid"],
    ] as const;
    for (const [attempt, why] of attempts) await expect(attempt()).rejects.toThrow(why);
    await save("g", { traits: [{ trait: "email", match: "isEmpty" }] });
  });
}

function nested(subject: LedgerUnderTest): void {
  const inside = (segment: number): Filter => ({ segments: [{ segment }] });

  test("may be conditions of others over three levels, without a way back", async () => {
    const { id, ledger, save } = await ground(subject);
    const a = await save("a", risky);
    const b = await save("b", inside(a.id));
    const c = await save("c", inside(b.id));
    const d = await save("d", inside(c.id));
    await expect(save("e", inside(d.id))).rejects.toThrow("e would lead over more than 3 levels");
    const change = (which: number, filter: Filter) =>
      ledger.segments.change(id, which, { content: { filter } }, commandLine, 1);
    await expect(change(a.id, inside(d.id))).rejects.toThrow("would lead back to itself");
    await expect(change(a.id, inside(a.id))).rejects.toThrow("a would lead back to itself");
    await expect(ledger.segments.remove(id, b.id, commandLine, 1)).rejects.toThrow(
      "This segment is used by the segment c: change or delete that segment first.",
    );
    for (const name of ["f", "g", "h"]) await save(name, inside(b.id));
    const named = "used by the segments c, f, g, and 1 more: change or delete them first.";
    await expect(ledger.segments.remove(id, b.id, commandLine, 1)).rejects.toThrow(named);
    const deeper = await save("deeper", risky);
    await expect(change(a.id, inside(deeper.id))).rejects.toThrow("d would lead over more than 3 levels");
  });

  test("have no segment that is not there, and accounts none of users", async () => {
    const { save } = await ground(subject);
    const other = await ground(subject, "other");
    const theirs = await other.save("theirs", risky);
    await expect(save("a", inside(theirs.id))).rejects.toThrow(
      `there is no segment with the id ${theirs.id}`,
    );
    const users = await save("users", risky);
    await expect(save("b", inside(users.id), "accounts")).rejects.toThrow("users is a segment of users");
    const accounts = await save("accounts", { riskBand: "low" }, "accounts");
    expect(await save("members", inside(accounts.id))).toMatchObject({ kind: "users" });
  });
}
