/**
 * Migrates the warehouse's tables at every start: numbered, forward only, each recorded when it is done. A
 * statement must do no harm when it runs again, because a crash may come before its migration is recorded. A
 * released migration is never changed: a change is a new migration.
 */

import { embedded, onCluster, type Topology } from "../engine/topology.ts";
import { type Warehouse, WarehouseError } from "../engine/warehouse.ts";
import { billingEvents, isOfCards, laterSubscriptionColumns, subscriptions } from "./billing-tables.ts";
import { accountPulses } from "./pulse-table.ts";
import {
  accountTraitColumns,
  billingColumn,
  healthValuesColumn,
  lateEventsColumn,
  laterFeatures,
  recordKeyColumns,
  scoreTables,
  seatsColumns,
  shiftTables,
} from "./score-tables.ts";
import { segmentTables } from "./segment-tables.ts";
import { snapshotTables } from "./snapshot-tables.ts";
import {
  accounts,
  accountTraitsColumn,
  accountVersions,
  activityColumn,
  activityRollups,
  countsOfEvents,
  createRollupView,
  createTable,
  events,
  eventsByName,
  excludedUsers,
  rowsOfRollup,
  type Table,
  users,
  userVersions,
} from "./tables.ts";

interface Migration {
  readonly name: string;
  readonly statements: (topology: Topology) => readonly string[];
}

