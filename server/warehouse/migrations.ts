/**
 * Brings the warehouse's tables up to date at every start: numbered, forward only, each recorded when it is
 * done. A statement must do no harm when it runs again, because a crash may come before its migration is
 * recorded. A migration that was released is never changed: a change is a new one.
 */
import { scoreTables } from "./score-tables.ts";
import {
  accounts,
  createRollupView,
  createTable,
  events,
  excludedUsers,
  rollups,
  type Table,
  users,
  userVersions,
} from "./tables.ts";
import { type Warehouse, WarehouseError } from "./warehouse.ts";

interface Migration {
  readonly name: string;
  readonly statements: readonly string[];
}

/** Migration n is the n-th of the list, from 1. */
const migrations: readonly Migration[] = [
  {
    name: "events, users, accounts and the rollups of events",
    statements: [
      ...[events, users, userVersions, accounts].map(createTable),
      ...rollups.map((rollup) => createTable(rollup.table)),
      ...rollups.map(createRollupView),
    ],
  },
  { name: "users who are excluded from figures", statements: [createTable(excludedUsers)] },
  { name: "scores", statements: scoreTables.map(createTable) },
];

/** How many migrations this code knows. */
export const warehouseMigrations = migrations.length;

/** The names of the tables that migrations make, in their order. */
export function migratedTables(): readonly string[] {
  const statements = migrations.flatMap((migration) => migration.statements);
  return statements.flatMap((statement) => /^\s*CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1] ?? []);
}

const migrationsTable: Table = {
  name: "migrations",
  engine: { family: "MergeTree", arguments: "" },
  columns: ["number UInt32", "name String", "at DateTime64(3, 'UTC')"],
  orderBy: "number",
};

/**
 * Runs the migrations that were not run yet.
 * @param upto the number of the last to run
 * @throws WarehouseError when the tables were made by a newer version
 */
export async function migrate(warehouse: Warehouse, upto = migrations.length): Promise<void> {
  await warehouse.command(createTable(migrationsTable));
  const [state] = await warehouse.rows<{ done: number }>("SELECT max(number) AS done FROM migrations");
  const done = state?.done ?? 0;
  if (done > migrations.length) {
    throw new WarehouseError(
      0,
      `The warehouse's tables are of version ${done}, and this program knows ${migrations.length}: use the newer program`,
    );
  }
  for (const [index, { name, statements }] of migrations.entries()) {
    const number = index + 1;
    if (number <= done || number > upto) continue;
    for (const statement of statements) await warehouse.command(statement);
    await warehouse.command(
      "INSERT INTO migrations SETTINGS insert_deduplicate = 0 SELECT {number:UInt32}, {name:String}, now64(3)",
      { number, name },
    );
  }
}
