/** The part of the contract about erasures. */
import { expect, test } from "bun:test";
import type { DayCount, Ledger, User } from "../../server/ledger/ledger.ts";
import type { LedgerUnderTest } from "./contract.ts";
import { inboxRows, look, needs, user, writePeople, writes } from "./writes.ts";

const utcDay = 20_000;
const atMs = utcDay * 86_400_000;

/** An event's row as intake writes it. */
function eventRow(organization: number, number: number, id: string): unknown[] {
  return [organization, number, 0, "opened", atMs, utcDay, atMs, id, false, "", "{}"];
}

function dayCount(organization: number, events: number, checksum: number): DayCount {
  return { organization, utcDay, events, checksum };
}

/** Two users with two events each in one inbox row; the checksums of their ids are 1 to 4. */
async function twoUsers(subject: LedgerUnderTest): Promise<{ id: number; ada: User; bob: User }> {
  const { id } = await subject.organization();
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
    }),
  );
  return { id, ada, bob };
}

async function load(ledger: Ledger, deadRows: readonly unknown[][] = []): Promise<void> {
  const [batch] = await ledger.inbox.freeze(100);
  if (batch === undefined) throw new Error("nothing was frozen");
  const letters = deadRows.map(
    (row) => ({ table: "events", row: JSON.stringify(row), reason: "no" }) as const,
  );
  await ledger.inbox.finish(batch.number, letters);
}

/** Declares the tests of erasures. */
export function erasuresContract(subject: LedgerUnderTest): void {
  stepsContract(subject);
  tombstonesContract(subject);
}

function stepsContract(subject: LedgerUnderTest): void {
  test("an erased user is unknown at once, and nobody else is", async () => {
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

  test("counts lose the user's events and dead letters once, however often the step is done", async () => {
    const { id } = await twoUsers(subject);
    const { erasures } = subject.ledger;
    await load(subject.ledger, [
      eventRow(id, 1, "3".padStart(32, "0")),
      eventRow(id, 2, "4".padStart(32, "0")),
    ]);
    const begun = await erasures.begin(id, "ada");
    if (begun === undefined) throw new Error("there is no user");
    await expect(erasures.finish(begun.id)).rejects.toThrow();
    const found = { dayCounts: [dayCount(id, 1, 1)], versions: 3, days: 1 };
    await erasures.counted(begun.id, found);
    await erasures.counted(begun.id, found);
    expect(await subject.ledger.dayCounts(id)).toEqual([dayCount(id, 2, 2 + 4)]);
    expect((await subject.ledger.deadLetters(9)).map(({ row }) => JSON.parse(row)[1])).toEqual([2]);
    await subject.reopen();
    expect(await subject.ledger.erasures.pending()).toMatchObject([
      { id: begun.id, state: "counted", events: 1, versions: 3, deadLetters: 1, inboxRows: 2, days: 1 },
    ]);
    subject.nowMs += 5_000;
    await subject.ledger.erasures.finish(begun.id);
    expect(await subject.ledger.erasures.pending()).toEqual([]);
    expect(await subject.ledger.erasures.list(id)).toMatchObject([
      { state: "done", requestedAtMs: subject.nowMs - 5_000, erasedAtMs: subject.nowMs },
    ]);
  });

  test("rows that wait are not deleted: an erasure before them cannot be finished", async () => {
    const { id } = await twoUsers(subject);
    const begun = await subject.ledger.erasures.begin(id, "ada");
    const erasure = begun?.id ?? 0;
    await subject.ledger.erasures.counted(erasure, { dayCounts: [], versions: 0, days: 0 });
    await expect(subject.ledger.erasures.finish(erasure)).rejects.toThrow("not loaded");
    await load(subject.ledger);
    await subject.ledger.erasures.finish(erasure);
    expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 0, newestInboxId: 1 });
  });
}

function tombstonesContract(subject: LedgerUnderTest): void {
  test("a number is never given again, also when the highest was erased", async () => {
    const { id } = await twoUsers(subject);
    await subject.ledger.erasures.begin(id, "bob");
    await subject.ledger.erasures.begin(id, "ada");
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await look(subject.ledger, {}, (stored) => stored.lastUserNumber(id))).toBe(2);
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
      const times = await look(subject.ledger, { users: [ada, bob, namesake] }, (stored) => [
        stored.erasedAtMs(id, "ada"),
        stored.erasedAtMs(id, "bob"),
        stored.erasedAtMs(other.id, "ada"),
      ]);
      expect(times).toEqual([subject.nowMs, undefined, undefined]);
    }
  });
}
