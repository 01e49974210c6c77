/**
 * Takes one account out of every table. The engine itself is asked which tables have a column `account`. Rows
 * of the account itself are deleted, and rows that are computed from rows of several users. Properties of
 * billing events lose the account's id. Rows of its members stay, with 0 in place of the account:
 *
 *
 * - by a mutation, where the column is no part of the table's key, or an array of accounts;
 * - where it is, the rows are written again under 0 and then deleted. They are written in blocks under
 *   tokens, as the loader writes its batches, so that they are there once, however often a crash makes it
 *   begin anew: no row is deleted before all are written, so a block that is written again has the same rows,
 *   or its token is known.
 *
 * Everything that names the account has to be loaded before, and nothing may come after: drain the inbox
 * first.
 */
import type { FoundOfAccount } from "../../ledger/erasures.ts";
import { deduplicatedSelect } from "../engine/insert-frozen.ts";
import { noLimitOfTime, type Warehouse } from "../engine/warehouse.ts";
import { accountsOfRow, isBilling, namesAccount } from "../schema/billing-tables.ts";
import { carriedAccounts } from "../schema/snapshot-tables.ts";

interface WarehouseAccount {
  readonly organization: number;
  /** The account's number. */
  readonly account: number;
}

const ofAccount = "organization = {organization:UInt32} AND account = {account:UInt32}";
/** In a block that is written again. One user's rows are not parted. */
const rowsInABlock = 100_000;

/** Counts an account's rows, which the ledger records before they are changed here. */
export async function findAccount(
  warehouse: Warehouse,
  { organization, account }: WarehouseAccount,
): Promise<FoundOfAccount> {
  const [found] = await warehouse.rows<FoundOfAccount>(
    `SELECT count() AS events,
       (SELECT count() FROM account_versions WHERE ${ofAccount}) AS versions,
       (SELECT sum(version) FROM account_versions WHERE ${ofAccount}) AS versionSum,
       (SELECT uniqExact(day) FROM user_event_days WHERE ${ofAccount}) AS days
     FROM events WHERE ${ofAccount}`,
    { organization, account },
    noLimitOfTime,
  );
  return found ?? { events: 0, versions: 0, versionSum: 0, days: 0 };
}

/** Deletes an account, and takes it out of the rows of its members.
 * @param erasure its id, which names the blocks that are written
 * @param blockRows rows of several users that are written in one block */
export async function eraseAccount(
  warehouse: Warehouse,
  { organization, account }: WarehouseAccount,
  erasure: number,
  blockRows = rowsInABlock,
): Promise<void> {
  const whose = { organization, account };
  await takeFromBilling(warehouse, whose);
  for (const { table, isOfUsers, isInKey, hasArray, isComputed } of await tablesOfAccounts(warehouse)) {
    if (isComputed) {
      const has = `organization = {organization:UInt32} AND has(${accountsOfRow}, {account:UInt32})`;
      await warehouse.command(`ALTER TABLE ${table} DELETE WHERE ${has}`, whose, noLimitOfTime);
      continue;
    }
    if (isOfUsers && isInKey) await writeWithout(warehouse, table, whose, { erasure, blockRows });
    const change = isOfUsers && !isInKey ? "UPDATE account = 0" : "DELETE";
    const changes = [`${change} WHERE ${ofAccount}`, ...(hasArray ? [takeFromArray] : [])];
    await warehouse.command(`ALTER TABLE ${table} ${changes.join(", ")}`, whose, noLimitOfTime);
  }
}

const accounts = `\`${carriedAccounts}\``;
const takeFromArray = `
  UPDATE ${accounts} = arrayMap(each -> if(each = {account:UInt32}, toUInt32(0), each), ${accounts})
  WHERE organization = {organization:UInt32} AND has(${accounts}, {account:UInt32})`;

interface TableOfAccounts {
  readonly table: string;
  /** Whether its rows are a user's. */
  readonly isOfUsers: boolean;
  readonly isInKey: boolean;
  /** Whether rows have an array of accounts, too. */
  readonly hasArray: boolean;
  /** Whether its rows are computed from rows of several users. */
  readonly isComputed: boolean;
}

