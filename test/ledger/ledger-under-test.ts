/** A ledger that the contract's tests open in a folder of their own, and close and open again. */
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingUp } from "../../server/ledger/audit.ts";
import type { Ledger } from "../../server/ledger/ledger.ts";
import type { Organization } from "../../server/ledger/stores/organization-rows.ts";
import type { Beside } from "./beside.ts";

export type OpenLedger = (folder: string, options: { clock: () => number }) => Promise<Ledger>;
/** The database of the ledger in a folder. */
export type OpenBeside = (folder: string) => Promise<Beside>;

/** A ledger that a test may close and open again, with a clock that the test moves. */
export class LedgerUnderTest {
  nowMs = Date.UTC(2026, 0, 1);
  readonly #open: OpenLedger;
  readonly #beside: OpenBeside;
  #folder: string | undefined;
  #ledger: Ledger | undefined;

  constructor(open: OpenLedger, beside: OpenBeside) {
    this.#open = open;
    this.#beside = beside;
  }

  get ledger(): Ledger {
    if (this.#ledger === undefined) throw new Error("the ledger is not open");
    return this.#ledger;
  }

  async start(): Promise<void> {
    this.nowMs = Date.UTC(2026, 0, 1);
    this.#folder = await mkdtemp(join(tmpdir(), "rekindle-ledger-"));
    await this.reopen();
  }

  async reopen(): Promise<void> {
    await this.#ledger?.close();
    this.#ledger = undefined;
    if (this.#folder === undefined) throw new Error("the ledger was not started");
    this.#ledger = await this.#open(this.#folder, { clock: () => this.nowMs });
  }

  async stop(): Promise<void> {
    await this.#ledger?.close();
    this.#ledger = undefined;
    if (this.#folder !== undefined) await rm(this.#folder, { recursive: true, force: true });
  }

  /** The ledger's database. */
  async beside(): Promise<Beside> {
    if (this.#folder === undefined) throw new Error("the ledger was not started");
    await this.ledger.flush();
    return this.#beside(this.#folder);
  }

  async organization(name = "Analytical Engines"): Promise<Organization> {
    return this.ledger.organizations.create({ name, timezone: "Europe/Paris", nowMs: this.nowMs }, settingUp);
  }
}
