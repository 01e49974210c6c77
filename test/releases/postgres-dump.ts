/** A ledger in PostgreSQL as text, and back: the npm package of PostgreSQL has no pg_dump. */
import { features } from "../../server/features/features.ts";
import { openPool, type Sql } from "../../server/ledger/postgres/connect.ts";
import { formTable, type Migration, migrations } from "../../server/ledger/postgres/migrations/migrations.ts";
import { inTransaction } from "../../server/ledger/postgres/transaction.ts";

export interface Dump {
  /** The migration steps that made the tables: their text, or the index of one that is a function. */
  readonly steps: readonly (string | number)[];
  /** Rows as PostgreSQL's own JSON text, which keeps numbers that JavaScript would round. */
  readonly tables: readonly { readonly name: string; readonly rows: string }[];
  readonly sequences: readonly { readonly name: string; readonly value: string }[];
}

export async function dump(database: string): Promise<Dump> {
  const sql = openPool(database, { connections: 1 });
  try {
    const names = await sql<{ name: string }[]>`
      SELECT tablename AS name FROM pg_tables WHERE schemaname = 'public' ORDER BY 1`;
    const tables = [];
    for (const { name } of names) {
      const [all] = await sql<{ rows: string }[]>`
        SELECT coalesce(json_agg(one), '[]')::text AS rows FROM ${sql(name)} AS one`;
      tables.push({ name, rows: all?.rows ?? "[]" });
    }
    const sequences = await sql<{ name: string; value: string }[]>`
      SELECT sequencename AS name, last_value::text AS value FROM pg_sequences
      WHERE schemaname = 'public' AND last_value IS NOT NULL`;
    return {
      steps: [
        formTable,
        ...migrations(features).map((step, index) => (typeof step === "string" ? step : index)),
      ],
      tables,
      sequences,
    };
  } finally {
    await sql.end();
  }
}

/** Makes the dumped tables in an empty database. */
export async function restore(database: string, { steps, tables, sequences }: Dump): Promise<void> {
  const sql = openPool(database, { connections: 1 });
  try {
    for (const step of steps) await run(sql, typeof step === "string" ? step : migrations(features)[step]);
    // Rows go in without triggers and in any order, as pg_restore does it.
    await sql`SET session_replication_role = replica`;
    for (const { name, rows } of tables) {
      await sql.unsafe(`CREATE TABLE IF NOT EXISTS ${name} (LIKE inbox_segment INCLUDING ALL)`);
      await sql`DELETE FROM ${sql(name)}`;
      await sql`
        INSERT INTO ${sql(name)} OVERRIDING SYSTEM VALUE
        SELECT (json_populate_recordset(NULL::${sql(name)}, ${rows}::json)).*`;
    }
    for (const { name, value } of sequences) await sql`SELECT setval(${name}::regclass, ${value}::bigint)`;
  } finally {
    await sql.end();
  }
}

async function run(sql: Sql, step: Migration | undefined): Promise<void> {
  if (step === undefined) throw new Error("the dump names a step that this version does not have");
  await (typeof step === "string" ? sql.unsafe(step) : inTransaction(sql, step));
}
