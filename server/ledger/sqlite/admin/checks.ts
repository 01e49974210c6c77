/** The last nightly check of every organization. */
import type { Database } from "bun:sqlite";
import type { CheckResult, CheckStore } from "../../ports/health.ts";

type CheckRow = Omit<CheckResult, "examples"> & { readonly examples: string };

function prepare(db: Database) {
  return {
    list: db.prepare<CheckRow, []>(
      `SELECT organization, at_ms AS atMs, took_ms AS tookMs, differences, examples
       FROM checks ORDER BY organization`,
    ),
    keep: db.prepare(
      `INSERT OR REPLACE INTO checks (organization, at_ms, took_ms, differences, examples)
       SELECT id, ?2, ?3, ?4, ?5 FROM organizations WHERE id = ?1`,
    ),
  };
}

export class SqliteChecks implements CheckStore {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  async list(): Promise<readonly CheckResult[]> {
    return this.#statements.list.all().map((row) => ({ ...row, examples: JSON.parse(row.examples) }));
  }

  async keep({ organization, atMs, tookMs, differences, examples }: CheckResult): Promise<void> {
    this.#statements.keep.run(organization, atMs, tookMs, differences, JSON.stringify(examples));
  }
}
