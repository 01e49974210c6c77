/**
 * Transactions that stay open for long. `rekindle doctor` warns about them. While one is open, PostgreSQL
 * keeps every version of frequently changed rows (totals, positions, heartbeats), and reads them all at each
 * change. A change took 0.3 ms at first, and 5 ms after 24,000 changes of one row under a snapshot. It is
 * only a warning, because a `pg_dump` of a large database takes long.
 */
import type { Probed } from "../../process/probed.ts";
import type { Sql } from "./connect.ts";

/** A session with an open transaction. Its statement is not read: it may contain data of senders. */
interface OldTransaction {
  /** Null for a transaction that was prepared for a commit in two phases. It belongs to no process. */
  readonly pid: number | null;
  readonly application: string;
  readonly state: string;
  readonly seconds: number;
}

/** Searches for old transactions of the database. @param olderThanMs their age by PostgreSQL's clock */
export async function probeOldTransactions(sql: Sql, olderThanMs: number): Promise<Probed> {
  const name = "old transactions";
  const old = await sql<OldTransaction[]>`
    SELECT pid, application_name AS application, state,
      floor(extract(epoch FROM clock_timestamp() - xact_start))::bigint AS seconds
    FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type = 'client backend' AND pid <> pg_backend_pid()
      AND xact_start < clock_timestamp() - make_interval(secs => ${olderThanMs / 1_000})
    UNION ALL
    SELECT NULL, '', 'prepared', floor(extract(epoch FROM clock_timestamp() - prepared))::bigint
    FROM pg_prepared_xacts
    WHERE database = current_database()
      AND prepared < clock_timestamp() - make_interval(secs => ${olderThanMs / 1_000})
    ORDER BY seconds DESC`;
  const [oldest, ...others] = old;
  if (oldest !== undefined) return { name, ok: true, warns: true, words: wordsOf(oldest, others.length) };
  const [hidden] = await sql<{ count: number }[]>`
    SELECT count(*) AS count FROM pg_stat_activity
    WHERE datname = current_database() AND backend_type IS NULL AND pid <> pg_backend_pid()`;
  const unseen = hidden?.count ?? 0;
  if (unseen === 0) return { name, ok: true, words: "none" };
  const words = `none that this user can see; GRANT pg_read_all_stats TO it to see those of ${unseen} other sessions, too`;
  return { name, ok: true, words };
}

function wordsOf({ pid, application, state, seconds }: OldTransaction, others: number): string {
  const who = pid === null ? "no process" : `process ${pid}`;
  const what = [application.slice(0, 30), state].filter((word) => word !== "").join(", ");
  const more = others > 0 ? `, ${others} more have` : "";
  return `${who} (${what}) has one open for ${Math.floor(seconds / 60)} min${more}: rows that change often grow slower until it ends (pg_terminate_backend, or ROLLBACK PREPARED)`;
}
