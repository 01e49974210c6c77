/** The names of all traits that users have, excluded users among them: the columns of a table of users. */
import type { Warehouse } from "../../warehouse/warehouse.ts";

/** Names in alphabetical order, at most `limit`: of more, those that the most users have. */
export async function traitKeys(
  warehouse: Warehouse,
  question: { readonly organization: number; readonly limit: number },
): Promise<string[]> {
  const rows = await warehouse.rows<{ key: string }>(sql, { ...question });
  return rows.map(({ key }) => key).sort();
}

const sql = `
  SELECT arrayJoin(JSONExtractKeys(traits)) AS key
  FROM users FINAL WHERE organization = {organization:UInt32}
  GROUP BY key ORDER BY count() DESC, key LIMIT {limit:UInt32}
  SETTINGS allow_simdjson = 0`;
