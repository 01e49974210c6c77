/**
 * One SQLite transaction around synchronous work. bun:sqlite's own `transaction()` would commit an
 * asynchronous callback before it ends, so the work here cannot return a promise.
 */
import type { Database } from "bun:sqlite";

/** What synchronous work may return. */
export type NotAPromise<Result> = Result extends PromiseLike<unknown> ? never : Result;

/**
 * Commits what `work` does and returns its result; when anything throws, the commit itself included, nothing
 * of it is kept and the error is passed on.
 */
export function inTransaction<Result>(db: Database, work: () => NotAPromise<Result>): Result {
  db.query("BEGIN IMMEDIATE").run();
  try {
    const result = work();
    db.query("COMMIT").run();
    return result;
  } catch (error) {
    // A full disk makes SQLite roll back by itself, and a second ROLLBACK would hide the first error.
    if (db.inTransaction) db.query("ROLLBACK").run();
    throw error;
  }
}
