/** The few expressions that SQLite and PostgreSQL spell differently. */
import { type Fragment, JsonRows, part, perEngine, run, type Statement } from "./sql.ts";

/** Locks the selected rows until the commit. SQLite has one writer at a time and needs no locks of rows. */
export const forUpdate = perEngine({ sqlite: "", postgres: "FOR UPDATE" });
/** As `forUpdate`. Rows that only refer to the locked ones are still written. */
export const forNoKeyUpdate = perEngine({ sqlite: "", postgres: "FOR NO KEY UPDATE" });
/** Keeps the selected rows from being deleted until the commit. */
export const forKeyShare = perEngine({ sqlite: "", postgres: "FOR KEY SHARE" });
/** Locks the selected rows and leaves out those that another transaction has locked. */
export const skipLocked = perEngine({ sqlite: "", postgres: "FOR UPDATE SKIP LOCKED" });

/** The greatest of several values. Where one is null, SQLite returns null and PostgreSQL passes over it. */
export const greatest = perEngine({ sqlite: "max", postgres: "greatest" });
/** The least of several values; null as with `greatest`. */
export const least = perEngine({ sqlite: "min", postgres: "least" });

/** Takes a lock of PostgreSQL that is no row's: see `postgres/client/locks.ts`. */
export function advisoryLock(number: number): Statement<number> {
  return run`${perEngine({ sqlite: "", postgres: `SELECT pg_advisory_xact_lock(${number})` })}`;
}

/** Objects as a table that is named `given`, with the same names of columns. */
export function records(
  objects: readonly object[],
  columns: Readonly<Record<string, "bigint" | "text">>,
): Fragment {
  const names = Object.keys(columns);
  const [before, after] = [
    perEngine({
      sqlite: `(SELECT ${names.map((name) => `value ->> '${name}' AS "${name}"`).join(", ")} FROM json_each(`,
      postgres: "json_to_recordset(CAST(",
    }),
    perEngine({
      sqlite: ")) AS given",
      postgres: ` AS json)) AS given (${names.map((name) => `"${name}" ${columns[name]}`).join(", ")})`,
    }),
  ];
  return part`${before}${new JsonRows(objects)}${after}`;
}

/** Locks of stores that are no row's. `postgres/client/locks.ts` has their order. */
export const storeLocks = {
  /** Held by transactions that add warnings or delete those of a user, after all other locks. */
  warnings: 7_401_003,
  /** Held by transactions that create the first person or a link for that person. */
  claim: 7_401_020,
} as const;

/** Whether an engine refused a row because another one, which may have been committed meanwhile, has a value that is unique. */
export function isTaken(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return error.code === "23505" || error.code === "SQLITE_CONSTRAINT_UNIQUE";
}

/** Whether an engine refuses a row however often it is tried: a value does not fit its type, or breaks a constraint. */
export function isRefusedForGood(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return /^2[23]|^SQLITE_CONSTRAINT/.test(String(error.code));
}
