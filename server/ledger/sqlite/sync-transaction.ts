/**
 * One SQLite transaction around synchronous work. bun:sqlite's own `transaction()` would commit an
 * asynchronous callback before it ends, so the work here cannot return a promise.
 */
import type { Database } from "bun:sqlite";

/** The result of synchronous work: anything except a promise. */
export type NotAPromise<Result> = Result extends PromiseLike<unknown> ? never : Result;

/**
 * Commits the writes of `work` and returns its result. If `work` or the commit throws, the transaction is
 * rolled back and the error is thrown again.
 */
export function inTransaction<Result>(db: Database, work: () => NotAPromise<Result>): Result {
  db.query("BEGIN IMMEDIATE").run();
  try {
    const result = work();
    db.query("COMMIT").run();
    return result;
  } catch (error) {
    // On a full disk SQLite rolls back by itself, and a second ROLLBACK would hide the first error.
    if (db.inTransaction) db.query("ROLLBACK").run();
    throw error;
  }
}
