/**
 * The tables of snapshots: the features of users and accounts at the start of a day, from which scores are
 * computed and models are trained. A snapshot has neither states nor results of models. See
 * docs/decisions/0053.
 *
 * Rows of one snapshot have one version, and readers ask for this version. So rows of a write that was cut
 * off are not read. Merges keep the newest row of an entity.
 */
import type { Table } from "./tables.ts";

/** Mondays lie in partitions of their own: the other days are dropped much earlier. */
const mondaysAndMonths = "(toDayOfWeek(day) = 1, toYYYYMM(day))";

function snapshotsTable(kind: "user" | "account"): Table {
  return {
    name: `${kind}_snapshots`,
    engine: { family: "ReplacingMergeTree", arguments: "version" },
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "day Date32 CODEC(Delta, ZSTD(1))",
      `${kind} UInt32 CODEC(Delta, ZSTD(1))`,
      "version UInt64 CODEC(Delta, ZSTD(1))",
      "idle_days Int32 CODEC(T64, ZSTD(1))",
      "tenure_days Int32 CODEC(T64, ZSTD(1))",
      "active_days_28 UInt8 CODEC(ZSTD(1))",
      "active_days_previous_28 UInt8 CODEC(ZSTD(1))",
      "active_days_84 UInt8 CODEC(ZSTD(1))",
      "active_days_by_week Array(UInt8) CODEC(ZSTD(1))",
      "mean_gap_days Float64 CODEC(ZSTD(1))",
      "gap_variability Nullable(Float64) CODEC(ZSTD(1))",
      "has_single_active_day Bool CODEC(ZSTD(1))",
      "volume_28 Float64 CODEC(ZSTD(1))",
      "event_names_28 UInt32 CODEC(T64, ZSTD(1))",
      "event_counts_28 Map(LowCardinality(String), UInt32) CODEC(ZSTD(1))",
      "adoption Nullable(Float64) CODEC(ZSTD(1))",
      "key_event_idle_days Nullable(UInt8) CODEC(ZSTD(1))",
      "x Int8 CODEC(ZSTD(1))",
      "t Int8 CODEC(ZSTD(1))",
      "n Int8 CODEC(ZSTD(1))",
      ...(kind === "user" ? userColumns : []),
    ],
    orderBy: `organization, day, ${kind}`,
    partitionBy: mondaysAndMonths,
  };
}

/** The array of the accounts that a user's events carry: the user is a member of them. */
export const carriedAccounts = "accounts.account";

/** `account` is that of the latest events. The arrays have an element for each account that events of 90 days
 * carry. */
const userColumns = [
  "account UInt32 CODEC(T64, ZSTD(1))",
  `\`${carriedAccounts}\` Array(UInt32) CODEC(ZSTD(1))`,
  "`accounts.idle_days` Array(UInt8) CODEC(ZSTD(1))",
  "`accounts.was_active_previous_28` Array(Bool) CODEC(ZSTD(1))",
  "`accounts.volume_28` Array(Float64) CODEC(ZSTD(1))",
];

export const snapshotTables: readonly Table[] = [snapshotsTable("user"), snapshotsTable("account")];
