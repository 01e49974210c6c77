/**
 * Items for the live view of other nodes, kept for some seconds in an unlogged table. A node may miss a row
 * that is committed after a row with a higher id. That is acceptable: no figure is counted from the live
 * view.
 */
import type { Sql } from "./connect.ts";

const keptSeconds = 10;

export const liveItemsTable = `
  CREATE UNLOGGED TABLE live_items (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    node uuid NOT NULL,
    at timestamptz NOT NULL DEFAULT clock_timestamp(),
    organization bigint NOT NULL,
    message text NOT NULL
  );
`;

/** A message of the live view, as JSON. */
export interface LiveItemRow {
  readonly organization: number;
  readonly message: string;
}

/** Publishes messages to the other nodes. */
export async function sendLive(sql: Sql, node: string, rows: readonly LiveItemRow[]): Promise<void> {
  await sql`
    INSERT INTO live_items (node, organization, message)
    SELECT ${node}::uuid, organization, message
    FROM json_to_recordset(${JSON.stringify(rows)}::text::json) AS given (organization bigint, message text)`;
}

/** Deletes old items. Called about once a second, also while no live view is open: the user of an item may be
 * erased. */
export async function forgetShown(sql: Sql): Promise<void> {
  await sql`DELETE FROM live_items WHERE at < clock_timestamp() - make_interval(secs => ${keptSeconds})`;
}

/** Messages of these organizations that other nodes have published.
 * @param after the last known id. Null: only the newest id is returned */
export async function newLive(
  sql: Sql,
  { node, after, organizations }: { node: string; after: number | null; organizations: readonly number[] },
): Promise<{ readonly rows: readonly LiveItemRow[]; readonly lastId: number }> {
  const [newest] = await sql<{ id: number }[]>`SELECT coalesce(max(id), 0)::bigint AS id FROM live_items`;
  const lastId = newest?.id ?? 0;
  // The table is empty after a crash of PostgreSQL.
  if (after === null || lastId <= after) return { rows: [], lastId };
  const rows = await sql<LiveItemRow[]>`
    SELECT organization, message FROM live_items
    WHERE id > ${after} AND id <= ${lastId} AND node <> ${node}::uuid
      AND organization = ANY (${[...organizations]}::bigint[]) ORDER BY id`;
  return { rows: [...rows], lastId };
}
