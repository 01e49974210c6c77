/** The part of the contract about erasures of accounts. */
import { expect, test } from "bun:test";
import { readKeyActor, settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { visitorKey } from "../../server/ledger/rules/held-events.ts";
import { accountRow, accountVersionRow, userRow } from "../../server/ledger/rules/warehouse-rows.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, inboxRows, look, needs, user, writePeople, writes } from "./writes.ts";

/** Ada and Bob in one account, Carl in another. */
async function threeMembers(subject: LedgerUnderTest, name?: string) {
  const { id } = await subject.organization(name);
  const accounts = [account(id, "engines", { version: 2 }), account(id, "other", { number: 2 })];
  const users = [
    user(id, "ada", { number: 1, account: 1 }),
    user(id, "bob", { number: 2, account: 1, email: "bob@example.com" }),
    user(id, "carl", { number: 3, account: 2, email: "carl@example.com" }),
  ];
  await writePeople(subject.ledger, { accounts, users });
  return { id, accounts, users };
}

function known(ledger: Ledger, users: Awaited<ReturnType<typeof threeMembers>>["users"]) {
  return look(ledger, { known: users }, (stored) =>
    users.map(({ organization, userId }) => stored.known(organization, userId)),
  );
}

/** Declares the tests of erasures of accounts. */
export function accountErasuresContract(subject: LedgerUnderTest): void {
  membersContract(subject);
  heldContract(subject);
  rejectedEventsContract(subject);
  withUserContract(subject);
}

function membersContract(subject: LedgerUnderTest): void {
  test("an erased account is unknown at once, its members are in none, and no version changes", async () => {
    const { id, users, accounts } = await threeMembers(subject);
    const other = await subject.organization("another");
    expect((await known(subject.ledger, users))[0]).toEqual({ number: 1, account: 1 });
    await subject.ledger.exclusions.add(id, { kind: "account", key: "", value: "engines" }, settingUp, 1_000);
    const begun = await subject.ledger.erasures.beginAccount(id, "engines");
    expect(begun).toMatchObject({ user: 0, account: 1, members: 2, versions: 2, state: "begun" });
    expect(await subject.ledger.erasures.beginAccount(id, "engines")).toBeUndefined();
    expect(await subject.ledger.erasures.beginAccount(other.id, "other")).toBeUndefined();
    expect(await subject.ledger.exclusions.list(id)).toEqual([]);
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await known(subject.ledger, users)).toEqual([
        { number: 1, account: 0 },
        { number: 2, account: 0 },
        { number: 3, account: 2 },
      ]);
      const found = await look(subject.ledger, { accounts }, (stored) => [
        stored.account(id, "engines"),
        stored.account(id, "other")?.number,
        stored.accountErasedAtMs(id, "engines"),
        stored.accountErasedAtMs(id, "other"),
        stored.lastAccountNumber(id),
      ]);
      expect(found).toEqual([undefined, 2, subject.nowMs, undefined, 2]);
      expect((await subject.ledger.findUser(id, "ada"))?.account).toBeNull();
      expect(await subject.ledger.populations(id)).toMatchObject({
        users: 3,
        userVersions: 3,
        accounts: 1,
        accountVersions: 1,
      });
    }
  });

  test("its number is not given again, also when it was the highest", async () => {
    const { id, accounts } = await threeMembers(subject);
    await subject.ledger.erasures.beginAccount(id, "other");
    for (const reopen of [false, true]) {
      if (reopen) await subject.reopen();
      expect(await look(subject.ledger, { accounts }, (stored) => stored.lastAccountNumber(id))).toBe(2);
    }
  });
}

