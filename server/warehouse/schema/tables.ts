/**
 * Every table of the warehouse, as data: the one source of its DDL. The differences of replicated tables are
 * in topology.ts.
 *
 * The organization and the user lead every key: a query reads only one organization's rows, and both can be
 * the key of shards.
 */

import {
  deduplicationWindow,
  type Engine,
  engineClause,
  onCluster,
  type Topology,
} from "../engine/topology.ts";

export interface Table {
  readonly name: string;
  readonly engine: Engine;
  readonly columns: readonly string[];
  readonly orderBy: string;
  readonly partitionBy?: string;
  /** Rows that are read together, where the engine's own 8,192 are too many. */
  readonly granuleRows?: number;
}

/** A rollup is filled from every block of events that is inserted, under the same deduplication token. */
export interface Rollup {
  readonly table: Table;
  /** Computes the rollup's rows from events; `rebuild` and the materialized view both use it. */
  readonly select: string;
  /** Selects the events that the rows are computed from. Default: activity. */
  readonly where?: string;
  /** A rollup without it has a row for each event. */
  readonly groupBy?: string;
  /** A rollup without days is rebuilt from one with days, which reaches further back than the events may. It
   * has to come after that one in the list. */
  readonly rebuiltFrom?: "user_event_days";
}

/** The statement that creates a table when it is not there. */
export function createTable(table: Table, topology: Topology): string {
  const { name, engine, columns, orderBy, partitionBy, granuleRows } = table;
  return `
    CREATE TABLE IF NOT EXISTS ${name}${onCluster(topology)} (${columns.join(", ")})
    ENGINE = ${engineClause(topology, engine)}
    ${partitionBy === undefined ? "" : `PARTITION BY ${partitionBy}`}
    ORDER BY (${orderBy})
    SETTINGS ${deduplicationWindow(topology)},
      fsync_after_insert = 1, fsync_part_directory = 1
      ${granuleRows === undefined ? "" : `, index_granularity = ${granuleRows}`}`;
}

/** Selects the events that figures are made of: others are only stored and shown. */
export const countsAsActivity = "is_activity";

/** The statement that makes a rollup follow the events. */
export function createRollupView(rollup: Rollup, topology: Topology): string {
  return `
    CREATE MATERIALIZED VIEW IF NOT EXISTS ${rollup.table.name}_view${onCluster(topology)} TO ${rollup.table.name}
    AS ${rowsOfRollup(rollup)}`;
}

/** The query for a rollup's rows. @param and a further condition on the events; @param from another table
 * than `events` */
export function rowsOfRollup(
  { select, where = countsAsActivity, groupBy }: Rollup,
  { from = "events", and }: { readonly from?: string; readonly and?: string } = {},
): string {
  // Activity is a column of `events` alone: rows of a rollup are of activity.
  const conditions = [and, from === "events" ? where : undefined].filter((one) => one !== undefined);
  const filter = conditions.length === 0 ? "" : ` WHERE ${conditions.join(" AND ")}`;
  return `SELECT ${select} FROM ${from}${filter}${groupBy === undefined ? "" : ` GROUP BY ${groupBy}`}`;
}

const mergeTree: Engine = { family: "MergeTree", arguments: "" };
/** Of rows with the same key the newest version counts. */
export const lastVersion: Engine = { family: "ReplacingMergeTree", arguments: "version" };
const aggregating: Engine = { family: "AggregatingMergeTree", arguments: "" };

/** Rows that were written before there was this column are activity. */
export const activityColumn = "is_activity Bool DEFAULT true CODEC(ZSTD(1))";

export const events: Table = {
  name: "events",
  engine: mergeTree,
  columns: [
    "organization UInt32 CODEC(ZSTD(1))",
    "user UInt32 CODEC(Delta, ZSTD(1))",
    "account UInt32 CODEC(ZSTD(1))",
    "event LowCardinality(String) CODEC(ZSTD(1))",
    "time DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    "day Date32 CODEC(Delta, ZSTD(1))",
    "received_at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
    "id UUID CODEC(ZSTD(1))",
    "id_is_message_id Bool CODEC(ZSTD(1))",
    "message_id String CODEC(ZSTD(1))",
    "properties String CODEC(ZSTD(1))",
    activityColumn,
  ],
  orderBy: "organization, user, time",
  // By month, an import of 13 years would be refused.
  partitionBy: "toYear(time)",
};

/**
 * The events once more, in the order of their names and days: for questions about properties, which only
 * events have. The engine keeps them inside every part of `events`, as it does `countsOfEvents`. In the order
 * of users every granule has some event of the last 7 days, so such a question would read and decompress all
 * properties of a year. The column `account` is left out: erasing an account would write these rows anew.
 */
export const eventsByName = {
  name: "events_by_name",
  of: events.name,
  select: "SELECT organization, event, day, user, properties, is_activity ORDER BY organization, event, day",
} as const;

export const users: Table = {
  name: "users",
  engine: lastVersion,
  columns: [
    "organization UInt32",
    "user UInt32 CODEC(Delta, ZSTD(1))",
    "user_id String CODEC(ZSTD(1))",
    "email String CODEC(ZSTD(1))",
    "traits String CODEC(ZSTD(1))",
    "is_account_owner Nullable(Bool)",
    "account UInt32",
    "first_identified_at DateTime64(3, 'UTC')",
    "updated_at DateTime64(3, 'UTC')",
    "version UInt32",
  ],
  orderBy: "organization, user",
};

