/**
 * The tables of scores. A row has the scores by which entities are sorted and filtered, and the features
 * behind them. The reasons for a score follow from the features and the day's model, so neither reasons nor
 * contributions are stored. A user's scores have the column `user`, by which an erasure finds them.
 */
import type { Table } from "./tables.ts";

const lastVersion = { family: "ReplacingMergeTree", arguments: "version" } as const;

/** How regular an entity is, and which events it does: as in the tables of snapshots. */
const patternColumns = [
  "active_days_by_week Array(UInt8) CODEC(ZSTD(1))",
  "gap_variability Nullable(Float64) CODEC(ZSTD(1))",
  "event_counts_28 Map(LowCardinality(String), UInt32) CODEC(ZSTD(1))",
  "key_event_idle_days Nullable(UInt8) CODEC(ZSTD(1))",
];

/** Values of the organization's own parts of health, in the order of the run's settings. */
export const healthValuesColumn = "health_values Array(Nullable(Float64)) CODEC(ZSTD(1))";

/** Facts of the entity's subscriptions in the order of `billingFacts` (scoring/scores/billing.ts); empty
 * without one that goes on. */
export const billingColumn = "billing Array(Nullable(Float64)) CODEC(ZSTD(1))";

/** Columns that `account_scores` did not have before accounts had attributes. */
export const accountTraitColumns: readonly string[] = [
  "traits UInt64 CODEC(T64, ZSTD(1))",
  "trait_numbers Array(Nullable(Float64)) CODEC(ZSTD(1))",
  "plan_idle_days Nullable(Float64) CODEC(ZSTD(1))",
];

/** Columns that `account_scores` did not have before accounts had seats and pulses: the seats that the
 * account bought, and the pulse that the team gave it, from 1 to 5. Null where either is unknown. */
export const seatsColumns: readonly string[] = [
  "seats Nullable(UInt32) CODEC(ZSTD(1))",
  "pulse Nullable(UInt8) CODEC(ZSTD(1))",
];

/** Features that models of version 0.1.0 did not have, by table. `event_counts_28` has the events that the
 * day's model counts. */
export const laterFeatures: Readonly<Record<"user_scores" | "account_scores", readonly string[]>> = {
  user_scores: [
    ...patternColumns,
    "trait_numbers Array(Nullable(Float64)) CODEC(ZSTD(1))",
    "plan_idle_days Nullable(Float64) CODEC(ZSTD(1))",
    "own_account_active_28 Nullable(UInt32) CODEC(ZSTD(1))",
    "own_account_previous_28 Nullable(UInt32) CODEC(ZSTD(1))",
  ],
  account_scores: patternColumns,
};

/** Scores of one kind of entity. The day comes first, because most questions are about all entities on one
 * day. */
function scoresTable(kind: "user" | "account"): Table {
  return {
    name: `${kind}_scores`,
    engine: lastVersion,
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "day Date32 CODEC(Delta, ZSTD(1))",
      `${kind} UInt32 CODEC(Delta, ZSTD(1))`,
      "version UInt64 CODEC(Delta, ZSTD(1))",
      "state LowCardinality(String) CODEC(ZSTD(1))",
      "colour LowCardinality(String) CODEC(ZSTD(1))",
      "engagement Nullable(Float64) CODEC(ZSTD(1))",
      "momentum Nullable(Float64) CODEC(ZSTD(1))",
      "risk Nullable(Float64) CODEC(ZSTD(1))",
      "return_probability Nullable(Float64) CODEC(ZSTD(1))",
      "health Nullable(Float64) CODEC(ZSTD(1))",
      "idle_days Int32 CODEC(T64, ZSTD(1))",
      "tenure_days Int32 CODEC(T64, ZSTD(1))",
      "active_days_28 UInt8 CODEC(ZSTD(1))",
      "active_days_previous_28 UInt8 CODEC(ZSTD(1))",
      "active_days_84 UInt8 CODEC(ZSTD(1))",
      "volume_28 Float64 CODEC(ZSTD(1))",
      "event_names_28 UInt32 CODEC(T64, ZSTD(1))",
      "mean_gap_days Float64 CODEC(ZSTD(1))",
      "has_single_active_day Bool CODEC(ZSTD(1))",
      "has_left Bool CODEC(ZSTD(1))",
      "x Int8 CODEC(ZSTD(1))",
      "t Int8 CODEC(ZSTD(1))",
      "n Int8 CODEC(ZSTD(1))",
      "adoption Nullable(Float64) CODEC(ZSTD(1))",
      ...(kind === "user" ? userColumns : accountColumns),
      healthValuesColumn,
      ...laterFeatures[`${kind}_scores`],
      billingColumn,
      ...(kind === "account" ? [...accountTraitColumns, ...seatsColumns] : []),
    ],
    orderBy: `organization, day, ${kind}`,
    partitionBy: "toYear(day)",
  };
}

