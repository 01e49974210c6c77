/** The last nightly check of every organization. */
import type { CheckResult, CheckStore } from "../ports/health.ts";
import { forKeyShare } from "./engine/dialect.ts";
import type { Engine } from "./engine/engine.ts";
import { integer, Json, json, RowOf, run, select } from "./engine/sql.ts";

const check = new RowOf<CheckResult>({
  organization: integer(),
  atMs: integer(),
  tookMs: integer(),
  differences: integer(),
  examples: json(),
});

/** The store of checks. */
export function checkStore(engine: Engine): CheckStore {
  return {
    list: () => engine.alone(select(check)`FROM checks ORDER BY organization`),

    keep: async ({ organization, atMs, tookMs, differences, examples }) => {
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
