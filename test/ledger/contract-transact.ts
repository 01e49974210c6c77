/** The part of the contract about transactions: users, accounts, message ids and counts. */
import { expect, test } from "bun:test";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import {
  account,
  append,
  inboxRows,
  look,
  messageOf,
  needs,
  remember,
  user,
  writePeople,
  writes,
} from "./writes.ts";

const hourMs = 3_600_000;

/** Declares the tests of transactions. */
export function transactContract(subject: LedgerUnderTest): void {
  peopleContract(subject);
  numbersContract(subject);
  failureContract(subject);
  messageIdContract(subject);
  messageKindContract(subject);
  countsContract(subject);
}

function peopleContract(subject: LedgerUnderTest): void {
  test("a user comes back as it was written, after a restart too", async () => {
    const { id } = await subject.organization();
    const traits = { plan: "pro", nested: { list: [1, null, "ü\u0000"] }, none: null };
    const ada = user(id, "ada\u0000", { traits, isAccountOwner: false, account: 3, email: "ä@example.com" });
    await writePeople(subject.ledger, { users: [ada] });
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await look(subject.ledger, { users: [ada] }, (stored) => stored.user(id, "ada\u0000"))).toEqual(
        ada,
      );
      const known = await look(subject.ledger, { known: [ada] }, (stored) => stored.known(id, "ada\u0000"));
      expect(known).toEqual({ number: 1, account: 3 });
    }
  });

  test("an account comes back as it was written, and as it was changed", async () => {
    const { id } = await subject.organization();
    const before = account(id, "acme");
    const after = {
      ...before,
      name: "ACME",
      avatar: "https://example.com/a.png",
      version: 2,
      timestampMs: 1_500,
      fieldTimestampsMs: { avatar: 1_900 },
      updatedAtMs: 2_000,
    };
    for (const wanted of [before, after]) {
      await writePeople(subject.ledger, { accounts: [wanted] });
      const found = await look(subject.ledger, { accounts: [wanted] }, (stored) =>
        stored.account(id, "acme"),
      );
      expect(found).toEqual(wanted);
    }
  });

  test("a user's new account is known to the next track", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "ada")] });
    await look(subject.ledger, { known: [user(id, "ada")] }, (stored) => stored.known(id, "ada"));
    await writePeople(subject.ledger, { users: [user(id, "ada", { account: 8, version: 2 })] });
    const known = await look(subject.ledger, { known: [user(id, "ada")] }, (stored) =>
      stored.known(id, "ada"),
    );
    expect(known).toEqual({ number: 1, account: 8 });
  });

  test("the same id in another organization is another user, account and message", async () => {
    const first = await subject.organization("first");
    const second = await subject.organization("second");
    await writePeople(subject.ledger, { users: [user(first.id, "1")], accounts: [account(first.id, "1")] });
    const message = { organization: first.id, kind: "track", messageId: "1" } as const;
    await remember(subject.ledger, [message], subject.nowMs);
    const [userId, accountId, messageId] = ["1", "1", "1"];
    const other = { organization: second.id, kind: "track" as const, userId, accountId, messageId };
    const needed = { known: [other], users: [other], accounts: [other], messageIds: [other] };
    const found = await look(subject.ledger, needed, (stored) => [
      stored.known(second.id, "1"),
      stored.user(second.id, "1"),
      stored.account(second.id, "1"),
      messageOf(stored, other).remembered,
      stored.lastUserNumber(second.id),
      stored.lastAccountNumber(second.id),
    ]);
    expect(found).toEqual([undefined, undefined, undefined, false, 0, 0]);
  });
}

