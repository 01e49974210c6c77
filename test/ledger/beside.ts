/** The database of a ledger, as another process has it open: for faults, and to compare every row. */
import { Database } from "bun:sqlite";
import { openPool, type Sql } from "../../server/ledger/postgres/connect.ts";

/** How a change writes its entry in the audit log. */
type Writing = "INSERT" | "UPDATE";

/** Every row by its table. */
export type Rows = Readonly<Record<string, readonly string[]>>;

export interface Beside {
  /** All tables, each with its rows as text, in an order of their own. */
  rows(): Promise<Rows>;
  /** From now on commits fail, at the commit itself, which write an entry of the audit log in this way. */
  failCommits(writing: Writing): Promise<void>;
  /** Commits succeed again. */
  repair(): Promise<void>;
  close(): Promise<void>;
}

/** A constraint that is looked at by COMMIT makes it fail. */
const fault = "commits_fail";

export class BesideSqlite implements Beside {
  readonly #db: Database;

  constructor(file: string) {
    this.#db = new Database(file);
    this.#db.run("PRAGMA busy_timeout = 5000");
  }

  async rows(): Promise<Rows> {
    const tables = this.#db
      .query<{ name: string }, []>(
        `SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' AND name <> '${fault}'`,
      )
      .all();
    return rowsOf(tables, async (name) => this.#db.query<object, []>(`SELECT * FROM "${name}"`).all());
  }

  async failCommits(writing: Writing): Promise<void> {
    this.#db.run(
      `CREATE TABLE ${fault} (id INTEGER REFERENCES organizations (id) DEFERRABLE INITIALLY DEFERRED)`,
    );
    this.#db.run(
      `CREATE TRIGGER of_${fault} AFTER ${writing} ON audit_log BEGIN INSERT INTO ${fault} VALUES (-1); END`,
    );
  }

  async repair(): Promise<void> {
    this.#db.run(`DROP TRIGGER of_${fault}`);
    this.#db.run(`DROP TABLE ${fault}`);
  }

  async close(): Promise<void> {
    this.#db.close();
  }
}

export class BesidePostgres implements Beside {
  readonly #sql: Sql;

  constructor(url: string) {
    this.#sql = openPool(url, { connections: 1 });
  }

  async rows(): Promise<Rows> {
    const tables = await this.#sql<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = current_schema()`;
    return rowsOf(tables, async (name) => this.#sql<object[]>`SELECT * FROM ${this.#sql(name)}`);
  }

  async failCommits(writing: Writing): Promise<void> {
    await this.#sql.unsafe(
      `CREATE FUNCTION ${fault}() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'a fault at commit'; END $$`,
    );
    await this.#sql.unsafe(
      `CREATE CONSTRAINT TRIGGER of_${fault} AFTER ${writing} ON audit_log DEFERRABLE INITIALLY DEFERRED
       FOR EACH ROW EXECUTE FUNCTION ${fault}()`,
    );
  }

  async repair(): Promise<void> {
    await this.#sql.unsafe(`DROP FUNCTION ${fault} CASCADE`);
  }

  async close(): Promise<void> {
    await this.#sql.end();
  }
}

async function rowsOf(
  tables: readonly { readonly name: string }[],
  read: (name: string) => Promise<readonly object[]>,
): Promise<Rows> {
  const rows: Record<string, readonly string[]> = {};
  for (const { name } of tables) rows[name] = (await read(name)).map((row) => JSON.stringify(row)).toSorted();
  return rows;
}
