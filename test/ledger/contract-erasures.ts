/** The part of the contract about erasures. */
import { expect, test } from "bun:test";
import { settingUp } from "../../server/ledger/audit.ts";
import type { User } from "../../server/ledger/entities.ts";
import type { DayCount } from "../../server/ledger/inbox.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { userKey } from "../../server/ledger/rules/held-events.ts";
import { userRow, userVersionRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { inboxRows, look, needs, user, writePeople, writes } from "./writes.ts";

const utcDay = 20_000;
const atMs = utcDay * 86_400_000;

/** An event's row as intake writes it. */
function eventRow(organization: number, number: number, id: string): unknown[] {
  return [organization, number, 0, "opened", atMs, utcDay, atMs, id, false, "", "{}"];
}

/** A version of Ada's row. */
function ada(organization: number, version: number): string {
  return userRow(user(organization, "ada", { version }));
}

function dayCount(organization: number, events: number, checksum: number): DayCount {
  return { organization, utcDay, events, checksum };
}

/** Two users with two events each in one inbox row. The checksums of their ids are 1 to 4. */
async function twoUsers(
  subject: LedgerUnderTest,
  name?: string,
): Promise<{ id: number; ada: User; bob: User }> {
  const { id } = await subject.organization(name);
  const ada = user(id, "ada", { number: 1, version: 3, traits: { secret: "of ada" } });
  const bob = user(id, "bob", { number: 2 });
  const rows = [1, 2, 1, 2].map((number, index) => eventRow(id, number, `${index + 1}`.padStart(32, "0")));
  const body = rows.map((row) => `${JSON.stringify(row)}\n`).join("");
  const people = { users: [ada, bob] };
  await subject.ledger.transact(needs(people), () =>
    writes(1_000, {
      ...people,
      inbox: [{ ...inboxRows([]), rows: 4, body }],
      dayCounts: [dayCount(id, 4, 1 + 2 + 3 + 4)],
      versionRows: [{ organization: id, rows: 4, versions: 1 + 2 + 3 + 1 }],
    }),
  );
  return { id, ada, bob };
}

/** Loads what waits. @param deadRows events that are rejected: rows, or texts that cannot be read as rows */
async function load(ledger: Ledger, deadRows: readonly (string | unknown[])[] = []): Promise<void> {
  const [batch] = await ledger.inbox.freeze(100);
  if (batch === undefined) throw new Error("nothing was frozen");
  const rejectedRows = deadRows.map(
    (row) =>
      ({ table: "events", row: typeof row === "string" ? row : JSON.stringify(row), reason: "no" }) as const,
  );
  await ledger.inbox.finish(batch.number, rejectedRows);
}

/** Declares the tests of erasures. */
export function erasuresContract(subject: LedgerUnderTest): void {
  stepsContract(subject);
  listContract(subject);
  namesContract(subject);
  tombstonesContract(subject);
  lateContract(subject);
}

function stepsContract(subject: LedgerUnderTest): void {
  test("an erased user is unknown at once, and no other user is", async () => {
    const { id, ada, bob } = await twoUsers(subject);
    await look(subject.ledger, { known: [ada] }, (stored) => stored.known(id, "ada"));
    expect(await subject.ledger.erasures.begin(id, "ada")).toMatchObject({ user: 1, state: "begun" });
    expect(await subject.ledger.erasures.begin(id, "ada")).toBeUndefined();
    expect(await subject.ledger.erasures.begin(id + 1, "bob")).toBeUndefined();
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const known = await look(subject.ledger, { known: [ada, bob] }, (stored) => [
        stored.known(id, "ada"),
        stored.known(id, "bob"),
      ]);
      expect(known).toEqual([undefined, { number: 2, account: 0 }]);
      expect(await subject.ledger.findUser(id, "ada")).toBeUndefined();
      expect(await subject.ledger.populations(id)).toMatchObject({ users: 1, userVersions: 1 });
    }
  });

  test("counts lose the user's events and rejected events once, however often the step is done", async () => {
    const { id } = await twoUsers(subject);
    const { erasures } = subject.ledger;
    await load(subject.ledger, [
      eventRow(id, 1, "3".padStart(32, "0")),
      eventRow(id, 2, "4".padStart(32, "0")),
    ]);
    const begun = await erasures.begin(id, "ada");
    if (begun === undefined) throw new Error("there is no user");
    await expect(erasures.finish([begun.id])).rejects.toThrow();
    const accounts = [7, 4_000_000_000];
    const found = { dayCounts: [dayCount(id, 1, 1)], versions: 3, versionSum: 1 + 2 + 3, days: 1, accounts };
    const since = async (sinceMs: number) => (await subject.ledger.erasures.accountsSince(id, sinceMs)).at(0);
    expect(await since(subject.nowMs)).toMatchObject({ account: 0, ofAccounts: [] });
    await erasures.counted([{ id: begun.id, ...found }]);
    await erasures.counted([{ id: begun.id, ...found }]);
    expect(await subject.ledger.dayCounts(id)).toEqual([dayCount(id, 2, 2 + 4)]);
    expect((await subject.ledger.populations(id)).versionRows).toEqual({ rows: 1, versions: 1 });
    const left = await subject.ledger.rejectedEvents.list({ organization: id }, 9);
    expect(left.map(({ row }) => JSON.parse(row)[1])).toEqual([2]);
    await subject.reopen();
    const requestedAtMs = subject.nowMs;
    expect(await since(requestedAtMs)).toEqual({ requestedAtMs, account: 0, ofAccounts: accounts });
    expect(await since(requestedAtMs + 1)).toBeUndefined();
    expect(await subject.ledger.erasures.accountsSince(id + 1, 0)).toEqual([]);
    expect(await subject.ledger.erasures.pending()).toMatchObject([
      { id: begun.id, state: "counted", events: 1, versions: 3, rejectedEvents: 1, inboxRows: 2, days: 1 },
    ]);
    subject.nowMs += 5_000;
    await subject.ledger.erasures.finish([begun.id]);
    expect(await subject.ledger.erasures.pending()).toEqual([]);
    expect(await subject.ledger.erasures.list(id)).toMatchObject([
      { state: "done", requestedAtMs: subject.nowMs - 5_000, erasedAtMs: subject.nowMs },
    ]);
  });
}