function numbersContract(subject: LedgerUnderTest): void {
  test("the last numbers are those that were committed", async () => {
    const { id } = await subject.organization();
    const users = [1, 2, 3].map((number) => user(id, `user ${number}`, { number }));
    await writePeople(subject.ledger, { users, accounts: [account(id, "acme")] });
    await subject.reopen();
    const last = await look(subject.ledger, { users: [user(id, "new")] }, (stored) => [
      stored.lastUserNumber(id),
      stored.lastAccountNumber(id),
    ]);
    expect(last).toEqual([3, 1]);
  });

  test("two users of an organization cannot have one number", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "ada")] });
    await expect(writePeople(subject.ledger, { users: [user(id, "bob")] })).rejects.toThrow();
    expect(await subject.ledger.populations(id)).toMatchObject({ users: 1, userVersions: 1 });
  });

  test("the transaction's number grows with every transaction that writes rows, across restarts", async () => {
    const numbers: number[] = [];
    for (let round = 0; round < 6; round++) {
      await subject.ledger.transact(needs({}), (stored) => {
        numbers.push(stored.transaction);
        return writes(1_000, { inbox: [inboxRows(["a"]), inboxRows(["b"], { year: 2025 })] });
      });
      const finished = await subject.ledger.inbox.freeze(100);
      for (const batch of finished) await subject.ledger.inbox.finish(batch.number, []);
      subject.nowMs += 2 * hourMs;
      await subject.ledger.tidy(subject.nowMs);
      await subject.reopen();
    }
    expect(numbers).toEqual([...new Set(numbers)].sort((a, b) => a - b));
  });
}

function failureContract(subject: LedgerUnderTest): void {
  /** A transaction that writes something everywhere, and then fails. */
  const failing = async (id: number, how: "decide" | "write") => {
    const ada = user(id, "ada");
    const key = { organization: id, kind: "track" as const, messageId: "once" };
    const needed = needs({ users: [ada], accounts: [account(id, "acme")], messageIds: [key], known: [ada] });
    const attempt = subject.ledger.transact(needed, (stored) => {
      if (how === "decide") throw new Error("cannot decide");
      return writes(subject.nowMs, {
        users: [ada],
        accounts: [account(id, "acme")],
        inbox: [inboxRows(["lost"])],
        messages: [messageOf(stored, key)],
        // The last thing that is written: an organization that does not exist.
        dayCounts: [
          { organization: id, utcDay: 1, events: 1, checksum: 1 },
          { organization: 1_000_000, utcDay: 1, events: 1, checksum: 1 },
        ],
      });
    });
    await expect(attempt).rejects.toThrow();
    return { ada, key };
  };

  for (const how of ["decide", "write"] as const) {
    test(`a transaction that fails in its ${how} leaves nothing, on disk or in memory`, async () => {
      const { id } = await subject.organization();
      const { ada, key } = await failing(id, how);
      const needed = { users: [ada], known: [ada], accounts: [account(id, "acme")], messageIds: [key] };
      for (const reopen of [false, true]) {
        if (reopen) await subject.reopen();
        const found = await look(subject.ledger, needed, (stored) => [
          stored.known(id, "ada"),
          stored.user(id, "ada"),
          stored.account(id, "acme"),
          messageOf(stored, key).remembered,
          stored.lastUserNumber(id),
        ]);
        expect(found).toEqual([undefined, undefined, undefined, false, 0]);
        expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 0, bytes: 0, newestInboxId: 0 });
        expect(await subject.ledger.dayCounts(id)).toEqual([]);
        expect(await subject.ledger.populations(id)).toMatchObject({ users: 0, accounts: 0 });
      }
    });
  }

  test("a failed change of a user does not reach the next track", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, { users: [user(id, "ada")] });
    const moved = user(id, "ada", { account: 5, version: 2 });
    const attempt = subject.ledger.transact(needs({ users: [moved] }), () =>
      writes(1_000, {
        users: [moved],
        dayCounts: [{ organization: 1_000_000, utcDay: 1, events: 1, checksum: 1 }],
      }),
    );
    await expect(attempt).rejects.toThrow();
    const known = await look(subject.ledger, { known: [moved] }, (stored) => stored.known(id, "ada"));
    expect(known).toEqual({ number: 1, account: 0 });
  });

  test("the ledger works on after a failed transaction", async () => {
    const { id } = await subject.organization();
    await failing(id, "write");
    await writePeople(subject.ledger, { users: [user(id, "bob")] });
    await append(subject.ledger, inboxRows(["kept"]));
    await subject.reopen();
    expect(await subject.ledger.inbox.backlog()).toMatchObject({ rows: 1, newestInboxId: 1 });
  });
}

