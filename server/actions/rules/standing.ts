/** Accounts of which no alert is made: without members, or with excluded members alone. */
import type { ScoredOrganization } from "../../scoring/scoring.ts";
import { accountsLeftOut, type Warehouse } from "../../warehouse/warehouse.ts";

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