function listContract(subject: LedgerUnderTest): void {
  test("erasures of two organizations are counted as one list, each once, and finished together or not at all", async () => {
    const [{ id }, { id: other }] = [await twoUsers(subject), await twoUsers(subject, "other")];
    const { erasures } = subject.ledger;
    const unreadable = (number: number, of = id) => `[${of},${number},"cut off`;
    await load(subject.ledger, [
      eventRow(id, 1, "3".padStart(32, "0")),
      unreadable(1),
      unreadable(2, other),
      unreadable(11),
      unreadable(1, other),
    ]);
    const begun = [
      await erasures.begin(id, "ada"),
      await erasures.begin(id, "bob"),
      await erasures.begin(other, "bob"),
    ].map((erasure) => erasure?.id ?? 0);
    const found = (of: number, events: number, checksum: number) => ({
      dayCounts: [dayCount(of, events, checksum)],
      versions: 1,
      versionSum: 1,
      days: 1,
    });
    const list = [found(id, 1, 1), found(id, 2, 2 + 4), found(other, 2, 2 + 4)].map((one, index) => ({
      id: begun[index] ?? 0,
      ...one,
    }));
    await erasures.counted(list.slice(0, 1));
    await expect(erasures.finish(begun)).rejects.toThrow("begun");
    await erasures.counted(list);
    await erasures.counted([]);
    expect(await subject.ledger.dayCounts(id)).toEqual([dayCount(id, 0, 0)]);
    expect(await subject.ledger.dayCounts(other)).toEqual([dayCount(other, 2, 1 + 3)]);
    expect((await subject.ledger.populations(id)).versionRows).toEqual({ rows: 2, versions: 5 });
    expect((await subject.ledger.populations(other)).versionRows).toEqual({ rows: 3, versions: 6 });
    expect(await erasures.pending()).toMatchObject([
      { events: 1, rejectedEvents: 2, inboxRows: 2 },
      { events: 2, rejectedEvents: 0, inboxRows: 2 },
      { events: 2, rejectedEvents: 1, inboxRows: 2 },
    ]);
    const left = (await subject.ledger.rejectedEvents.list({}, 9)).map(({ row }) => row);
    expect(left.toSorted()).toEqual([unreadable(11), unreadable(1, other)].toSorted());
    await expect(erasures.finish([...begun, 9_999])).rejects.toThrow("no erasure 9999");
    expect(await erasures.pending()).toHaveLength(3);
    await erasures.finish(begun);
    await erasures.finish([]);
    expect(await erasures.pending()).toEqual([]);
  });

  test("rows that wait are not deleted: an erasure before them cannot be finished", async () => {
    const { id } = await twoUsers(subject);
    const begun = await subject.ledger.erasures.begin(id, "ada");
    const erasure = begun?.id ?? 0;
    await subject.ledger.erasures.counted([
      { id: erasure, dayCounts: [], versions: 0, versionSum: 0, days: 0 },
    ]);
    await expect(subject.ledger.erasures.finish([erasure])).rejects.toThrow("not loaded");
    await load(subject.ledger);
    await subject.ledger.erasures.finish([erasure]);
    expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 0, newestInboxId: 1 });
  });
}

