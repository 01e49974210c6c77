/** An inbox whose rows are made when the loader reads them, so that a benchmark fills a warehouse as the
 * product does. */
import type { FrozenBatch, Inbox, WarehouseTable } from "../../server/ledger/inbox.ts";
import { currentSchema } from "../../server/ledger/rules/warehouse-rows.ts";

export interface GeneratedRow {
  readonly table: WarehouseTable;
  /** The event's; 0 for other tables. */
  readonly year: number;
  readonly line: string;
}

const rowsPerBatch = 50_000;
/** A batch's number is its token in the warehouse: these are beyond those of a ledger that loads into the
 * same one. */
const firstNumber = 1_000_000;

/** Takes the ledger's place before a loader. */
export class GeneratedInbox implements Inbox {
  readonly #rows: Iterator<GeneratedRow>;
  #pending: GeneratedRow | undefined;
  #body: Buffer = Buffer.alloc(0);
  #batch: FrozenBatch | undefined;
  #batches = 0;

  constructor(rows: Iterator<GeneratedRow>) {
    this.#rows = rows;
    this.#pending = this.#next();
  }

  get isEmpty(): boolean {
    return this.#pending === undefined && this.#batch === undefined;
  }

  async freeze(): Promise<readonly FrozenBatch[]> {
    if (this.#batch === undefined) this.#freezeNext();
    return this.#batch === undefined ? [] : [this.#batch];
  }

  async read(): Promise<Buffer> {
    return this.#body;
  }

  async finish(): Promise<void> {
    this.#batch = undefined;
  }

  async backlog() {
    return { rows: 0, bytes: 0, newestInboxId: this.#batches, loadedUptoInboxId: this.#batches };
  }

  /** Rows of one table and year that follow each other, as the ledger freezes them. */
  #freezeNext(): void {
    const first = this.#pending;
    if (first === undefined) return;
    const lines: string[] = [];
    let pending: GeneratedRow | undefined = first;
    while (pending?.table === first.table && pending.year === first.year && lines.length < rowsPerBatch) {
      lines.push(pending.line);
      pending = this.#next();
    }
    this.#pending = pending;
    this.#body = Buffer.from(`${lines.join("\n")}\n`);
    this.#batches += 1;
    this.#batch = {
      number: firstNumber + this.#batches,
      table: first.table,
      year: first.year,
      schema: currentSchema[first.table],
      rows: lines.length,
      bytes: this.#body.length,
      afterInboxId: this.#batches - 1,
      uptoInboxId: this.#batches,
    };
  }

  #next(): GeneratedRow | undefined {
    const { value, done } = this.#rows.next();
    return done ? undefined : value;
  }
}
