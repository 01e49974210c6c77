/** The findings of `rekindle doctor` about a PostgreSQL or ClickHouse server that others run. */

/** One thing that was looked at. */
export interface Probed {
  /** The checked property as a phrase: `PostgreSQL's version`. */
  readonly name: string;
  /** False when something is lost, wrong or refused sooner or later if it stays as it is. */
  readonly ok: boolean;
  /** True when it is ok for now, and costs something for as long as it stays so. */
  readonly warns?: boolean;
  /** The finding. If it is not ok, or warns, also why that matters and how to fix it. Without a full stop. */
  readonly words: string;
}
