/** Races of nodes that share a PostgreSQL. No call goes on before all have begun. */
import { expect } from "bun:test";
import { Refusal } from "../../contract/refusal.ts";
import type { Sql, Tx } from "../../server/ledger/postgres/connect.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";
import { until } from "../until.ts";

/** Ends the transaction that held the others up, so that nothing is left of it. */
class HeldUp extends Error {}

/** Begins every call while `hold` blocks them all, and releases them when each of them waits.
 * @param admin a pool of two connections, one for `hold` and one that checks which calls wait */
export async function begunTogether<Result>(
  admin: Sql,
  hold: (tx: Tx) => PromiseLike<unknown>,
  works: readonly (() => Promise<Result>)[],
): Promise<PromiseSettledResult<Result>[]> {
  let begun: Promise<PromiseSettledResult<Result>[]> | undefined;
  const held = inTransaction(admin, async (tx) => {
    // However long it takes until all of them wait.
    await tx`SET LOCAL idle_in_transaction_session_timeout = 0`;
    await hold(tx);
    begun = Promise.allSettled(works.map((work) => work()));
    await untilWaiting(admin, works.length);
    throw new HeldUp();
  });
  await expect(held).rejects.toBeInstanceOf(HeldUp);
  if (begun === undefined) throw new Error("nothing was begun");
  return begun;
}

async function untilWaiting(admin: Sql, nodes: number): Promise<void> {
  await until(
    "all nodes wait for a lock",
    async () => {
      const [found] = await admin<{ waiting: number }[]>`
        SELECT count(*) AS waiting FROM pg_stat_activity
        WHERE datname = current_database() AND wait_event_type = 'Lock'`;
      return found?.waiting;
    },
    (waiting) => waiting === nodes,
  );
}

/** The results of the calls that succeeded. */
export function fulfilled<Result>(results: readonly PromiseSettledResult<Result>[]): Result[] {
  return results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
}

/** The messages of the calls that were refused. Any other error fails the test. */
export function refusals(results: readonly PromiseSettledResult<unknown>[]): string[] {
  return results.flatMap((result) => {
    if (result.status === "fulfilled") return [];
    expect(result.reason).toBeInstanceOf(Refusal);
    return [(result.reason as Refusal).message];
  });
}
