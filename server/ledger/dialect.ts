/** The few expressions that differ between SQLite and PostgreSQL. */
import {
  type Composed,
  type Dialect,
  Fragment,
  JsonRows,
  part,
  perEngine,
  run,
  type Statement,
} from "./sql.ts";

/** Locks the selected rows until the commit. SQLite has one writer at a time and needs no locks of rows. */
export const forUpdate = perEngine({ sqlite: "", postgres: "FOR UPDATE" });
/** As `forUpdate`. Other transactions can still write rows that refer to the locked ones. */
export const forNoKeyUpdate = perEngine({ sqlite: "", postgres: "FOR NO KEY UPDATE" });
/** No other transaction deletes the selected rows until the commit. */
export const forKeyShare = perEngine({ sqlite: "", postgres: "FOR KEY SHARE" });
/** Locks the selected rows, without those that another transaction has locked. */
export const skipLocked = perEngine({ sqlite: "", postgres: "FOR UPDATE SKIP LOCKED" });
/** As `skipLocked`. Other transactions can still write rows that refer to the locked ones. */
export const skipLockedRows = perEngine({ sqlite: "", postgres: "FOR NO KEY UPDATE SKIP LOCKED" });

/** The greatest of several values. If one is null, SQLite returns null and PostgreSQL ignores it. */
export const greatest = perEngine({ sqlite: "max", postgres: "greatest" });
/** The least of several values. Null has the same effect as with `greatest`. */
export const least = perEngine({ sqlite: "min", postgres: "least" });

/** Takes an advisory lock of PostgreSQL: see `postgres/locks.ts`. */
export function advisoryLock(number: number): Statement<number> {
  return run`${perEngine({ sqlite: "", postgres: `SELECT pg_advisory_xact_lock(${number})` })}`;
}

/** Takes an advisory lock of PostgreSQL in its shared mode: other transactions may share it. */
export function advisoryLockShared(number: number): Statement<number> {
  return run`${perEngine({ sqlite: "", postgres: `SELECT pg_advisory_xact_lock_shared(${number})` })}`;
}

/** The position of a text in another one, from 1. 0 if it is not there: `` positionIn}(text, part) ``. */
export const positionIn = perEngine({ sqlite: "instr", postgres: "strpos" });

/** The later statements of the transaction use indexes, independent of the size of a table when they were
 * planned: see `byIndex` in `postgres/write/organization-locks.ts`. */
export function byIndex(): Statement<number> {
  const settings = ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"];
  const off = settings.map((name) => `set_config('${name}', 'off', true)`).join(", ");
  return run`${perEngine({ sqlite: "", postgres: `SELECT ${off}` })}`;
}

/** A part of a statement that only SQLite has, with its values. */
export const onSqlite = (fragment: Fragment): Fragment => new OnlyOn("sqlite", fragment);
/** A part of a statement that only PostgreSQL has. SQLite does not run a statement that is empty without
 * it. */
export const onPostgres = (fragment: Fragment): Fragment => new OnlyOn("postgres", fragment);

class OnlyOn extends Fragment {
  readonly #only: Dialect;

  constructor(only: Dialect, fragment: Fragment) {
    super({ sqlite: ["", ""], postgres: ["", ""] }, [fragment]);
    this.#only = only;
  }

  override appendTo(statement: Composed, dialect: Dialect): void {
    if (dialect === this.#only) super.appendTo(statement, dialect);
  }
}

/** Objects as a table `given`, with the same names of columns. */
export function records(
  objects: readonly object[],
  columns: Readonly<Record<string, "bigint" | "double precision" | "text">>,
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

/** Texts as a table `given` with the column `text`. */
export function texts(all: readonly string[]): Fragment {
  return records(
    all.map((text) => ({ text })),
    { text: "text" },
  );
}

/** Ids as a table `given` with the column `id`. */
export function ids(all: readonly number[]): Fragment {
  return records(
    all.map((id) => ({ id })),
    { id: "bigint" },
  );
}

/** Advisory locks of stores. `postgres/locks.ts` has their order. */
export const storeLocks = {
  /** Writers of rows share it until the commit. While a transaction holds it alone, no writer is under
   * way. */
  inbox: 7_401_002,
  /** Held by transactions that add warnings or delete those of a user, after all other locks. */
  warnings: 7_401_003,
  /** Held by transactions that create the first person or a link for that person. */
  claim: 7_401_020,
} as const;

/** Whether an engine rejected a row because another row has a unique value. The other row may have been
 * committed meanwhile. */
export function isTaken(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return error.code === "23505" || error.code === "SQLITE_CONSTRAINT_UNIQUE";
}

/** Whether an engine will always reject a row: a value does not fit its type, or breaks a constraint. */
export function isRefusedForGood(error: unknown): boolean {
  if (!(error instanceof Error && "code" in error)) return false;
  return /^2[23]|^SQLITE_CONSTRAINT/.test(String(error.code));
}
