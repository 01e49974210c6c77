/**
 * The tables of who entered and left segments, and when. See docs/decisions/0092.
 *
 * An evaluation writes its changes under a number of its own, and its row in `segment_evaluations` last.
 * Readers take the changes of evaluations with a row, so that those of an evaluation that was cut off are not
 * read. Of evaluations with the same place in the order of their segment the newest counts.
 */
import type { Table } from "./tables.ts";

const mergeTree = { family: "MergeTree", arguments: "" } as const;

function changesTable(kind: "user" | "account"): Table {
  return {
    name: `${kind}_segment_changes`,
    engine: mergeTree,
    columns: [
      "organization UInt32 CODEC(ZSTD(1))",
      "segment UInt32 CODEC(ZSTD(1))",
      "evaluation UInt64 CODEC(Delta, ZSTD(1))",
      `${kind} UInt32 CODEC(Delta, ZSTD(1))`,
      "at DateTime64(3, 'UTC') CODEC(Delta, ZSTD(1))",
      "entered Bool CODEC(ZSTD(1))",
      "cause LowCardinality(String) CODEC(ZSTD(1))",
    ],
    orderBy: `organization, segment, evaluation, ${kind}`,
  };
}

/** The changes of segments of users, and of accounts. */
export const segmentChanges = { user: changesTable("user"), account: changesTable("account") } as const;

/** `day` is of the organization's timezone at that time. The last columns say what the evaluation read: a
 * later one compares them. */
const evaluations: Table = {
  name: "segment_evaluations",
  engine: { family: "ReplacingMergeTree", arguments: "evaluation" },
  columns: [
    "organization UInt32",
    "segment UInt32",
    "sequence UInt32",
    "evaluation UInt64",
    "at DateTime64(3, 'UTC')",
    "day Date32",
    "size UInt32",
    "entries UInt32",
    "leaves UInt32",
    "cause LowCardinality(String)",
    "is_first Bool",
    "content String CODEC(ZSTD(1))",
    "ground String CODEC(ZSTD(1))",
    "rules String CODEC(ZSTD(1))",
    "scored_day Int32",
    "scored_at_ms UInt64",
    "loaded_upto_ms UInt64",
  ],
  orderBy: "organization, segment, sequence",
};

export const segmentTables: readonly Table[] = [segmentChanges.user, segmentChanges.account, evaluations];
