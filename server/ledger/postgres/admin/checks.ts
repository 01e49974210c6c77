/** The last nightly check of every organization. */
import type { CheckResult, CheckStore } from "../../ports/health.ts";
import type { Sql } from "../client/connect.ts";

type CheckRow = Omit<CheckResult, "examples"> & { readonly examples: string };

export class PostgresChecks implements CheckStore {
  readonly #sql: Sql;

  constructor(sql: Sql) {
    this.#sql = sql;
  }

  async list(): Promise<readonly CheckResult[]> {
    const rows = await this.#sql<CheckRow[]>`
      SELECT organization, at_ms AS "atMs", took_ms AS "tookMs", differences, examples
      FROM checks ORDER BY organization`;
    return rows.map((row) => ({ ...row, examples: JSON.parse(row.examples) }));
  }

  async keep({ organization, atMs, tookMs, differences, examples }: CheckResult): Promise<void> {
    await this.#sql`
      INSERT INTO checks (organization, at_ms, took_ms, differences, examples)
      SELECT id, ${atMs}::bigint, ${tookMs}::bigint, ${differences}::bigint, ${JSON.stringify(examples)}
      FROM organizations WHERE id = ${organization} FOR KEY SHARE
      ON CONFLICT (organization) DO UPDATE SET at_ms = excluded.at_ms, took_ms = excluded.took_ms,
        differences = excluded.differences, examples = excluded.examples`;
  }
}