function namesContract(subject: LedgerUnderTest): void {
  test("rejected events of the user are left to the erasure, and what was dropped is forgotten", async () => {
    const { id } = await twoUsers(subject);
    const { rejectedEvents, erasures } = subject.ledger;
    const [batch] = await subject.ledger.inbox.freeze(100);
    const users = [ada(id, 2), ada(id, 3)].map((row) => ({ table: "users", row, reason: "no" }) as const);
    const version = userVersionRow(user(id, "ada", { version: 3 }), { atMs, traits: {}, account: 0 });
    const rejectedRows = [...users, { table: "user_versions", row: version, reason: "no" } as const];
    await subject.ledger.inbox.finish(batch?.number ?? 0, rejectedRows);
    const [oldest] = (await rejectedEvents.list({ organization: id }, 9)).slice(-1);
    expect(await rejectedEvents.drop({ ids: [oldest?.id ?? 0] }, settingUp, 1)).toBe(1);
    expect((await rejectedEvents.missing(id)).users).toEqual([{ number: 1, version: 3 }]);

    const begun = await erasures.begin(id, "ada");
    expect(await rejectedEvents.retry({ organization: id }, settingUp, 1)).toBe(0);
    expect(await rejectedEvents.drop({ organization: id }, settingUp, 1)).toBe(0);
    await expect(rejectedEvents.retry({ ids: [(oldest?.id ?? 0) + 1] }, settingUp, 1)).rejects.toThrow(
      "no rejected event",
    );
    await erasures.counted([{ id: begun?.id ?? 0, dayCounts: [], versions: 2, versionSum: 3, days: 0 }]);
    expect(await erasures.find(begun?.id ?? 0)).toMatchObject({ versions: 2, rejectedEvents: 2 });
    expect((await subject.ledger.populations(id)).versionRows).toEqual({ rows: 1, versions: 1 });
    expect(await rejectedEvents.missing(id)).toMatchObject({
      rejectedEvents: 0,
      userVersions: { rows: 0, versions: 0 },
      users: [],
    });
  });

  test("warnings and the exclusion rule that name the user go, and no others", async () => {
    const { id } = await twoUsers(subject);
    const { exclusions, warnings, erasures } = subject.ledger;
    const seen = { utcDay, firstSeenMs: atMs, lastSeenMs: atMs, count: 1, message: null };
    for (const userId of ["ada", "bob"]) {
      await exclusions.add(id, { kind: "user", key: "", value: userId }, settingUp, 1_000);
      await exclusions.add(id, { kind: "email", key: "", value: userId }, settingUp, 1_000);
      const kind = { kind: "unknown_key", endpoint: "track", detail: userId } as const;
      await warnings.add([{ organization: id, ...seen, ...kind, userId }]);
    }
    const before = await exclusions.rules(id);
    await erasures.begin(id, "ada");
    const { rules, revision } = await exclusions.rules(id);
    expect(rules.map(({ kind, value }) => `${kind} ${value}`)).toEqual([
      "email ada",
      "user bob",
      "email bob",
    ]);
    expect(revision).toBeGreaterThan(before.revision);
    expect((await warnings.list(id, 9)).map(({ userId }) => userId)).toEqual(["bob"]);
  });
}

function tombstonesContract(subject: LedgerUnderTest): void {
  test("a number is never given again, also when the highest was erased", async () => {
    const { id } = await twoUsers(subject);
    await subject.ledger.erasures.begin(id, "bob");
    await subject.ledger.erasures.begin(id, "ada");
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const users = [{ organization: id, userId: "ada" }];
      expect(await look(subject.ledger, { users }, (stored) => stored.lastUserNumber(id))).toBe(2);
    }
  });

  test("an erased user's time is remembered, for that user of that organization", async () => {
    const { id, ada, bob } = await twoUsers(subject);
    const other = await subject.organization("another");
    const namesake = user(other.id, "ada");
    await writePeople(subject.ledger, { users: [namesake] });
    await subject.ledger.erasures.begin(id, "ada");
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      const people = [ada, bob, namesake].map(({ organization, userId }) => userKey(organization, userId));
      const times = await look(subject.ledger, { people }, (stored) =>
        people.map((person) => stored.erasedAtMs(person)),
      );
      expect(times).toEqual([subject.nowMs, undefined, undefined]);
    }
  });
}

function lateContract(subject: LedgerUnderTest): void {
  test("a late warning about an erased user is counted without the id, until the user is identified again", async () => {
    const { id, ada } = await twoUsers(subject);
    const { warnings, erasures } = subject.ledger;
    await erasures.begin(id, "ada");
    const named = async () => (await warnings.list(id, 9)).map(({ userId }) => userId).sort();
    const late = async (day: number) => {
      const seen = {
        utcDay: day,
        firstSeenMs: atMs,
        lastSeenMs: atMs,
        count: 1,
        message: null,
        detail: null,
      };
      const kind = { kind: "refused_unknown_user", endpoint: "track" } as const;
      await warnings.add([{ organization: id, ...seen, ...kind, userId: "ada" }]);
    };
    await late(utcDay);
    expect(await named()).toEqual([null]);
    await writePeople(subject.ledger, { users: [{ ...ada, number: 3 }] });
    await late(utcDay + 1);
    expect(await named()).toEqual(["ada", null]);
  });
}