/** Bit i tells whether the entity has the i-th trait of the day's model. */
const userColumns = ["traits UInt64 CODEC(T64, ZSTD(1))"];

const accountColumns = [
  "active_members_28 UInt32 CODEC(T64, ZSTD(1))",
  "active_members_previous_28 UInt32 CODEC(T64, ZSTD(1))",
  "active_members_90 UInt32 CODEC(T64, ZSTD(1))",
  "top_share Float64 CODEC(ZSTD(1))",
  "mean_risk_log_odds Nullable(Float64) CODEC(ZSTD(1))",
  "mean_engagement Float64 CODEC(ZSTD(1))",
];

/** Fields that queries read of all days, so that they parse no body. They are 0 or empty where a kind of
 * record has none. `rung` repeats the choice in a run's body. */
export const recordKeyColumns: readonly string[] = [
  "rows_version UInt64",
  "settings_key String CODEC(ZSTD(1))",
  "declared_outages String CODEC(ZSTD(1))",
  "first_published_at_ms UInt64",
  "rung Nullable(Int8)",
];

/**
 * Results that are still valid: the runs (by the scored day T), the models (by the day of their training) and
 * the scales of engagement. `stale` means that later events changed the data behind them.
 */
const scoreRecords: Table = {
  name: "score_records",
  engine: lastVersion,
  columns: [
    "organization UInt32",
    "kind LowCardinality(String)",
    "what LowCardinality(String)",
    "day Date32",
    "version UInt64",
    "stale Bool",
    "body String CODEC(ZSTD(1))",
    ...recordKeyColumns,
  ],
  orderBy: "organization, kind, what, day",
};

export const lateEventsColumn = "late_events UInt64 DEFAULT 0";

/** How many events of a day the last look has found, and how many of them came since the scores of later days
 * were last marked as stale. */
const scoredDays: Table = {
  name: "scored_days",
  engine: lastVersion,
  columns: ["organization UInt32", "day Date32", "events UInt64", "version UInt64", lateEventsColumn],
  orderBy: "organization, day",
};

/** What the rules of a scored day alone changed, beside those of the scored day before: see
 * scoring/run/shifts.ts. Entities that they changed have a row. */
function shiftsTable(kind: "user" | "account"): Table {
  return {
    name: `${kind}_score_shifts`,
    engine: lastVersion,
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "day Date32 CODEC(Delta, ZSTD(1))",
      `${kind} UInt32 CODEC(Delta, ZSTD(1))`,
      "version UInt64 CODEC(Delta, ZSTD(1))",
      "health Float64 CODEC(ZSTD(1))",
      "colour_before LowCardinality(String) CODEC(ZSTD(1))",
      "colour LowCardinality(String) CODEC(ZSTD(1))",
      "was_high Bool CODEC(ZSTD(1))",
      "is_high Bool CODEC(ZSTD(1))",
    ],
    orderBy: `organization, day, ${kind}`,
    partitionBy: "toYear(day)",
  };
}

export const shiftTables: readonly Table[] = [shiftsTable("user"), shiftsTable("account")];

export const scoreTables: readonly Table[] = [
  scoresTable("user"),
  scoresTable("account"),
  scoreRecords,
  scoredDays,
];
