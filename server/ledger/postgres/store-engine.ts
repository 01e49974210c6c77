/** Runs the statements of stores on PostgreSQL. */
import { AuditLog } from "../audit-log.ts";
import { driveLater, type Engine, type Transaction } from "../engine.ts";
import { type Answer, type Bound, Json, JsonRows, type Statement, type Steps } from "../sql.ts";
import type { Queries, Sql, Tx } from "./connect.ts";
import { restored, storable } from "./text.ts";
import { inTransaction, notInOrder, repeated } from "./transaction.ts";

export class PostgresEngine implements Engine {
  readonly audit = new AuditLog();
  /** 1,000 added rows are about 0.25 MB of text. An identify may wait for 1,000 held events to be dropped:
   * about 10 ms. */
  readonly partRows = { added: 1_000, deleted: 5_000, joined: 1_000, held: 1_000 };
  readonly countsFlushed: () => Promise<void>;
  readonly sharedNowMs: Engine["sharedNowMs"];
  readonly #sql: Sql;
  readonly #refuseLate: (tx: Tx) => Promise<void>;

  /** @param refuseLate throws when another node leads */
  constructor(
    sql: Sql,
    { countsFlushed, sharedNowMs }: Pick<Engine, "countsFlushed" | "sharedNowMs">,
    refuseLate: (tx: Tx) => Promise<void> = async () => {},
  ) {
    this.#sql = sql;
    this.#refuseLate = refuseLate;
    this.countsFlushed = countsFlushed;
    this.sharedNowMs = sharedNowMs;
  }

  alone<Result>(steps: Steps<Result>): Promise<Result> {
    return runOn(this.#sql, steps);
  }

  /** Runs the steps again after a deadlock: nothing was written. */
  async transaction<Result>(
    steps: Transaction<Result>,
    committed?: (result: Result) => void,
  ): Promise<Result> {
    const attempt = () => inTransaction(this.#sql, (tx) => runOn(tx, steps(this.audit)));
    const result = await repeated(attempt, notInOrder);
    committed?.(result);
    return result;
  }

  leadingTransaction<Result>(steps: Transaction<Result>): Promise<Result> {
    const attempt = () =>
      inTransaction(this.#sql, async (tx) => {
        await this.#refuseLate(tx);
        return runOn(tx, steps(this.audit));
      });
    return repeated(attempt, notInOrder);
  }

  requestTransaction<Result>(steps: Transaction<Result>): Promise<Result> {
    return this.transaction(steps);
  }

  snapshot<Result>(steps: Steps<Result>): Promise<Result> {
    return inTransaction(this.#sql, (tx) => runOn(tx, steps), "ISOLATION LEVEL REPEATABLE READ READ ONLY");
  }

  /** The event loop runs while PostgreSQL works. */
  async nextTurn(): Promise<void> {}
}

/** Runs the steps of a store on a pool, or inside of the caller's transaction. */
export function runOn<Result>(queries: Queries, steps: Steps<Result>): Promise<Result> {
  return driveLater(steps, (statement) => answer(queries, statement));
}

async function answer(queries: Queries, statement: Statement<unknown>): Promise<Answer> {
  const { texts, values } = statement.composed("postgres");
  const rows = await queries(Object.assign(texts, { raw: texts }), ...values.map(asBound));
  return { rows, changes: rows.count, textOf: restored };
}

function asBound(value: Bound): string | number | boolean | null {
  if (value instanceof Json) return value.text;
  if (value instanceof JsonRows) return value.text(storable);
  return typeof value === "string" ? storable(value) : value;
}
