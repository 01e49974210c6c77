/**
 * Notices organizations whose past comes in bulk: a first load, a repair, the history of another tool. Scores
 * wait for its end. Counts in memory. Writes down at once that a load has begun, so that it is known before
 * its rows are in the warehouse, and every few seconds until when it lasted. A process that is killed forgets
 * those seconds.
 */
import type { Ledger } from "../ledger/ledger.ts";

/** So many events of earlier days within this time are a load in bulk. */
const bulk = { rows: 1_000, withinMs: 30_000 } as const;
/** Time is counted in parts, so that a load is noticed in its first seconds and over soon after its last
 * row. */
const parts = 6;
const partMs = bulk.withinMs / parts;

/** The newest parts of an organization's rows. */
interface Recent {
  /** The number of the newest part, since 1970. */
  part: number;
  /** Rows by part modulo `parts`. */
  readonly rows: number[];
}

export class BulkLoads {
  readonly #ledger: Pick<Ledger, "noteBulkLoad">;
  readonly #recent = new Map<number, Recent>();
  /** By organization: until when a load lasted that is not written down yet. */
  readonly #lasted = new Map<number, number>();
  /** By organization: the last instant that was written down. */
  readonly #noted = new Map<number, number>();
  #nodes = 1;

  constructor(ledger: Pick<Ledger, "noteBulkLoad">) {
    this.#ledger = ledger;
  }

  /** Over how many nodes rows are spread. Each counts its own, and one of them sees at least its share of a
   * load. */
  shareOver(nodes: number): void {
    this.#nodes = nodes;
  }

  /** Counts events of earlier days that were stored at an instant, by organization. */
  stored(rows: ReadonlyMap<number, number>, atMs: number): void {
    for (const [organization, count] of rows) {
      if (this.#count(organization, count, atMs) < bulk.rows / this.#nodes) continue;
      this.#lasted.set(organization, atMs);
      const notedMs = this.#noted.get(organization) ?? Number.NEGATIVE_INFINITY;
      // What cannot be written now is kept for `flush`.
      if (Math.abs(atMs - notedMs) >= bulk.withinMs) this.#note(organization, atMs).catch(() => undefined);
    }
  }

  async #note(organization: number, atMs: number): Promise<void> {
    this.#noted.set(organization, atMs);
    await this.#ledger.noteBulkLoad(organization, atMs);
    if (this.#lasted.get(organization) === atMs) this.#lasted.delete(organization);
  }

  /** Writes down what was noticed. What cannot be written is kept for the next call. */
  async flush(): Promise<void> {
    for (const [organization, atMs] of [...this.#lasted]) await this.#note(organization, atMs);
    const oldest = Math.max(0, ...[...this.#recent.values()].map(({ part }) => part)) - parts;
    for (const [organization, { part }] of this.#recent) {
      if (part > oldest) continue;
      this.#recent.delete(organization);
      this.#noted.delete(organization);
    }
  }

  /** @returns the rows of the organization within `bulk.withinMs` */
  #count(organization: number, count: number, atMs: number): number {
    const part = Math.floor(atMs / partMs);
    const recent = this.#recent.get(organization) ?? { part, rows: Array.from({ length: parts }, () => 0) };
    this.#recent.set(organization, recent);
    // After a clock has stepped back its rows count in the newest part.
    for (let next = Math.max(recent.part + 1, part - parts + 1); next <= part; next += 1)
      recent.rows[next % parts] = 0;
    recent.part = Math.max(recent.part, part);
    const place = recent.part % parts;
    recent.rows[place] = (recent.rows[place] ?? 0) + count;
    return recent.rows.reduce((sum, rows) => sum + rows, 0);
  }
}
