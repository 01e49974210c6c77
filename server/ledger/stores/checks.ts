/** The last nightly check of every organization. */
import { forKeyShare } from "../dialect.ts";
import type { Engine } from "../engine.ts";
import { integer, Json, json, RowOf, run, select } from "../sql.ts";

/** The last comparison of ledger, events and rollups. */
export interface CheckResult {
  readonly organization: number;
  readonly atMs: number;
  readonly tookMs: number;
  readonly differences: number;
  /** The first differences, as sentences. */
  readonly examples: readonly string[];
}

const check = new RowOf<CheckResult>({
  organization: integer(),
  atMs: integer(),
  tookMs: integer(),
  differences: integer(),
  examples: json(),
});

/** The store of checks. */
export function checkStore(engine: Engine) {
  return {
    /** The last check of each organization. */
    list: () => engine.alone(select(check)`FROM checks ORDER BY organization`),

    /** Replaces the organization's last result. Nothing is stored for an organization that does not exist. */
    keep: async ({ organization, atMs, tookMs, differences, examples }: CheckResult) => {
      await engine.alone(run`
        INSERT INTO checks (organization, at_ms, took_ms, differences, examples)
        SELECT id, CAST(${atMs} AS bigint), CAST(${tookMs} AS bigint), CAST(${differences} AS bigint),
          CAST(${Json.of(examples)} AS text)
        FROM organizations WHERE id = ${organization} ${forKeyShare}
        ON CONFLICT (organization) DO UPDATE SET at_ms = excluded.at_ms, took_ms = excluded.took_ms,
          differences = excluded.differences, examples = excluded.examples`);
    },
  };
}

export type CheckStore = ReturnType<typeof checkStore>;
