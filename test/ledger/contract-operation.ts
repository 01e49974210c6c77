/** The part of the contract about warnings, rejected events, exclusion rules and checks. */
import { expect, test } from "bun:test";
import { settingUp } from "../../server/ledger/audit.ts";
import type { FrozenBatch, WarehouseTable } from "../../server/ledger/inbox.ts";
import type { MissingRows } from "../../server/ledger/rules/rejected-event-facts.ts";
import {
  accountVersionRow,
  eventRow,
  userRow,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import type { IngestionWarning } from "../../server/ledger/stores/warnings.ts";
import type { LedgerUnderTest } from "./ledger-under-test.ts";
import { account, append, needs, user, writePeople, writes } from "./writes.ts";

const msPerDay = 86_400_000;
const timeMs = 20_000 * msPerDay + 23 * 3_600_000;

/** Declares the tests of data for the operators of an installation. */
export function operationContract(subject: LedgerUnderTest): void {
  warningsContract(subject);
  retryContract(subject);
  dropContract(subject);
  peopleContract(subject);
  attributesContract(subject);
  outagesContract(subject);
}

function warningsContract(subject: LedgerUnderTest): void {
  const warning = (organization: number, some: Partial<IngestionWarning>): IngestionWarning => ({
    organization,
    utcDay: 100,
    kind: "unknown_key",
    endpoint: "track",
    detail: "plan",
    count: 1,
    firstSeenMs: 5,
    lastSeenMs: 5,
    message: null,
    userId: null,
    ...some,
  });

  test("warnings of one day add up, the latest example wins, and another organization's are another's", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const { warnings } = subject.ledger;
    await warnings.add([warning(id, { count: 2, userId: "a" }), warning(other.id, { detail: "theirs" })]);
    await warnings.add([warning(id, { lastSeenMs: 9, userId: "b" }), warning(id, { utcDay: 101 })]);
    await subject.reopen();
    expect(await subject.ledger.warnings.list(id, 10)).toEqual([
      warning(id, { count: 3, lastSeenMs: 9, userId: "b" }),
      warning(id, { utcDay: 101 }),
    ]);
    expect(await subject.ledger.warnings.list(id, 1)).toHaveLength(1);
  });

  test("warnings of one kind are found behind any number of newer ones of other kinds", async () => {
    const { id } = await subject.organization();
    const newer = (index: number) => warning(id, { detail: `key ${index}`, lastSeenMs: 10 + index });
    const older = warning(id, { kind: "duplicate", detail: "opened" });
    await subject.ledger.warnings.add([older, ...Array.from({ length: 5 }, (_, index) => newer(index))]);
    expect(await subject.ledger.warnings.list(id, 5)).not.toContainEqual(older);
    expect(await subject.ledger.warnings.list(id, 5, "duplicate")).toEqual([older]);
    expect(await subject.ledger.warnings.list(id, 5, "refused_validation")).toEqual([]);
  });

  test("details beyond a thousand a day are counted together, and warnings go after 30 days", async () => {
    const { id } = await subject.organization();
    const many = (from: number) =>
      Array.from({ length: 700 }, (_, index) => warning(id, { detail: `key ${from + index}` }));
    await subject.ledger.warnings.add(many(0));
    await subject.ledger.warnings.add(many(350));
    await subject.ledger.warnings.add([...many(5_000), warning(id, { detail: "key 1", count: 5 })]);
    const list = await subject.ledger.warnings.list(id, 10_000);
    expect(list).toHaveLength(1_001);
    expect(list.reduce((sum, { count }) => sum + count, 0)).toBe(2_105);
    expect(list.find(({ detail }) => detail === "key 1")?.count).toBe(6);
    await subject.ledger.tidy(130 * msPerDay + 1);
    expect(await subject.ledger.warnings.list(id, 10_000)).toHaveLength(1_001);
    await subject.ledger.tidy(131 * msPerDay);
    expect(await subject.ledger.warnings.list(id, 10_000)).toEqual([]);
  });
}

/** Freezes rows and rejects them, as the loader does. */
export async function reject(
  subject: LedgerUnderTest,
  table: WarehouseTable,
  lines: readonly string[],
  year = 0,
) {
  const body = lines.map((line) => `${line}\n`).join("");
  await append(subject.ledger, { table, year, schema: 1, rows: lines.length, body });
  const batches = await subject.ledger.inbox.freeze(10_000);
  for (const batch of batches) {
    const rejectedRows = lines.map((row) => ({ table, row, reason: "bad" }));
    await subject.ledger.inbox.finish(batch.number, batch.table === table ? rejectedRows : []);
  }
}

/** A row of an event. */
export function eventLine(organization: number, number: number): string {
  const id = number.toString(16).padStart(32, "0");
  return eventRow({
    organization,
    user: 1,
    account: 0,
    event: "e",
    timeMs,
    day: 20_000,
    receivedAtMs: timeMs,
    id,
    messageId: null,
    properties: "{}",
  });
}

