/** The mark of an unfinished move: a table that exists until the move is finished. Until then the moved
 * ledger's warehouse is not complete. */
import { Refusal } from "../../../contract/refusal.ts";
import type { Queries, Tx } from "./connect.ts";

/** Sets the mark, in the transaction that moves the ledger. */
export async function beginMoved(tx: Tx): Promise<void> {
  await tx`CREATE TABLE unfinished_move (at timestamptz NOT NULL DEFAULT clock_timestamp())`;
}

/** Removes the mark. After it nodes may open the ledger. */
export async function finishMoved(queries: Queries): Promise<void> {
  await queries`DROP TABLE IF EXISTS unfinished_move`;
}

/** Whether a move into this ledger was not finished. */
export async function isUnfinished(queries: Queries): Promise<boolean> {
  const [found] = await queries<{ there: boolean }[]>`
    SELECT to_regclass('unfinished_move') IS NOT NULL AS there`;
  return found?.there ?? false;
}

/** @throws Refusal when a move into this ledger was not finished. */
export async function refuseUnfinished(queries: Queries): Promise<void> {
  if (await isUnfinished(queries)) {
    throw new Refusal(
      "rekindle migrate-to was not finished on this PostgreSQL: run it again, or name another database in DATABASE_URL.",
    );
  }
}
