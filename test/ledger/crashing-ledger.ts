/** A SQLite ledger in a folder of its own that a model test opens, closes, and lets crash. */

import { mkdirSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { features } from "../../server/features/features.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import { openSqliteLedger, type SqliteLedgerOptions } from "../../server/ledger/sqlite/open.ts";
import { CrashPoints } from "./crash-points.ts";

export class CrashingLedger {
  readonly #root = mkdtempSync(join(tmpdir(), "rekindle-model-"));
  readonly #options: () => Omit<SqliteLedgerOptions, "file" | "features">;
  readonly #points = new CrashPoints();
  #life = 0;
  #ledger: Ledger | undefined;

  /** @param options for each time that it is opened. */
  constructor(options: () => Omit<SqliteLedgerOptions, "file" | "features">) {
    this.#options = options;
    mkdirSync(this.#folder(this.#life));
    this.#points.install();
  }

  get ledger(): Ledger {
    if (this.#ledger === undefined) throw new Error("the ledger is not open");
    return this.#ledger;
  }

  async open(): Promise<void> {
    const file = join(this.#folder(this.#life), "ledger.sqlite");
    this.#ledger = await openSqliteLedger({ file, features, ...this.#options() });
  }

  async reopen(): Promise<void> {
    await this.ledger.close();
    await this.open();
  }

  /**
   * Runs an action, and kills the ledger this many moments after its beginning. A moment is before or after
   * each statement. Then the ledger is open again, with the disk's state of that moment.
   * @returns whether it was killed, or false if all was done before
   */
  async killedWithin(moments: number, doing: () => Promise<unknown>): Promise<boolean> {
    const next = this.#folder(this.#life + 1);
    this.#points.arm(moments, this.#folder(this.#life), next);
    await doing();
    if (!this.#points.disarm()) return false;
    await this.ledger.close();
    rmSync(this.#folder(this.#life), { recursive: true });
    this.#life += 1;
    await this.open();
    return true;
  }

  async remove(): Promise<void> {
    await this.#ledger?.close();
    this.#points.uninstall();
    rmSync(this.#root, { recursive: true, force: true });
  }

  #folder(life: number): string {
    return join(this.#root, `life-${life}`);
  }
}