function heldContract(subject: LedgerUnderTest): void {
  test("held items do not name the account any more, also when it was never stored", async () => {
    const { id } = await threeMembers(subject);
    const body = JSON.stringify({
      kind: "identify",
      account: { accountId: "engines", name: "secret" },
      n: 1,
    });
    const person = visitorKey(id, "v");
    const items = ["engines", "held", "other"].map((accountId) => ({
      ...person,
      receivedAtMs: 900,
      atMs: 900,
      accountId,
      body,
    }));
    await subject.ledger.transact(needs({ people: [person] }), () =>
      writes(1_000, { heldEvents: { taken: [], held: items, refused: [], links: [], labels: [] } }),
    );
    const before = await subject.ledger.heldEvents.counts(id);
    await subject.ledger.erasures.beginAccount(id, "engines");
    expect(await subject.ledger.erasures.beginAccount(id, "held")).toBeUndefined();
    const held = await look(subject.ledger, { people: [person] }, (stored) => stored.heldEvents(person));
    expect(held.map(({ accountId, body: said }) => [accountId, said])).toEqual([
      [null, '{"kind":"identify","n":1}'],
      [null, '{"kind":"identify","n":1}'],
      ["other", body],
    ]);
    expect(await subject.ledger.heldEvents.counts(id)).toEqual(before);
    const account = [{ organization: id, accountId: "held" }];
    const at = await look(subject.ledger, { accounts: account }, (stored) =>
      stored.accountErasedAtMs(id, "held"),
    );
    expect(at).toBe(subject.nowMs);
  });

  test("a held billing event does not name it as its payer any more", async () => {
    const { id } = await threeMembers(subject);
    const person = visitorKey(id, "v");
    const content = (event: string, accountId: string | null) => ({
      kind: "track",
      event,
      isPayer: true,
      properties: JSON.stringify({ amount: 5, currency: "EUR", accountId }),
    });
    const bodies = ["payment_failed", "opened"].map((event) =>
      JSON.stringify({ ...content(event, "engines"), account: { accountId: "engines" } }),
    );
    const held = bodies.map((body) => ({
      ...person,
      receivedAtMs: 900,
      atMs: 900,
      accountId: "engines",
      body,
    }));
    await subject.ledger.transact(needs({ people: [person] }), () =>
      writes(1_000, { heldEvents: { taken: [], held, refused: [], links: [], labels: [] } }),
    );
    await subject.ledger.erasures.beginAccount(id, "engines");
    const left = await look(subject.ledger, { people: [person] }, (stored) => stored.heldEvents(person));
    // Properties of other events stay as they were sent.
    expect(left.map(({ body }) => JSON.parse(body))).toEqual([
      content("payment_failed", null),
      content("opened", "engines"),
    ]);
  });
}