/**
 * The history of users: new or changed traits with their time, and the account when it changed (null: not
 * mentioned). A user's state at a time is the last value of each trait until then. So a late or imported
 * identify changes the past, but no earlier row.
 */
export const userVersions: Table = {
  name: "user_versions",
  engine: mergeTree,
  columns: [
    "organization UInt32",
    "user UInt32 CODEC(Delta, ZSTD(1))",
    "version UInt32",
    "at DateTime64(3, 'UTC')",
    "traits String CODEC(ZSTD(1))",
    "account Nullable(UInt32)",
  ],
  orderBy: "organization, user, version",
};

/** The column of accounts that was added later. Accounts of before have no attributes. */
export const accountTraitsColumn = "traits String DEFAULT '{}' CODEC(ZSTD(1))";

export const accounts: Table = {
  name: "accounts",
  engine: lastVersion,
  columns: [
    "organization UInt32",
    "account UInt32 CODEC(Delta, ZSTD(1))",
    "account_id String CODEC(ZSTD(1))",
    "name String CODEC(ZSTD(1))",
    "avatar Nullable(String) CODEC(ZSTD(1))",
    "created_at DateTime64(3, 'UTC')",
    "updated_at DateTime64(3, 'UTC')",
    "version UInt32",
    accountTraitsColumn,
  ],
  orderBy: "organization, account",
};

/** The history of accounts: new or changed attributes with their time, as `user_versions` has those of
 * users. */
export const accountVersions: Table = {
  name: "account_versions",
  engine: mergeTree,
  columns: [
    "organization UInt32",
    "account UInt32 CODEC(Delta, ZSTD(1))",
    "version UInt32",
    "at DateTime64(3, 'UTC')",
    "traits String CODEC(ZSTD(1))",
  ],
  orderBy: "organization, account, version",
};

/** The users who are left out of figures, in the row with an organization's highest revision. */
export const excludedUsers: Table = {
  name: "excluded_users",
  engine: { family: "ReplacingMergeTree", arguments: "revision" },
  columns: ["organization UInt32", "revision UInt64", "users AggregateFunction(groupBitmap, UInt32)"],
  orderBy: "organization",
};

/** The users who did an event on a day. */
const eventDays: Rollup = {
  table: {
    name: "event_days",
    engine: aggregating,
    columns: [
      "organization UInt32",
      "event LowCardinality(String)",
      "day Date32",
      "users AggregateFunction(groupBitmap, UInt32)",
    ],
    orderBy: "organization, event, day",
    // Half a year of 60 events is one granule of 8,192: retention by a single event read the bitmaps of all.
    granuleRows: 128,
  },
  select: "organization, event, day, groupBitmapState(user) AS users",
  groupBy: "organization, event, day",
};

/** The users who did anything on a day. */
const activeDays: Rollup = {
  table: {
    name: "active_days",
    engine: aggregating,
    columns: ["organization UInt32", "day Date32", "users AggregateFunction(groupBitmap, UInt32)"],
    orderBy: "organization, day",
  },
  select: "organization, day, groupBitmapState(user) AS users",
  groupBy: "organization, day",
};

/**
 * How often a user did an event on a day, and in which account. The account costs next to nothing here, where
 * it is nearly always that of the row before, and saves accounts a rollup of their own.
 */
const userEventDays: Rollup = {
  table: {
    name: "user_event_days",
    engine: { family: "SummingMergeTree", arguments: "count" },
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "user UInt32 CODEC(Delta, ZSTD(1))",
      "day Date32 CODEC(Delta, ZSTD(1))",
      "event LowCardinality(String) CODEC(ZSTD(1))",
      "account UInt32 CODEC(Delta, ZSTD(1))",
      "count UInt64 CODEC(T64, ZSTD(1))",
    ],
    orderBy: "organization, user, day, event, account",
  },
  select: "organization, user, day, event, account, count() AS count",
  groupBy: "organization, user, day, event, account",
};

/**
 * How often an event was done on a day, by all users. The engine keeps it inside every part of
 * `user_event_days`, so each change of the rows (a batch, a merge, an erasure, a rebuild, a restored backup)
 * updates it in the same step. Sums of `count` by these columns are read from it: 60 rows for a day instead
 * of a row for each user.
 */
export const countsOfEvents = {
  name: "counts_of_events",
  of: userEventDays.table.name,
  select: "SELECT organization, event, day, sum(count) GROUP BY organization, event, day",
} as const;

/** The first and the last day on which a user did anything. */
const userSpans: Rollup = {
  table: {
    name: "user_spans",
    engine: aggregating,
    columns: [
      "organization UInt32",
      "user UInt32 CODEC(Delta, ZSTD(1))",
      "first_day SimpleAggregateFunction(min, Date32)",
      "last_day SimpleAggregateFunction(max, Date32)",
    ],
    orderBy: "organization, user",
  },
  select: "organization, user, min(day) AS first_day, max(day) AS last_day",
  groupBy: "organization, user",
  rebuiltFrom: "user_event_days",
};

/** The rollups of activity, which figures over days are made of. */
export const activityRollups: readonly Rollup[] = [eventDays, activeDays, userEventDays, userSpans];
