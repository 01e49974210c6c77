/**
 * What every ledger must do, whichever database is behind it. Each store's test file calls this with its
 * own way of opening a ledger in a folder; opening the same folder again finds what was committed.
 */
import { afterEach, beforeEach, describe } from "bun:test";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { settingUp } from "../../server/ledger/ports/audit.ts";
import type { Ledger } from "../../server/ledger/ports/ledger.ts";
import type { Organization } from "../../server/ledger/ports/organizations.ts";
import type { Beside } from "./beside.ts";
import { accountErasuresContract } from "./contract-account-erasures.ts";
import { auditContract } from "./contract-audit.ts";
import { changesContract } from "./contract-changes.ts";
import { deletionsContract } from "./contract-deletions.ts";
import { erasuresContract } from "./contract-erasures.ts";
import { importerContract, importsContract } from "./contract-imports.ts";
import { deadLettersOfInboxContract, inboxContract } from "./contract-inbox.ts";
import { linksContract } from "./contract-links.ts";
import { operationContract } from "./contract-operation.ts";
import { organizationsContract, tokensContract } from "./contract-organizations.ts";
import { parkingContract } from "./contract-parking.ts";
import { peopleStoreContract } from "./contract-people.ts";
import { settingsContract } from "./contract-settings.ts";
import { sourcesContract } from "./contract-sources.ts";
import { transactContract } from "./contract-transact.ts";
import { sourceSettingsContract, viewsContract } from "./contract-views.ts";

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

const parts = {
  organizations: organizationsContract,
  tokens: tokensContract,
  transact: transactContract,
  inbox: inboxContract,
  deadLettersOfInbox: deadLettersOfInboxContract,
  operation: operationContract,
  erasures: erasuresContract,
  accountErasures: accountErasuresContract,
  deletions: deletionsContract,
  imports: importsContract,
  importer: importerContract,
  settings: settingsContract,
  people: peopleStoreContract,
  parking: parkingContract,
  links: linksContract,
  sources: sourcesContract,
  views: viewsContract,
  sourceSettings: sourceSettingsContract,
  audit: auditContract,
  changes: changesContract,
} as const;

export type ContractPart = keyof typeof parts;
/** What a whole ledger does. */
export const allParts = Object.keys(parts) as readonly ContractPart[];

/** Declares the tests of these parts of the contract. */
export function ledgerContract(
  store: string,
  open: OpenLedger,
  beside: OpenBeside,
  has: readonly ContractPart[],
): void {
  describe(`a ledger on ${store}`, () => {
    const subject = new LedgerUnderTest(open, beside);
    beforeEach(() => subject.start());
    afterEach(() => subject.stop());
    for (const part of has) parts[part](subject);
  });
}
