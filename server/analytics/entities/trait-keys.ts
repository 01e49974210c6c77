/** The names of all traits that users have, excluded users among them, or of all attributes of accounts: the
 * columns of their table. */
import type { Warehouse } from "../../warehouse/engine/warehouse.ts";

/** Names in alphabetical order, at most `limit`: of more, those that the most users or accounts have. */
export async function traitKeys(
  warehouse: Warehouse,
  {
    of,
    ...question
  }: { readonly organization: number; readonly limit: number; readonly of: "users" | "accounts" },
): Promise<string[]> {
  const rows = await warehouse.rows<{ key: string }>(sql(of), question);
  return rows.map(({ key }) => key).sort();
}

const sql = (of: "users" | "accounts") => `
  SELECT arrayJoin(JSONExtractKeys(traits)) AS key
  FROM ${of} FINAL WHERE organization = {organization:UInt32}
  GROUP BY key ORDER BY count() DESC, key LIMIT {limit:UInt32}
  SETTINGS allow_simdjson = 0`;