/** Migration n is the n-th of the list, from 1. */
const migrations: readonly Migration[] = [
  {
    name: "events, users, accounts and the rollups of events",
    statements: (topology) => [
      ...[events, users, userVersions, accounts].map((table) => createTable(table, topology)),
      ...activityRollups.map((rollup) => createTable(rollup.table, topology)),
      ...activityRollups.map((rollup) => createRollupView(rollup, topology)),
    ],
  },
  {
    name: "users who are excluded from figures",
    statements: (topology) => [createTable(excludedUsers, topology)],
  },
  {
    // Earlier versions of the first migration created these tables without accounts. Such counts have no
    // account until the rebuild that the ledger's own migration asks for.
    name: "the account of events in user_event_days, and none in user_versions where nothing was said of it",
    statements: (topology) => [
      `ALTER TABLE user_event_days ADD COLUMN IF NOT EXISTS account UInt32 CODEC(Delta, ZSTD(1)) AFTER event,
         MODIFY ORDER BY (organization, user, day, event, account)`,
      // Not MODIFY QUERY: after the next start the view would derive another token from a batch's token, and
      // a replayed batch would count twice.
      `DROP TABLE IF EXISTS user_event_days_view${onCluster(topology)} SYNC`,
      `CREATE MATERIALIZED VIEW IF NOT EXISTS user_event_days_view${onCluster(topology)} TO user_event_days
       AS SELECT organization, user, day, event, account, count() AS count
       FROM events GROUP BY organization, user, day, event, account`,
      "ALTER TABLE user_versions MODIFY COLUMN account Nullable(UInt32)",
    ],
  },
  { name: "scores", statements: (topology) => scoreTables.map((table) => createTable(table, topology)) },
  {
    // Merges of a SummingMergeTree make rows fewer, and rebuilds delete rows; both are refused without these
    // settings. Until a part has its counts, which `user_event_days` of 20 million events wait a few seconds
    // for, its rows are summed.
    name: "counts by event and day within user_event_days",
    statements: (topology) => [
      `ALTER TABLE ${countsOfEvents.of}${onCluster(topology)} MODIFY SETTING
         deduplicate_merge_projection_mode = 'rebuild', lightweight_mutation_projection_mode = 'rebuild'`,
      `ALTER TABLE ${countsOfEvents.of} ADD PROJECTION IF NOT EXISTS ${countsOfEvents.name} (${countsOfEvents.select})`,
      `ALTER TABLE ${countsOfEvents.of} MATERIALIZE PROJECTION ${countsOfEvents.name}`,
    ],
  },
  {
    // As above, no MODIFY QUERY.
    name: "events that are kept and shown, and count for no figure",
    statements: (topology) => [
      `ALTER TABLE events ADD COLUMN IF NOT EXISTS ${activityColumn}`,
      ...activityRollups.map(
        ({ table }) => `DROP TABLE IF EXISTS ${table.name}_view${onCluster(topology)} SYNC`,
      ),
      ...activityRollups.map((rollup) => createRollupView(rollup, topology)),
    ],
  },
  {
    name: "events that came after the scores of later days",
    statements: () => [`ALTER TABLE scored_days ADD COLUMN IF NOT EXISTS ${lateEventsColumn}`],
  },
  {
    name: "values of the organization's own parts of health",
    statements: () =>
      ["user_scores", "account_scores"].map(
        (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${healthValuesColumn}`,
      ),
  },
  {
    name: "snapshots of features",
    statements: (topology) => snapshotTables.map((table) => createTable(table, topology)),
  },
  {
    name: "features of single events, of numeric traits and of a user's account",
    statements: () =>
      Object.entries(laterFeatures).map(
        ([table, columns]) =>
          `ALTER TABLE ${table} ${columns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(", ")}`,
      ),
  },
  {
    // All columns of events have a codec, and this setting is for the projection, which takes none over from
    // them: its rows take 40 % less than by LZ4. It is filled in the background, with 1.4 to 1.9 s of
    // processor time for a million events. Until a part has it, all rows of that part are read.
    name: "events by name and day within events",
    statements: (topology) => [
      `ALTER TABLE events${onCluster(topology)} MODIFY SETTING default_compression_codec = 'ZSTD(1)'`,
      `ALTER TABLE events ADD PROJECTION IF NOT EXISTS ${eventsByName.name} (${eventsByName.select})`,
      `ALTER TABLE events MATERIALIZE PROJECTION ${eventsByName.name} SETTINGS mutations_sync = 0`,
    ],
  },
  {
    // Bodies of before keep their copies, which nothing reads. Version 0.1.0 called the first publication
    // `toldAtMs`.
    name: "keys of score records as columns",
    statements: () => [
      `ALTER TABLE score_records ${recordKeyColumns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(", ")}`,
      `ALTER TABLE score_records UPDATE
         rows_version = JSONExtractUInt(body, 'rowsVersion'),
         settings_key = JSONExtractString(body, if(what = 'snapshot', 'key', 'settingsKey')),
         declared_outages = multiIf(JSONHas(body, 'declaredOutages'), JSONExtractString(body, 'declaredOutages'),
           what = 'snapshot', '', '[]'),
         first_published_at_ms = JSONExtractUInt(body, multiIf(JSONHas(body, 'firstPublishedAtMs'), 'firstPublishedAtMs',
           JSONHas(body, 'toldAtMs'), 'toldAtMs', 'finishedAtMs')),
         rung = JSONExtract(body, 'choice', 'rung', 'Nullable(Int8)')
       WHERE settings_key = ''`,
    ],
  },
  {
    // Events that earlier versions stored come last. Rows that the view wrote before are the same rows.
    name: "billing events and subscriptions",
    statements: (topology) => [
      createTable(billingEvents.table, topology),
      createTable(subscriptions, topology),
      createRollupView(billingEvents, topology),
      `INSERT INTO ${billingEvents.table.name} ${rowsOfRollup(billingEvents)}`,
    ],
  },
  {
    name: "attributes of accounts, and their history",
    statements: (topology) => [
      `ALTER TABLE accounts ADD COLUMN IF NOT EXISTS ${accountTraitsColumn}`,
      createTable(accountVersions, topology),
    ],
  },
  {
    // The next start computes all subscriptions again. Until then their arrays are empty in these columns.
    name: "price intervals and ends of trials of subscriptions; scores know of these, and of attributes of accounts",
    statements: () => [
      `ALTER TABLE ${subscriptions.name} ${laterSubscriptionColumns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(", ")}`,
      ...["user_scores", "account_scores"].map(
        (table) => `ALTER TABLE ${table} ADD COLUMN IF NOT EXISTS ${billingColumn}`,
      ),
      `ALTER TABLE account_scores ${accountTraitColumns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(", ")}`,
    ],
  },
  {
    name: "members of segments, and when they entered and left",
    statements: (topology) => segmentTables.map((table) => createTable(table, topology)),
  },
  {
    name: "what changed rules of scores changed",
    statements: (topology) => shiftTables.map((table) => createTable(table, topology)),
  },
  {
    name: "seats and pulses of accounts, and scores that know of them",
    statements: (topology) => [
      createTable(accountPulses, topology),
      `ALTER TABLE account_scores ${seatsColumns.map((column) => `ADD COLUMN IF NOT EXISTS ${column}`).join(", ")}`,
    ],
  },
  {
    // Rows that an earlier statement, or the view, wrote before are the same rows.
    name: "billing events about cards",
    statements: (topology) => [
      `DROP TABLE IF EXISTS ${billingEvents.table.name}_view${onCluster(topology)} SYNC`,
      createRollupView(billingEvents, topology),
      `INSERT INTO ${billingEvents.table.name} ${rowsOfRollup(billingEvents, { and: isOfCards })}`,
    ],
  },
];

/** Filling new columns takes as long as there is data. */
const noLimitOfTime = { maxSeconds: 0 };

/** How many migrations this code knows. */
export const warehouseMigrations = migrations.length;

/** All statements of all migrations, in their order. */
export function migrationStatements(topology: Topology): readonly string[] {
  return [
    createTable(migrationsTable, topology),
    ...migrations.flatMap(({ statements }) => statements(topology)),
  ];
}

/** The names of the tables that migrations make, in their order. */
export function migratedTables(): readonly string[] {
  const statements = migrations.flatMap((migration) => migration.statements(embedded));
  return statements.flatMap((statement) => /^\s*CREATE TABLE IF NOT EXISTS (\w+)/.exec(statement)?.[1] ?? []);
}

const migrationsTable: Table = {
  name: "migrations",
  engine: { family: "MergeTree", arguments: "" },
  columns: ["number UInt32", "name String", "at DateTime64(3, 'UTC')"],
  orderBy: "number",
};

/** The number of the last migration that is done; 0 when not even their table is there. */
export async function migrationsDone(warehouse: Warehouse): Promise<number> {
  const [table] = await warehouse.rows<{ result: number }>("EXISTS TABLE migrations");
  if (table?.result !== 1) return 0;
  const [state] = await warehouse.rows<{ done: number }>("SELECT max(number) AS done FROM migrations");
  return state?.done ?? 0;
}

/**
 * Runs the migrations that were not run yet.
 * @param upto the number of the last to run
 * @throws WarehouseError when the tables were made by a newer version
 */
export async function migrate(warehouse: Warehouse, upto = migrations.length): Promise<void> {
  const { topology } = warehouse;
  await warehouse.command(createTable(migrationsTable, topology));
  const done = await migrationsDone(warehouse);
  if (done > migrations.length) {
    throw new WarehouseError(
      0,
      `The warehouse's tables are of version ${done}, and this program knows ${migrations.length}: use the newer program`,
    );
  }
  for (const [index, { name, statements }] of migrations.entries()) {
    const number = index + 1;
    if (number <= done || number > upto) continue;
    for (const statement of statements(topology)) await warehouse.command(statement, {}, noLimitOfTime);
    await warehouse.command(
      "INSERT INTO migrations SETTINGS insert_deduplicate = 0 SELECT {number:UInt32}, {name:String}, now64(3)",
      { number, name },
    );
  }
}