/** Values of the key `accountId`, as JSON.stringify writes them. */
const accountIds = String.raw`'"accountId":("(?:[^"\\\\]|\\\\.)*"|-?[0-9]+)'`;

/** Takes the account's id out of the properties by which billing events name their payer. The statement does
 * not have the id: the engine keeps the texts of mutations in files. */
async function takeFromBilling(warehouse: Warehouse, whose: WarehouseAccount): Promise<void> {
  const { organization, account } = whose;
  const parameters = { organization, account };
  const named = await warehouse.rows(
    `SELECT 1 FROM billing_events WHERE ${ofAccount} AND is_account_named LIMIT 1`,
    parameters,
    noLimitOfTime,
  );
  if (named.length === 0) return;
  for (const [table, isNamed] of [
    ["events", `${isBilling} AND ${namesAccount}`],
    ["billing_events", "is_account_named"],
  ] as const) {
    await warehouse.command(
      `ALTER TABLE ${table} UPDATE properties = replaceRegexpAll(properties, ${accountIds}, '"accountId":null')
       WHERE ${ofAccount} AND ${isNamed}`,
      parameters,
      noLimitOfTime,
    );
  }
}

function tablesOfAccounts(warehouse: Warehouse): Promise<TableOfAccounts[]> {
  return warehouse.rows<TableOfAccounts>(`
    SELECT columns.table AS table, max(columns.name = 'user') AS isOfUsers,
      max(columns.name = 'account' AND is_in_sorting_key) AS isInKey, max(columns.name = '${carriedAccounts}') AS hasArray,
      max(columns.name = '${accountsOfRow}') AS isComputed
    FROM system.columns AS columns
    INNER JOIN system.tables AS tables ON tables.database = columns.database AND tables.name = columns.table
    WHERE columns.database = currentDatabase() AND engine LIKE '%MergeTree'
    GROUP BY columns.table HAVING max(columns.name IN ('account', '${accountsOfRow}'))
    ORDER BY table`);
}

async function writeWithout(
  warehouse: Warehouse,
  table: string,
  whose: WarehouseAccount,
  { erasure, blockRows }: { readonly erasure: number; readonly blockRows: number },
): Promise<void> {
  const columns = await warehouse.rows<{ name: string; isInKey: boolean }>(
    `SELECT name, is_in_sorting_key AS isInKey FROM system.columns
     WHERE database = currentDatabase() AND table = {table:String} ORDER BY position`,
    { table },
  );
  const names = columns.map(({ name }) => name);
  const keys = columns.filter(({ isInKey }) => isInKey).map(({ name }) => name);
  const values = columns.map(({ name, isInKey }) =>
    name === "account" ? "toUInt32(0)" : isInKey ? name : `sum(${name})`,
  );
  // Summed, because a merge may have summed some rows since they were written last, and a block must not
  // change.
  const rows = await warehouse.rows<{ user: number; rows: number }>(
    `SELECT user, uniqExact(${keys.join(", ")}) AS rows FROM ${table} WHERE ${ofAccount} GROUP BY user ORDER BY user`,
    { ...whose },
    noLimitOfTime,
  );
  for (const { fromUser, toUser } of blocksOf(rows, blockRows)) {
    await warehouse.command(
      `INSERT INTO ${table} (${names.join(", ")})
       SETTINGS ${deduplicatedSelect(`erasure-${erasure}-${table}-${fromUser}`)}
       SELECT ${values.join(", ")} FROM ${table}
       WHERE ${ofAccount} AND user BETWEEN {fromUser:UInt32} AND {toUser:UInt32}
       GROUP BY ${keys.join(", ")} ORDER BY ALL`,
      { ...whose, fromUser, toUser },
      noLimitOfTime,
    );
  }
}

/** Users whose rows are written in one block. */
function blocksOf(users: readonly { readonly user: number; readonly rows: number }[], blockRows: number) {
  const blocks: { fromUser: number; toUser: number; rows: number }[] = [];
  for (const { user, rows } of users) {
    const last = blocks.at(-1);
    if (last === undefined || last.rows + rows > blockRows) {
      blocks.push({ fromUser: user, toUser: user, rows });
      continue;
    }
    last.toUser = user;
    last.rows += rows;
  }
  return blocks;
}
