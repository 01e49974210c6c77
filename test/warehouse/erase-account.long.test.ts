/** Erasure of an account from every table of the warehouse, while its members and their events stay. The file
 * also tests the erasure of a whole organization. */
import { expect, test } from "bun:test";
import {
  accountRow,
  accountVersionRow,
  type EventRow,
  userRow,
  userVersionRow,
} from "../../server/ledger/rules/warehouse-rows.ts";
import type { Warehouse } from "../../server/warehouse/engine/warehouse.ts";
import { checkOrganization } from "../../server/warehouse/upkeep/check.ts";
import { deleteOrganization } from "../../server/warehouse/upkeep/delete-organization.ts";
import { eraseAccount, findAccount } from "../../server/warehouse/upkeep/erase-account.ts";
import { account, user } from "../ledger/writes.ts";
import {
  insertEvents,
  randomEvents,
  randomOfThisRun,
  recount,
  rollupsOf,
  WarehouseUnderTest,
} from "./support.ts";

const subject = new WarehouseUnderTest();
const storedDay = ({ day }: EventRow) => day;
const without = (events: readonly EventRow[], erased: number) =>
  events.map((one) => (one.account === erased ? { ...one, account: 0 } : one));

async function filled(events: number) {
  const organization = subject.newOrganization();
  const all = randomEvents(randomOfThisRun("erase account"), organization, events);
  await insertEvents(subject, all, 3);
  const accounts = [1, 2].map((number) => account(organization, `a${number}`, { number }));
  const users = [1, 2, 3].map((number) =>
    user(organization, `u${number}`, { number, account: number === 3 ? 2 : 1 }),
  );
  await subject.insert("accounts", accounts.map(accountRow));
  await subject.insert("users", users.map(userRow));
  const versions = users.map((one) => userVersionRow(one, { atMs: 1_000, traits: {}, account: one.account }));
  await subject.insert("user_versions", versions);
  const attributes = { atMs: 1_000, traits: { tier: "gold" } };
  await subject.insert(
    "account_versions",
    accounts.flatMap((one) => [1, 3].map((version) => accountVersionRow({ ...one, version }, attributes))),
  );
  return { organization, all };
}

/** The accounts that rows of a table name. */
async function named(organization: number, table: string): Promise<unknown> {
  const rows = await subject.warehouse.rows<{ account: number | null; rows: number }>(
    `SELECT account, count() AS rows FROM ${table} WHERE organization = {organization:UInt32}
     GROUP BY account ORDER BY account`,
    { organization },
  );
  return rows.map(({ account: of, rows: count }) => [of, count]);
}

test("rows of members stay, in no account, and other organizations and accounts as they were", async () => {
  const [{ organization, all }, other] = [await filled(1_500), await filled(300)];
  const found = await findAccount(subject.warehouse, { organization, account: 1 });
  const own = all.filter((one) => one.account === 1);
  const days = new Set(own.map(storedDay)).size;
  expect(found).toEqual({ events: own.length, versions: 2, versionSum: 4, days });
  await eraseAccount(subject.warehouse, { organization, account: 1 }, 7);
  expect(await rollupsOf(subject, organization)).toEqual(recount(without(all, 1), storedDay));
  expect(await rollupsOf(subject, other.organization)).toEqual(recount(other.all, storedDay));
  expect(await named(organization, "accounts")).toEqual([[2, 1]]);
  expect(await named(organization, "account_versions")).toEqual([[2, 2]]);
  expect(await named(other.organization, "account_versions")).toEqual([
    [1, 2],
    [2, 2],
  ]);
  for (const table of ["users", "user_versions"]) {
    expect(await named(organization, table)).toEqual([
      [0, 2],
      [2, 1],
    ]);
    expect(await named(other.organization, table)).toEqual([
      [1, 2],
      [2, 1],
    ]);
  }
  expect(await named(organization, "events")).toEqual([
    [0, all.filter((one) => one.account !== 2).length],
    [2, all.filter((one) => one.account === 2).length],
  ]);
});

/** Fails at the n-th statement that changes something, before or after it was done. */
function failingAt(warehouse: Warehouse, place: number, isDone: boolean): Warehouse {
  let changes = 0;
  return {
    topology: warehouse.topology,
    rows: (...query) => warehouse.rows(...query),
    stream: (...query) => warehouse.stream(...query),
    insertFrozen: (rows) => warehouse.insertFrozen(rows),
    insertInto: (...rows) => warehouse.insertInto(...rows),
    close: () => warehouse.close(),
    command: async (...query) => {
      changes += 1;
      if (changes !== place) return warehouse.command(...query);
      if (isDone) await warehouse.command(...query);
      throw new Error("killed");
    },
  };
}

test("a crash at any statement, and what was written before, doubles and loses nothing", async () => {
  const { organization, all } = await filled(600);
  const whose = { organization, account: 1 };
  let crashes = 0;
  for (let place = 1; ; place += 1) {
    let isCrashed = false;
    for (const isDone of [false, true]) {
      // A repeated attempt has the same erasure. Blocks of 80 rows make several of them.
      const crashing = failingAt(subject.warehouse, place, isDone);
      isCrashed = await eraseAccount(crashing, whose, 8, 80).then(
        () => false,
        () => true,
      );
      if (isCrashed) crashes += 1;
    }
    if (!isCrashed) break;
  }
  expect(crashes).toBeGreaterThan(10);
  expect(await rollupsOf(subject, organization)).toEqual(recount(without(all, 1), storedDay));
  const acknowledged = {
    dayCounts: [],
    populations: {
      users: 3,
      userVersions: 3,
      accounts: 1,
      accountVersions: 1,
      versionRows: { rows: 3, versions: 3 },
      accountVersionRows: { rows: 2, versions: 4 },
    },
    missing: undefined,
    eventsFromDay: null,
  };
  const differences = await checkOrganization(subject.warehouse, organization, acknowledged as never);
  expect(differences.filter(({ kind }) => kind !== "events")).toEqual([]);
});

test("of a deleted organization no table has a row, and another has all of its own", async () => {
  const [{ organization }, other] = [await filled(600), await filled(300)];
  const tables = await subject.warehouse.rows<{ table: string }>(
    "SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND name = 'organization'",
  );
  expect(tables.length).toBeGreaterThan(10);
  await deleteOrganization(subject.warehouse, organization);
  for (const { table } of tables) {
    expect([table, await subject.count(table, organization)]).toEqual([table, 0]);
  }
  expect(await rollupsOf(subject, other.organization)).toEqual(recount(other.all, storedDay));
});
