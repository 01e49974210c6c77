/** On which days a user did anything for the first and the last time. One key of a rollup. */
import type { Warehouse } from "../warehouse/warehouse.ts";

/** Days since 1970-01-01, in the organization's timezone. */
export interface UserSpan {
  readonly firstDay: number;
  readonly lastDay: number;
}

/** The span of a user's events; undefined for a user without any. */
export async function userSpan(
  warehouse: Warehouse,
  { organization, user }: { readonly organization: number; readonly user: number },
): Promise<UserSpan | undefined> {
  const [span] = await warehouse.rows<UserSpan>(sql, { organization, user });
  return span;
}

const sql = `
  SELECT toInt32(min(first_day)) AS firstDay, toInt32(max(last_day)) AS lastDay
  FROM user_spans WHERE organization = {organization:UInt32} AND user = {user:UInt32}
  GROUP BY user`;
