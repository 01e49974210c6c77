/** What `rekindle doctor` finds out about a server that others run: PostgreSQL's, ClickHouse's, their settings. */

/** One thing that was looked at. */
export interface Probed {
  /** What was looked at, as one would say it: `PostgreSQL's version`. */
  readonly name: string;
  /** False when something is lost, wrong or refused sooner or later if it stays as it is. */
  readonly ok: boolean;
  /** True when it is ok for now, and costs something for as long as it stays so. */
  readonly warns?: boolean;
  /** What was found; where it is not ok, or warns, also why that matters and what to do. Without a full stop. */
  readonly words: string;
}
