/**
 * Transactions that stay open for long, of which `rekindle doctor` warns. While one is open PostgreSQL keeps every version of
 * the rows that are changed all the time (totals, positions, signs of life), and reads them all at each change: 0.3 ms before,
 * 5 ms after 24,000 changes of one row under a snapshot. Nothing is wrong yet, and `pg_dump` of much takes long.
 */
import type { Probed } from "../../../process/process.ts";
import type { Sql } from "../client/connect.ts";

/** A session with an open transaction. Its statement is not read: it may contain data of senders. */
interface OldTransaction {
  /** Null of one that was prepared for a commit in two phases, which no process holds. */
  readonly pid: number | null;
  readonly application: string;
  readonly state: string;
  readonly seconds: number;
}

/** Looks for transactions of the database that are older. @param olderThanMs by PostgreSQL's clock */
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
  const words = `none that this user may see; GRANT pg_read_all_stats TO it to see those of ${unseen} other sessions, too`;
  return { name, ok: true, words };
}

function wordsOf({ pid, application, state, seconds }: OldTransaction, others: number): string {
  const who = pid === null ? "nobody" : `process ${pid}`;
  const what = [application.slice(0, 30), state].filter((word) => word !== "").join(", ");
  const more = others > 0 ? `, ${others} more have` : "";
  return `${who} (${what}) has one open for ${Math.floor(seconds / 60)} min${more}: rows that change often grow slower until it ends (pg_terminate_backend, or ROLLBACK PREPARED)`;
}
