/**
 * What every ledger must do, whichever database is behind it. Each store's test file calls this with its
 * own way of opening a ledger in a folder; opening the same folder again finds what was committed.
 */
import { afterEach, beforeEach, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Ledger, Organization } from "../../server/ledger/ledger.ts";
import { erasuresContract } from "./contract-erasures.ts";
import { importerContract, importsContract } from "./contract-imports.ts";
import { inboxContract } from "./contract-inbox.ts";
import { operationContract } from "./contract-operation.ts";
import { organizationsContract, tokensContract } from "./contract-organizations.ts";
import { parkingContract } from "./contract-parking.ts";
import { peopleStoreContract } from "./contract-people.ts";
import { settingsContract } from "./contract-settings.ts";
import { sourcesContract } from "./contract-sources.ts";
import { transactContract } from "./contract-transact.ts";

export type OpenLedger = (folder: string, options: { clock: () => number }) => Promise<Ledger>;

/** A ledger that a test may close and open again, with a clock that the test moves. */
export class LedgerUnderTest {
  nowMs = Date.UTC(2026, 0, 1);
  readonly #open: OpenLedger;
  #folder: string | undefined;
  #ledger: Ledger | undefined;

  constructor(open: OpenLedger) {
    this.#open = open;
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

  async organization(name = "Analytical Engines"): Promise<Organization> {
    return this.ledger.organizations.create({ name, timezone: "Europe/Paris", nowMs: this.nowMs });
  }
}

/** Declares the tests of the contract. */
export function ledgerContract(store: string, open: OpenLedger): void {
  describe(`a ledger on ${store}`, () => {
    const subject = new LedgerUnderTest(open);
    beforeEach(() => subject.start());
    afterEach(() => subject.stop());
    organizationsContract(subject);
    tokensContract(subject);
    transactContract(subject);
    inboxContract(subject);
    operationContract(subject);
    erasuresContract(subject);
    importsContract(subject);
    importerContract(subject);
    settingsContract(subject);
    peopleStoreContract(subject);
    parkingContract(subject);
    sourcesContract(subject);
  });
}
