/**
 * The move of each table of a SQLite ledger to PostgreSQL. Most are copied column by column. This list names
 * the columns with text of senders and members, which PostgreSQL stores in an encoded form (text.ts), and
 * columns that differ.
 */

import type { Feature } from "../feature.ts";
import type { MovedTable } from "../tables.ts";

/** The order is such that a row refers only to rows that are copied before it. */
const ownTables: readonly MovedTable[] = [
  { name: "organizations", encoded: ["name"] },
  { name: "tokens", encoded: ["name"] },
  { name: "read_keys", encoded: ["name"] },
  { name: "accounts", encoded: ["account_id", "name", "avatar"] },
  { name: "users", encoded: ["user_id", "email", "email_key"] },
  { name: "populations" },
  { name: "day_counts", with: { slot: 0 } },
  { name: "rejected_events", encoded: ["row", "reason"] },
  { name: "dropped_versions" },
  { name: "erasures" },
  { name: "erased_ids" },
  { name: "imports", encoded: ["mapping", "file_name"] },
  { name: "ingestion_warnings", encoded: ["endpoint", "detail", "message", "user_id"] },
  { name: "exclusion_rules", encoded: ["key", "value"] },
  { name: "exclusion_revisions" },
  { name: "declared_outages" },
  { name: "checks" },
  { name: "settings_versions", encoded: ["changed_by"] },
  { name: "people", encoded: ["email", "name", "fallback_email"] },
  { name: "memberships" },
  { name: "login_sessions" },
  { name: "invite_links", encoded: ["email"] },
  { name: "audit_log", encoded: ["person_name", "summary"] },
  { name: "held_events", encoded: ["person", "account_id", "body"] },
  { name: "held_event_people", encoded: ["person"] },
  { name: "held_event_totals", without: ["people"] },
  { name: "identity_links", encoded: ["id", "user_id"] },
  { name: "event_labels", encoded: ["event", "label"] },
  { name: "sources" },
  { name: "source_hours" },
  { name: "lasting_message_ids" },
];

/** All tables that are copied, in their order: the ledger's own, then those of features. */
export function movedTables(features: readonly Feature[]): readonly MovedTable[] {
  return [...ownTables, ...features.flatMap(({ tables }) => tables)];
}

/** Tables that move-in.ts moves with code of its own. */
export const otherTables: readonly string[] = [
  "inbox",
  "inbox_position",
  "frozen_batches",
  "message_ids",
  "message_id_runs",
  "message_id_kinds",
  "erasure_key",
  "ledger_place",
];