function messageKindContract(subject: LedgerUnderTest): void {
  test("the same message id is another one for an identify than for a track", async () => {
    const { id } = await subject.organization();
    const [track, identify] = [
      { organization: id, kind: "track", messageId: "sign-up" } as const,
      { organization: id, kind: "identify", messageId: "sign-up" } as const,
    ];
    for (const key of [track, identify]) {
      expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([]);
      expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([key]);
    }
    await subject.reopen();
    expect(await remember(subject.ledger, [track, identify], subject.nowMs)).toEqual([track, identify]);
  });
}

function messageIdContract(subject: LedgerUnderTest): void {
  test("a message id is remembered for 24 hours, across restarts, and then forgotten", async () => {
    const { id } = await subject.organization();
    const key = { organization: id, kind: "track" as const, messageId: "order-17" };
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([]);
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(
        await look(subject.ledger, { messageIds: [key] }, (stored) => messageOf(stored, key).remembered),
      ).toBe(true);
    }
    subject.nowMs += 24 * hourMs - 1;
    await subject.ledger.tidy(subject.nowMs);
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([key]);
    subject.nowMs += 2_001;
    await subject.ledger.tidy(subject.nowMs);
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([]);
    await subject.reopen();
    expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([key]);
  });

  test("message ids of any text are distinguished", async () => {
    const { id } = await subject.organization();
    const texts = ["1", "01", "1 ", "a\u0000b", "a\u0000c", "ä", "a\u0308", "A", "a", "x".repeat(256)];
    const keys = texts.map((messageId) => ({ organization: id, kind: "track" as const, messageId }));
    for (const key of keys) expect(await remember(subject.ledger, [key], subject.nowMs)).toEqual([]);
    expect(await remember(subject.ledger, keys, subject.nowMs)).toEqual(keys);
  });
}

function countsContract(subject: LedgerUnderTest): void {
  test("day counts add up, their checksums modulo 2^32, and stay", async () => {
    const { id } = await subject.organization();
    const add = (utcDay: number, events: number, checksum: number) =>
      subject.ledger.transact(needs({}), () =>
        writes(1_000, { dayCounts: [{ organization: id, utcDay, events, checksum }] }),
      );
    await add(20_001, 2, 4_294_967_295);
    await add(20_000, 1, 7);
    await add(20_001, 3, 4_294_967_290);
    await subject.reopen();
    expect(await subject.ledger.dayCounts(id)).toEqual([
      { organization: id, utcDay: 20_000, events: 1, checksum: 7 },
      { organization: id, utcDay: 20_001, events: 5, checksum: 4_294_967_289 },
    ]);
    expect(await subject.ledger.dayCounts(id + 1)).toEqual([]);
  });

  test("populations count users and accounts and sum their versions", async () => {
    const { id } = await subject.organization();
    await writePeople(subject.ledger, {
      users: [user(id, "ada"), user(id, "bob", { number: 2, version: 3 })],
      accounts: [account(id, "acme")],
    });
    await writePeople(subject.ledger, {
      users: [user(id, "ada", { version: 4 })],
      accounts: [account(id, "acme", { version: 2 })],
    });
    await subject.ledger.transact(needs({}), () =>
      writes(1_000, { accountVersionRows: [{ organization: id, rows: 2, versions: 5 }] }),
    );
    await subject.reopen();
    expect(await subject.ledger.populations(id)).toEqual({
      users: 2,
      userVersions: 7,
      accounts: 1,
      accountVersions: 2,
      versionRows: { rows: 0, versions: 0 },
      accountVersionRows: { rows: 2, versions: 5 },
    });
  });
}
