/**
 * How each table of a SQLite ledger is moved to PostgreSQL. Most are copied column by column. This list names the columns with
 * text of senders and members, which PostgreSQL stores in a spelling of its own (text.ts), and columns that differ.
 */

export interface MovedTable {
  readonly name: string;
  /** Columns whose text is `storable`. */
  readonly said?: readonly string[];
  /** Columns that PostgreSQL does not have. */
  readonly without?: readonly string[];
  /** Columns that SQLite does not have. */
  readonly with?: Readonly<Record<string, number>>;
}

/** Ordered so that a row refers only to rows that are copied before it. */
export const movedTables: readonly MovedTable[] = [
  { name: "organizations", said: ["name"] },
  { name: "tokens", said: ["name"] },
  { name: "read_keys", said: ["name"] },
  { name: "accounts", said: ["account_id", "name", "avatar"] },
  { name: "users", said: ["user_id", "email", "email_key"] },
  { name: "populations" },
  { name: "day_counts", with: { slot: 0 } },
  { name: "dead_letters", said: ["row", "reason"] },
  { name: "dropped_versions" },
  { name: "erasures" },
  { name: "erased_ids" },
  { name: "imports", said: ["mapping", "file_name"] },
  { name: "ingestion_warnings", said: ["endpoint", "detail", "message", "user_id"] },
  { name: "exclusion_rules", said: ["key", "value"] },
  { name: "exclusion_revisions" },
  { name: "checks" },
  { name: "settings_versions", said: ["changed_by"] },
  { name: "people", said: ["email", "name", "fallback_email"] },
  { name: "memberships" },
  { name: "login_sessions" },
  { name: "invite_links", said: ["email"] },
  { name: "audit_log", said: ["person_name", "summary"] },
  { name: "views", said: ["name", "query"] },
  { name: "parked_items", said: ["person", "account_id", "body"] },
  { name: "parked_people", said: ["person"] },
  { name: "parked_totals", without: ["people"] },
  { name: "identity_links", said: ["id", "user_id"] },
  { name: "event_labels", said: ["event", "label"] },
  { name: "sources" },
  { name: "source_hours" },
  { name: "source_settings", said: ["name"] },
];

/** Moved in their own way, by move-in.ts. */
export const otherTables: readonly string[] = [
  ...["inbox", "inbox_position", "frozen_batches"],
  ...["message_ids", "message_id_runs", "message_id_kinds", "erasure_key"],
];
