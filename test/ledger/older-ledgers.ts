/** Ledgers of an earlier form with some rows, opened in today's form, on both engines. */

import { Database } from "bun:sqlite";
import { afterAll, beforeAll } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openPool } from "../../server/ledger/postgres/connect.ts";
import { openPostgresLedger } from "../../server/ledger/postgres/ledger.ts";
import { migrate as migratePostgres } from "../../server/ledger/postgres/migrations/migrations.ts";
import { migrate as migrateSqlite } from "../../server/ledger/sqlite/migrations/migrations.ts";
import { openSqliteLedger } from "../../server/ledger/sqlite/open.ts";
import { PostgresServer } from "../postgres.ts";

/** The form of then, and the statements that store its rows. */
interface Older {
  readonly sqliteSteps: number;
  readonly postgresSteps: number;
  readonly stored: readonly string[];
}

/** The engines with functions that make such a ledger and open it. The PostgreSQL server runs during the
 * tests of the file. */
export function olderLedgers({
  sqliteSteps,
  postgresSteps,
  stored,
}: Older): [engine: string, open: () => Promise<Ledger>][] {
  let server: PostgresServer;
  const folder = mkdtempSync(join(tmpdir(), "rekindle-older-ledgers-"));
  beforeAll(async () => {
    server = await PostgresServer.start();
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true });
  });

  async function openSqlite(): Promise<Ledger> {
    const file = join(folder, "ledger.sqlite");
    const db = new Database(file, { create: true });
    migrateSqlite(db, features, sqliteSteps);
    for (const statement of stored) db.run(statement);
    db.close();
    return openSqliteLedger({ features, file, clock: Date.now });
  }

  async function openPostgres(): Promise<Ledger> {
    const url = await server.database();
    const sql = openPool(url, { connections: 1 });
    await migratePostgres(sql, features, postgresSteps);
    for (const statement of stored) await sql.unsafe(statement);
    await sql.end();
    return openPostgresLedger({ features, url, clock: Date.now });
  }

  return [
    ["SQLite", openSqlite],
    ["PostgreSQL", openPostgres],
  ];
}
