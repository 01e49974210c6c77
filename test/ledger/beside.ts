/** The database of a ledger, as another process has it open: for faults, and to compare every row. */
import { Database } from "bun:sqlite";
import { openPool, type Sql } from "../../server/ledger/postgres/connect.ts";

/** Which commits fail: those that add an entry to the audit log, that update one, or that write to any other
 * table. */
export type Fault = "entry" | "entry updated" | "change";

interface Table {
  readonly name: string;
}

interface Row extends Table {
  readonly row: string;
}

/** Every row by its table. A table without rows is left out. */
export type Rows = Readonly<Record<string, readonly string[]>>;

export interface Beside {
  /** All tables' rows as text, sorted. */
  rows(): Promise<Rows>;
  /** From now on some commits fail, at the commit itself. */
  failCommits(fault: Fault): Promise<void>;
  /** Commits succeed again. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/** The name of what makes COMMIT fail: a constraint that is checked there. */
const failing = "commits_fail";

export class BesideSqlite implements Beside {
  readonly #db: Database;

  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.run("PRAGMA busy_timeout = 5000");
  }

  async rows(): Promise<Rows> {
    return byTable(
      this.#tables().flatMap(({ name }) =>
        this.#db
          .query<object, []>(`SELECT * FROM "${name}"`)
          .all()
          .map((row) => ({ name, row: JSON.stringify(row) })),
      ),
    );
  }

  async failCommits(fault: Fault): Promise<void> {
    const triggers = tablesOf(fault, this.#tables()).flatMap((table) =>
      writingsOf(fault).map(
        (writing) =>
          `CREATE TRIGGER ${failing}_${table}_${writing} AFTER ${writing} ON "${table}"
           BEGIN INSERT INTO ${failing} VALUES (-1); END;`,
      ),
    );
    this.#db.run(
      `BEGIN;
       CREATE TABLE ${failing} (id INTEGER REFERENCES organizations (id) DEFERRABLE INITIALLY DEFERRED);
       ${triggers.join("\n")}
       COMMIT`,
    );
  }

  async repair(): Promise<void> {
    const triggers = this.#db
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_schema WHERE type = 'trigger' AND name LIKE '${failing}%'`,
      )
      .all();
    this.#db.run(
      `BEGIN;
       ${triggers.map(({ name }) => `DROP TRIGGER "${name}";`).join("\n")}
       DROP TABLE ${failing};
       COMMIT`,
    );
  }

  async close(): Promise<void> {
    this.#db.close();
  }

  #tables(): readonly Table[] {
    return this.#db
      .query<Table, []>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '${failing}'`,
      )
      .all();
  }
}

export class BesidePostgres implements Beside {
  readonly #sql: Sql;

  constructor(url: string) {
    this.#sql = openPool(url, { connections: 1 });
  }

  async rows(): Promise<Rows> {
    const sql = this.#sql;
    const reads = (await this.#tables()).map(
      ({ name }) =>
        sql<Row[]>`SELECT ${name} AS name, to_jsonb(stored)::text AS "row" FROM ${sql(name)} AS stored`,
    );
    return byTable((await Promise.all(reads)).flat());
  }

  async failCommits(fault: Fault): Promise<void> {
    const triggers = tablesOf(fault, await this.#tables()).map(
      (table) =>
        `CREATE CONSTRAINT TRIGGER ${failing} AFTER ${writingsOf(fault).join(" OR ")} ON "${table}"
         DEFERRABLE INITIALLY DEFERRED FOR EACH ROW EXECUTE FUNCTION ${failing}();`,
    );
    await this.#sql.unsafe(
      `CREATE FUNCTION ${failing}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a fault at commit'; END $$;
       ${triggers.join("\n")}`,
    );
  }

  async repair(): Promise<void> {
    await this.#sql.unsafe(`DROP FUNCTION ${failing} CASCADE`);
  }

  async close(): Promise<void> {
    await this.#sql.end();
  }

  #tables(): PromiseLike<readonly Table[]> {
    return this.#sql<Table[]>`SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`;
  }
}

function tablesOf(fault: Fault, tables: readonly Table[]): readonly string[] {
  const log = "audit_log";
  return fault === "change" ? tables.map(({ name }) => name).filter((name) => name !== log) : [log];
}

function writingsOf(fault: Fault): readonly string[] {
  if (fault === "change") return ["INSERT", "UPDATE", "DELETE"];
  return [fault === "entry" ? "INSERT" : "UPDATE"];
}

/** Rows as text, by their table. */
function byTable(rows: readonly Row[]): Rows {
  const groups = Map.groupBy(rows, ({ name }) => name);
  return Object.fromEntries(
    [...groups].map(([name, group]) => [name, group.map(({ row }) => row).toSorted()]),
  );
}
