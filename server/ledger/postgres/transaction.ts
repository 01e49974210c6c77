/** One transaction on one connection. */
import { queriesOn, type Sql, type Tx } from "./connect.ts";
import type { Statement } from "./statement.ts";

/**
 * Commits the writes of `work` and returns its result. If an error is thrown, the transaction is rolled back.
 * If the connection is lost during the commit, it throws, and it is unknown whether the transaction was
 * committed.
 * @param work may commit by `commitWith`, which saves a round trip
 * @param mode the text after BEGIN
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
    // It is sent with the first statements. If it fails, the server does not run them.
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

/** A deadlock, or a serialization failure: nothing was written. */
export const notInOrder: readonly string[] = ["40P01", "40001"];
/** The table was dropped after its name was read. */
export const tableIsGone: readonly string[] = ["42P01"];
/** A lock was not free in the time for which the transaction waits. */
export const lockIsHeld: readonly string[] = ["55P03"];

/** Repeats `work` if PostgreSQL refuses it with one of these codes.
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

/** Runs `work`. @returns its result. Undefined if PostgreSQL refuses it with one of these codes */
export async function undefinedIfRefused<Result>(
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

/** Limits how long the later statements of the transaction wait for a lock. */
export function waitAtMost(tx: Tx, ms: number) {
  return tx`SELECT set_config('lock_timeout', ${`${ms}ms`}, true)`;
}

const committed = new WeakSet<Tx>();

/** Commits together with a transaction's last statements. They are sent in their order. If one of them fails,
 * there is no commit. */
export async function commitWith(tx: Tx, last: readonly Statement<readonly object[]>[]): Promise<void> {
  const sent = last.map((statement) => statement.execute());
  await Promise.all([...sent, commit(tx)]);
  committed.add(tx);
}

async function commit(tx: Tx): Promise<void> {
  const { command } = await tx`COMMIT`.execute();
  // After a failed statement, COMMIT rolls back without an error.
  if (command !== "COMMIT") throw new Error(`PostgreSQL answered ${command} to COMMIT.`);
}
