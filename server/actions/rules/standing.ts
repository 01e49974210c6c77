/** Users and accounts of which no alert is made: excluded users, and accounts without members or with excluded members alone. */
import type { EntityKind, ScoredOrganization } from "../../scoring/scoring.ts";
import { accountsLeftOut, isExcluded, type Warehouse } from "../../warehouse/warehouse.ts";

export interface Absent {
  /** By account: the first day at whose start it had no members. */
  readonly goneSince: ReadonlyMap<number, number>;
  /** All their members are excluded now. */
  readonly excluded: ReadonlySet<number>;
}

/** Reads both. An account whose members were all erased counts as one that never had any. */
export async function absentAccounts(
  warehouse: Warehouse,
  { id, zone }: Pick<ScoredOrganization, "id" | "zone">,
): Promise<Absent> {
  const organization = id;
  const gone = await warehouse.rows<{ account: number; leftMs: number }>(
    `SELECT account, leftMs
     FROM (
       SELECT account FROM accounts FINAL WHERE organization = {organization:UInt32} AND account NOT IN (
         SELECT account FROM users FINAL WHERE organization = {organization:UInt32})) AS alone
     LEFT JOIN (
       SELECT move.1 AS account, max(move.2) AS leftMs
       FROM (
         SELECT arrayJoin(arrayZip(arrayPopBack(accounts), arrayPopFront(times))) AS move
         FROM (
           SELECT arraySort(groupArray((toUnixTimestamp64Milli(at), version, assumeNotNull(account)))) AS stays,
             stays.1 AS times, stays.3 AS accounts
           FROM user_versions WHERE organization = {organization:UInt32} AND isNotNull(account) GROUP BY user))
       GROUP BY account) AS leaving USING (account)`,
    { organization },
  );
  const excluded = await warehouse.rows<{ account: number }>(`SELECT account FROM ${accountsLeftOut}`, {
    organization,
  });
  return {
    goneSince: new Map(
      gone.map(({ account, leftMs }) => [
        account,
        leftMs === 0 ? Number.NEGATIVE_INFINITY : zone.dayOf(leftMs) + 1,
      ]),
    ),
    excluded: new Set(excluded.map(({ account }) => account)),
  };
}

/** Those of the users who are excluded, or of the accounts whose members all are. @throws WarehouseError */
export async function excludedAmong(
  warehouse: Warehouse,
  organization: number,
  kind: EntityKind,
  numbers: readonly number[],
): Promise<readonly number[]> {
  if (numbers.length === 0) return [];
  const rows = await warehouse.rows<{ number: number }>(
    `SELECT number FROM (SELECT arrayJoin({numbers:Array(UInt32)}) AS number)
     WHERE ${kind === "user" ? isExcluded("number") : `number IN ${accountsLeftOut}`}`,
    { organization, numbers },
  );
  return rows.map(({ number }) => number);
}
