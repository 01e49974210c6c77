/** One transaction on one connection. */
import { queriesOn, type Sql, type Tx } from "./connect.ts";
import type { Statement } from "./statement.ts";

/**
 * Commits what `work` does and returns its result; when anything throws, nothing of it is kept. When the connection is
 * lost during the commit it throws, and whether it was committed is not known.
 * @param work may commit by `commitWith`, which saves a round trip
 * @param mode what stands after BEGIN
 */
export async function inTransaction<Result>(
  sql: Sql,
  work: (tx: Tx) => Promise<Result>,
  mode: "" | "ISOLATION LEVEL REPEATABLE READ READ ONLY" = "",
): Promise<Result> {
  const connection = await sql.pool.take();
  const tx = queriesOn(connection);
  try {
    const begin = mode === "" ? tx`BEGIN` : tx`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY`;
    // It is sent with the first statements. When it fails they are not run.
    begin.catch(() => undefined);
    const result = await work(tx);
    await begin;
    if (!committed.has(tx)) await commit(tx);
    return result;
  } catch (error) {
    await tx`ROLLBACK`.catch(() => connection.destroy());
    throw error;
  } finally {
    sql.pool.give(connection);
  }
}

/** A deadlock, or a transaction that could not be put in order with another: nothing was written. */
export const notInOrder: readonly string[] = ["40P01", "40001"];
/** A table that was there when its name was read. */
export const tableIsGone: readonly string[] = ["42P01"];
/** A lock was not free for as long as the transaction waits for locks. */
export const lockIsHeld: readonly string[] = ["55P03"];

/** Repeats `work` when PostgreSQL refuses it with one of these codes.
 * @param work gets the number of refusals so far */
export async function repeated<Result>(
  work: (refusals: number) => Promise<Result>,
  codes: readonly string[],
  { attempts = 5, pauseMs = 0 } = {},
): Promise<Result> {
  for (let refusals = 0; ; refusals += 1) {
    try {
      return await work(refusals);
    } catch (error) {
      if (refusals + 1 === attempts || !isOneOf(error, codes)) throw error;
      await Bun.sleep(pauseMs);
    }
  }
}

/** Does `work`, unless PostgreSQL refuses it with one of these codes. @returns undefined then */
export async function unless<Result>(
  codes: readonly string[],
  work: () => Promise<Result>,
): Promise<Result | undefined> {
  try {
    return await work();
  } catch (error) {
    if (isOneOf(error, codes)) return undefined;
    throw error;
  }
}

/** Whether PostgreSQL refused something with one of these codes. */
export function isOneOf(error: unknown, codes: readonly string[]): boolean {
  return error instanceof Error && "code" in error && codes.includes(String(error.code));
}

/** From here on a statement of the transaction waits for a lock no longer than this. */
export function waitAtMost(tx: Tx, ms: number) {
  return tx`SELECT set_config('lock_timeout', ${`${ms}ms`}, true)`;
}

const committed = new WeakSet<Tx>();

/** Commits together with a transaction's last statements, which are sent in their order: when one of them fails there is
 * no commit. */
export async function commitWith(tx: Tx, last: readonly Statement<readonly object[]>[]): Promise<void> {
  const sent = last.map((statement) => statement.execute());
  await Promise.all([...sent, commit(tx)]);
  committed.add(tx);
}

async function commit(tx: Tx): Promise<void> {
  const { command } = await tx`COMMIT`.execute();
  // A transaction in which a statement failed is rolled back by COMMIT, without an error.
  if (command !== "COMMIT") throw new Error(`PostgreSQL answered ${command} to COMMIT.`);
}