function rejectedEventsContract(subject: LedgerUnderTest): void {
  test("its rejected events go, and those of its members lose it, once everything before is loaded", async () => {
    const { id, accounts, users } = await threeMembers(subject);
    const { rejectedEvents, erasures } = subject.ledger;
    const body = accounts.map((each) => `${accountRow(each)}\n`).join("");
    const ofAccounts = { ...inboxRows([], { table: "accounts", year: 0 }), rows: accounts.length, body };
    const versions = accounts.map((each) => accountVersionRow(each, { atMs: 1, traits: {} }));
    const ofVersions = {
      ...inboxRows([], { table: "account_versions", year: 0 }),
      rows: versions.length,
      body: versions.map((row) => `${row}\n`).join(""),
    };
    await subject.ledger.transact(needs({}), () =>
      writes(1_000, {
        inbox: [inboxRows(["x"]), ofAccounts, ofVersions],
        accountVersionRows: [{ organization: id, rows: 9, versions: 20 }],
      }),
    );
    const [batch, ...others] = await subject.ledger.inbox.freeze(100);
    const event = (account: number) =>
      JSON.stringify([
        id,
        1,
        account,
        "trial_started",
        1,
        1,
        1,
        "1",
        false,
        "",
        JSON.stringify({ subscriptionId: "s", accountId: account === 1 ? "engines" : "other" }),
      ]);
    const rejectedRows = [
      { table: "accounts", row: accountRow(accounts[0] ?? account(id, "")) },
      { table: "accounts", row: accountRow(accounts[1] ?? account(id, "")) },
      { table: "account_versions", row: versions[0] ?? "" },
      { table: "account_versions", row: versions[1] ?? "" },
      { table: "users", row: userRow(users[0] ?? user(id, "")) },
      { table: "events", row: event(1) },
      { table: "events", row: event(2) },
    ] as const;
    await subject.ledger.inbox.finish(
      batch?.number ?? 0,
      rejectedRows.map((rejectedRow) => ({ ...rejectedRow, reason: "no" })),
    );
    for (const { number } of others) await subject.ledger.inbox.finish(number, []);
    const begun = await erasures.beginAccount(id, "engines");
    // A row that is sent again now would come after the erasure.
    expect(await rejectedEvents.retry({ organization: id }, settingUp, 1)).toBe(0);
    await erasures.accountCounted(begun?.id ?? 0, { events: 5, versions: 2, versionSum: 3, days: 3 });
    await erasures.accountCounted(begun?.id ?? 0, { events: 9, versions: 9, versionSum: 9, days: 9 });
    // Two rows of the warehouse, and the rejected one with version 2.
    expect((await subject.ledger.populations(id)).accountVersionRows).toEqual({ rows: 6, versions: 15 });
    const left = (await rejectedEvents.list({ organization: id }, 9))
      .map(({ row }) => JSON.parse(row))
      .reverse();
    expect(left.map((row) => row.slice(0, 3))).toEqual([
      [id, 2, "other"],
      [id, 2, 1],
      [id, 1, "ada"],
      [id, 1, 0],
      [id, 1, 2],
    ]);
    expect(left[2][6]).toBe(0);
    const payers = left.slice(3).map((row) => JSON.parse(row[10]).accountId);
    expect(payers).toEqual([null, "other"]);
    await erasures.finish([begun?.id ?? 0]);
    expect(await erasures.find(begun?.id ?? 0)).toMatchObject({
      state: "done",
      members: 2,
      events: 5,
      days: 3,
      rejectedEvents: 4,
      inboxRows: 2,
    });
    expect(await rejectedEvents.retry({ organization: id }, settingUp, 1)).toBe(5);
  });
}

function withUserContract(subject: LedgerUnderTest): void {
  test("an erasure is in the audit log from its own commit, without the id", async () => {
    const { id } = await threeMembers(subject);
    const by = readKeyActor(7);
    await subject.ledger.erasures.begin(id, "carl", { by });
    await subject.ledger.erasures.beginAccount(id, "engines", { by });
    const entries = await subject.ledger.audit.list(id, { limit: 9 });
    expect(entries.map(({ action, summary, detail }) => [action, summary, detail])).toEqual([
      ["account.erased", "Erased an account", { by: "read key 7", erasure: expect.any(Number) }],
      ["user.erased", "Erased a user", { by: "read key 7", erasure: expect.any(Number) }],
    ]);
  });

  test("the account of its only member is erased in the same commit, where that is asked for", async () => {
    const { id, accounts } = await threeMembers(subject);
    const { erasures } = subject.ledger;
    expect(await erasures.begin(id, "ada", { withAccount: true })).toMatchObject({
      user: 1,
      ofAccount: null,
    });
    expect(await erasures.begin(id, "carl", { withAccount: true })).toMatchObject({
      user: 3,
      ofAccount: { accountId: "other", erasure: { account: 2, members: 0 } },
    });
    expect(await erasures.begin(id, "bob")).toMatchObject({ ofAccount: null });
    const found = await look(subject.ledger, { accounts }, (stored) =>
      accounts.map(({ accountId }) => stored.account(id, accountId)?.number),
    );
    expect(found).toEqual([1, undefined]);
    expect((await erasures.pending()).map(({ user: number, account: of }) => [number, of])).toEqual([
      [1, 0],
      [3, 0],
      [0, 2],
      [2, 0],
    ]);
  });
}