async function rowsWaiting(subject: LedgerUnderTest): Promise<[FrozenBatch, string][]> {
  const batches = await subject.ledger.inbox.freeze(10_000);
  return Promise.all(
    batches.map(async (batch) => [batch, (await subject.ledger.inbox.read(batch)).toString()] as const),
  ) as Promise<[FrozenBatch, string][]>;
}

const nothing: MissingRows = {
  rejectedEvents: 0,
  events: [],
  users: [],
  accounts: [],
  userVersions: { rows: 0, versions: 0 },
  accountVersions: { rows: 0, versions: 0 },
};

function retryContract(subject: LedgerUnderTest): void {
  test("rejected events that are sent again wait in the inbox, once, with the day of today's timezone", async () => {
    const { id } = await subject.organization();
    const other = await subject.organization("other");
    const lines = [1, 2, 3].map((number) => eventLine(id, number));
    await reject(subject, "events", [...lines, eventLine(other.id, 4)], 2024);
    const { rejectedEvents, organizations } = subject.ledger;
    expect(await rejectedEvents.missing(id)).toEqual({
      ...nothing,
      rejectedEvents: 3,
      events: [{ organization: id, utcDay: 20_000, events: 3, checksum: 6 }],
    });
    await organizations.set(id, { timezone: "Asia/Tokyo" }, settingUp, 1);
    await expect(rejectedEvents.retry({ organization: other.id, ids: [1] }, settingUp, 1)).rejects.toThrow(
      "id 1",
    );
    expect(await rejectedEvents.retry({ organization: id, ids: [1] }, settingUp, 1)).toBe(1);
    expect(await rejectedEvents.retry({ organization: id }, settingUp, 1)).toBe(2);
    expect(await rejectedEvents.retry({ organization: id }, settingUp, 1)).toBe(0);
    await subject.reopen();
    const waiting = await rowsWaiting(subject);
    expect(waiting.map(([{ table, year, rows }]) => [table, year, rows])).toEqual([["events", 2024, 3]]);
    expect(waiting[0]?.[1]).toBe(lines.map((line) => `${line.replace(",20000,", ",20001,")}\n`).join(""));
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(nothing);
    expect(await subject.ledger.rejectedEvents.count({ organization: other.id })).toBe(1);
  });
}

function dropContract(subject: LedgerUnderTest): void {
  test("dropped events are taken out of what was acknowledged", async () => {
    const { id } = await subject.organization();
    const dayCounts = [{ organization: id, utcDay: 20_000, events: 3, checksum: 2 ** 32 - 1 }];
    await subject.ledger.transact(needs({}), () => writes(1_000, { dayCounts }));
    await reject(subject, "events", [eventLine(id, 2 ** 32 - 5), eventLine(id, 7)], 2024);
    expect(await subject.ledger.rejectedEvents.drop({}, settingUp, 1)).toBe(2);
    await subject.reopen();
    const [day] = await subject.ledger.dayCounts(id);
    expect([day?.events, day?.checksum]).toEqual([1, (2 ** 32 - 1 + 5 - 7) % 2 ** 32]);
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(nothing);
  });

  test("a row that names no organization belongs to none, and can be sent again and dropped", async () => {
    const { id } = await subject.organization();
    await reject(subject, "events", ["no JSON", "[]"]);
    expect(await subject.ledger.rejectedEvents.count({ organization: id })).toBe(0);
    expect(await subject.ledger.rejectedEvents.retry({ ids: [1] }, settingUp, 1)).toBe(1);
    expect((await rowsWaiting(subject)).map(([, body]) => body)).toEqual(["no JSON\n"]);
    expect(await subject.ledger.rejectedEvents.drop({}, settingUp, 1)).toBe(1);
  });
}

