/** Runs the statements of stores on the connection of a SQLite ledger, synchronously. */
import type { Database, Statement as Prepared, SQLQueryBindings } from "bun:sqlite";
import { AuditLog } from "../audit-log.ts";
import { drive, type Engine, type Transaction } from "../engine.ts";
import { type Answer, type Bound, Json, JsonRows, type Statement, type Steps } from "../sql.ts";
import { nextTurn } from "./small-steps.ts";
import { inTransaction } from "./sync-transaction.ts";
import type { WriteAheadLog } from "./write-ahead-log.ts";

type Row = Record<string, unknown>;

export class SqliteEngine implements Engine {
  readonly audit = new AuditLog();
  /** They take about 2 ms of the thread that answers requests. */
  readonly partRows = { added: 200, deleted: 500, joined: 200, held: 100 };
  readonly nextTurn = nextTurn;
  readonly sharedNowMs = async (nowMs: number): Promise<number> => nowMs;
  readonly #db: Database;
  readonly #log: Pick<WriteAheadLog, "unsynced" | "synced">;
  /** Prepared statements by their text. All stores have about 150. */
  readonly #prepared = new Map<string, Prepared<Row, SQLQueryBindings[]>>();

  constructor(db: Database, log: Pick<WriteAheadLog, "unsynced" | "synced">) {
    this.#db = db;
    this.#log = log;
  }

  async alone<Result>(steps: Steps<Result>): Promise<Result> {
    return this.now(steps);
  }

  async transaction<Result>(
    steps: Transaction<Result>,
    committed?: (result: Result) => void,
  ): Promise<Result> {
    const result = this.#commit(steps(this.audit));
    committed?.(result);
    return result;
  }

  /** There is one process that writes. */
  leadingTransaction<Result>(steps: Transaction<Result>): Promise<Result> {
    return this.transaction(steps);
  }

  async requestTransaction<Result>(steps: Transaction<Result>): Promise<Result> {
    const result = this.#log.unsynced(() => this.#commit(steps(this.audit)));
    await this.#log.synced();
    return result;
  }

  /** The steps run without a pause, so they see one state. */
  async snapshot<Result>(steps: Steps<Result>): Promise<Result> {
    return this.now(steps);
  }

  /** There is no other node with counts. */
  async countsFlushed(): Promise<void> {}

  /** Runs steps at once, inside of the caller's transaction if there is one. */
  now<Result>(steps: Steps<Result>): Result {
    return drive(steps, (statement) => this.#answer(statement));
  }

  #commit<Result>(steps: Steps<Result>): Result {
    return inTransaction(this.#db, () => ({ result: this.now(steps) })).result;
  }

  #answer(statement: Statement<unknown>): Answer {
    const { texts, values } = statement.composed("sqlite");
    const text = texts.join("?");
    // An advisory lock of PostgreSQL has an empty text here.
    if (text === "") return { rows: [], changes: 0, textOf };
    let prepared = this.#prepared.get(text);
    if (prepared === undefined) {
      prepared = this.#db.prepare<Row, SQLQueryBindings[]>(text);
      this.#prepared.set(text, prepared);
    }
    const bound = values.map(asBound);
    if (statement.hasRows) return { rows: prepared.all(...bound), changes: 0, textOf };
    return { rows: [], changes: prepared.run(...bound).changes, textOf };
  }
}

/** Text is stored unchanged. */
function textOf(stored: string): string {
  return stored;
}

function asBound(value: Bound): SQLQueryBindings {
  if (value instanceof Json) return value.text;
  return value instanceof JsonRows ? value.text(textOf) : value;
}