function peopleContract(subject: LedgerUnderTest): void {
  test("dropped users stay known as missing until a later version is there; their versions are not", async () => {
    const { id } = await subject.organization();
    const versions = [1, 3].map((version) => user(id, "ada", { version }));
    const [first] = versions;
    if (first === undefined) throw new Error("there is no first");
    await writePeople(subject.ledger, { users: [first] });
    await subject.ledger.transact(needs({}), () =>
      writes(1_000, { versionRows: [{ organization: id, rows: 2, versions: 4 }] }),
    );
    await reject(subject, "users", versions.map(userRow));
    await reject(
      subject,
      "user_versions",
      versions.map((one) => userVersionRow(one, { atMs: 1, traits: {}, account: null })),
    );
    const missing = { ...nothing, users: [{ number: 1, version: 3 }] };
    const asRejectedEvents = { ...missing, rejectedEvents: 4, userVersions: { rows: 2, versions: 4 } };
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(asRejectedEvents);
    expect((await subject.ledger.populations(id)).versionRows).toEqual({ rows: 2, versions: 4 });
    expect(await subject.ledger.rejectedEvents.drop({ organization: id }, settingUp, 1)).toBe(4);
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(missing);
    expect((await subject.ledger.populations(id)).versionRows).toEqual({ rows: 0, versions: 0 });
  });

  test("a rule names accounts by their numbers, as soon as they exist, and every change has a revision", async () => {
    const { id } = await subject.organization();
    const { exclusions } = subject.ledger;
    const rule = { kind: "account", key: "", value: "acme" } as const;
    expect(await exclusions.revisions()).toEqual([]);
    const added = await exclusions.add(id, rule, settingUp, 7);
    expect(await exclusions.add(id, rule, settingUp, 8)).toEqual(added);
    expect(await exclusions.rules(id)).toEqual({ revision: 1, rules: [rule], accounts: [] });
    await writePeople(subject.ledger, { accounts: [account(id, "acme")] });
    expect((await exclusions.rules(id)).accounts).toEqual([1]);
    await expect(exclusions.remove(id + 1, added.id, settingUp, 1)).rejects.toThrow(`id ${added.id}`);
    await exclusions.remove(id, added.id, settingUp, 1);
    await subject.reopen();
    expect(await subject.ledger.exclusions.revisions()).toEqual([{ organization: id, revision: 2 }]);
    expect(await subject.ledger.exclusions.rules(id)).toEqual({ revision: 2, rules: [], accounts: [] });
  });

  test("the ledger knows since when days are to be rebuilt, and up to when rows are loaded", async () => {
    const { id } = await subject.organization();
    const fresh = async () => subject.ledger.freshness(id);
    expect(await fresh()).toEqual({
      timezone: "Europe/Paris",
      loadedUptoMs: subject.nowMs,
      rebuildingSinceMs: null,
    });
    await append(subject.ledger, { table: "users", year: 0, schema: 1, rows: 1, body: "[1]\n" });
    const frozenAtMs = subject.nowMs;
    const [batch] = await subject.ledger.inbox.freeze(10);
    subject.nowMs += 50;
    await append(subject.ledger, { table: "users", year: 0, schema: 1, rows: 1, body: "[2]\n" });
    await subject.ledger.organizations.set(id, { timezone: "UTC" }, settingUp, 1);
    expect(await fresh()).toEqual({ timezone: "UTC", loadedUptoMs: null, rebuildingSinceMs: subject.nowMs });
    await subject.ledger.inbox.finish(batch?.number ?? 0, []);
    subject.nowMs += 50;
    await subject.ledger.rebuildBegun(id);
    expect(await fresh()).toEqual({
      timezone: "UTC",
      loadedUptoMs: frozenAtMs,
      rebuildingSinceMs: subject.nowMs - 50,
    });
    await expect(subject.ledger.freshness(id + 1)).rejects.toThrow("no organization");
  });
}

function outagesContract(subject: LedgerUnderTest): void {
  test("declared outages are kept in the order of days, once each", async () => {
    const { id } = await subject.organization();
    const { outages } = subject.ledger;
    const later = await outages.add(id, { fromDay: 20_010, toDay: 20_010 }, settingUp, 7);
    const earlier = await outages.add(id, { fromDay: 20_000, toDay: 20_004 }, settingUp, 8);
    expect(await outages.add(id, { fromDay: 20_010, toDay: 20_010 }, settingUp, 9)).toEqual(later);
    expect(earlier).toMatchObject({ fromDay: 20_000, toDay: 20_004, createdAtMs: 8 });
    expect(await outages.list(id)).toEqual([earlier, later]);
    const refused = (fromDay: number, toDay: number) =>
      expect(outages.add(id, { fromDay, toDay }, settingUp, 1)).rejects;
    await refused(20_001, 20_000).toThrow("2024-10-04 is before 2024-10-05");
    await refused(20_000, 20_366).toThrow("at most 366 days");
    expect(await outages.remove(id + 1, later.id, settingUp, 1)).toBe(false);
  });
}

function attributesContract(subject: LedgerUnderTest): void {
  test("dropped attributes of accounts are subtracted from their own count", async () => {
    const { id } = await subject.organization();
    const versions = [1, 2].map((version) => account(id, "acme", { version }));
    await writePeople(subject.ledger, { accounts: versions.slice(0, 1) });
    const acknowledged = { rows: 3, versions: 7 };
    await subject.ledger.transact(needs({}), () =>
      writes(1_000, { accountVersionRows: [{ organization: id, ...acknowledged }] }),
    );
    const rows = versions.map((one) => accountVersionRow(one, { atMs: 1, traits: { tier: "gold" } }));
    await reject(subject, "account_versions", rows);
    const accountVersions = { rows: 2, versions: 3 };
    const missing = { ...nothing, rejectedEvents: 2, accountVersions };
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(missing);
    expect((await subject.ledger.populations(id)).accountVersionRows).toEqual(acknowledged);
    expect(await subject.ledger.rejectedEvents.drop({ organization: id }, settingUp, 1)).toBe(2);
    expect(await subject.ledger.rejectedEvents.missing(id)).toEqual(nothing);
    expect(await subject.ledger.populations(id)).toMatchObject({
      versionRows: { rows: 0, versions: 0 },
      accountVersionRows: { rows: 1, versions: 4 },
    });
  });
}
