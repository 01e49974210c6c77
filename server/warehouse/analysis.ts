/**
 * Analysis: the warehouse, the loader that keeps it fed, and the long work on both. It is the heart of the
 * analysis process; the command line opens one of its own when no server runs.
 *
 * Invariant: nothing is answered before every batch that a crash left frozen has been sent again.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Zone } from "../calendar/zone.ts";
import { type Organization, Refusal, type SharedLedger } from "../ledger/ledger.ts";
import { type Lock, takeLock } from "../process/lock.ts";
import type { Logger } from "../process/log.ts";
import { type BackupRequest, type BackupSummary, backUp } from "./backup.ts";
import { openChdbWarehouse } from "./chdb.ts";
import { type Acknowledged, checkOrganization, type Difference, describeDifference } from "./check.ts";
import { type ExportFormat, type ExportTable, exportTable } from "./export.ts";
import { dropFrozenTables } from "./frozen-tables.ts";
import { Loader, type LoaderStatus } from "./loader.ts";
import { rebuild } from "./rebuild.ts";
import type { Warehouse } from "./warehouse.ts";

/** What can be asked of analysis, in this process or across a socket. */
export interface AnalysisService {
  /** The bytes of an export, complete up to what was acknowledged before it began. */
  export(organization: number, table: ExportTable, format: ExportFormat): AsyncIterable<Uint8Array>;
  /** Computes all days and rollups of an organization again. */
  rebuild(organization: number): Promise<void>;
  /** Compares ledger, events and rollups; the differences in words, none when all agree. */
  check(organization: number): Promise<readonly string[]>;
  /** Writes a backup of everything, and loses nothing that is acknowledged before.
   * @throws Refusal, CallFailed; then nothing of it is left */
  backUp(request: BackupRequest): Promise<BackupSummary>;
}

export interface AnalysisStatus {
  readonly state: "ready" | "rebuilding";
  readonly loader: LoaderStatus;
}

/** How soon a rebuild begins that a change of timezone asked for. */
const rebuildPollMs = 2_000;

/** Where the warehouse lies in a data folder. */
export function warehouseFolder(dataDir: string): string {
  return join(dataDir, "warehouse");
}

/** An analysis process that lost its intake takes a moment to finish and to leave. */
const lockPatienceMs = 15_000;

/** Takes the right to open the warehouse of a data folder, before anything of it is touched.
 * @throws Refusal when another process keeps it */
export async function takeAnalysisLock(dataDir: string): Promise<Lock> {
  const deadlineMs = performance.now() + lockPatienceMs;
  while (true) {
    const lock = takeLock(dataDir, "analysis");
    if (lock !== undefined) return lock;
    if (performance.now() > deadlineMs) {
      throw new Refusal(`the warehouse in ${dataDir} is in use by another analysis process: stop that one.`);
    }
    await Bun.sleep(50);
  }
}

/** Opens the warehouse, sends again what a crash left frozen, and begins to load what comes.
 * @throws WarehouseError when the folder is in use or was written by a newer version */
export async function openAnalysis(dataDir: string, ledger: SharedLedger, log: Logger): Promise<Analysis> {
  const temporaryFolder = join(dataDir, "tmp");
  // What a killed process left there may be as large as an export.
  await rm(temporaryFolder, { recursive: true, force: true });
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  // What a backup left that was killed.
  await dropFrozenTables(warehouse);
  const loader = new Loader({ inbox: ledger.inbox, warehouse, log });
  await loader.replay();
  return new Analysis({ warehouse, loader, ledger, log, dataDir, temporaryFolder });
}

interface Parts {
  readonly warehouse: Warehouse;
  readonly loader: Loader;
  readonly ledger: SharedLedger;
  readonly log: Logger;
  readonly dataDir: string;
  readonly temporaryFolder: string;
}

export class Analysis implements AnalysisService {
  readonly #parts: Parts;
  readonly #rebuildTimer: ReturnType<typeof setInterval>;
  /** Rebuilds run one after another. */
  #rebuilding: Promise<void> = Promise.resolve();
  #rebuilds = 0;
  #polling = false;
  #backup: Promise<unknown> | undefined;
  readonly #closing = new AbortController();

  constructor(parts: Parts) {
    this.#parts = parts;
    parts.loader.start();
    this.#rebuildTimer = setInterval(() => this.#rebuildPending(), rebuildPollMs);
  }

  get warehouse(): Warehouse {
    return this.#parts.warehouse;
  }

  status(): AnalysisStatus {
    return { state: this.#rebuilds > 0 ? "rebuilding" : "ready", loader: this.#parts.loader.status() };
  }

  /** Resolves when everything that is acknowledged by now is in the warehouse. */
  async drain(): Promise<void> {
    const { newestInboxId } = await this.#parts.ledger.inbox.backlog();
    await this.#parts.loader.drain(newestInboxId);
  }

  async *export(organization: number, table: ExportTable, format: ExportFormat): AsyncIterable<Uint8Array> {
    const { warehouse, temporaryFolder } = this.#parts;
    await this.drain();
    yield* exportTable(warehouse, { organization, table, format, temporaryFolder });
  }

  rebuild(organization: number): Promise<void> {
    this.#rebuilds += 1;
    const work = this.#rebuilding.then(() => this.#rebuild(organization));
    this.#rebuilding = work
      .catch(() => undefined)
      .finally(() => {
        this.#rebuilds -= 1;
      });
    return work;
  }

  async check(organization: number): Promise<readonly string[]> {
    const { warehouse, loader } = this.#parts;
    const before = await this.#acknowledged(organization);
    await this.drain();
    await loader.pause();
    try {
      const differences = await checkOrganization(warehouse, organization, before);
      if (differences.length === 0) return [];
      const after = await this.#acknowledged(organization);
      return differences.filter((found) => isSettled(found, before, after)).map(describeDifference);
    } finally {
      loader.resume();
    }
  }

  async backUp(request: BackupRequest): Promise<BackupSummary> {
    if (this.#backup !== undefined) throw new Refusal("another backup is being made: wait for its end.");
    const signal = AbortSignal.any([request.signal, this.#closing.signal]);
    const backup = backUp(this.#parts, { ...request, signal });
    this.#backup = backup;
    try {
      return await backup;
    } finally {
      this.#backup = undefined;
    }
  }

  /** Finishes the batch and the rebuild in hand, ends a backup, then closes the engine. */
  async close(): Promise<void> {
    clearInterval(this.#rebuildTimer);
    this.#closing.abort(new Refusal("the service is stopping: the backup was not made."));
    await this.#backup?.catch(() => undefined);
    await this.#rebuilding;
    await this.#parts.loader.stop();
    await this.#parts.warehouse.close();
  }

  async #acknowledged(organization: number): Promise<Acknowledged> {
    const { ledger } = this.#parts;
    const [dayCounts, populations] = await Promise.all([
      ledger.dayCounts(organization),
      ledger.populations(organization),
    ]);
    return { dayCounts, populations };
  }

  async #rebuild(id: number): Promise<void> {
    const { warehouse, loader, ledger, log } = this.#parts;
    const organization = await this.#organization(id);
    // What was admitted in the old timezone has to be in the warehouse, where its day can be changed.
    await ledger.rebuildBegun(id);
    await this.drain();
    await loader.pause();
    try {
      const zone = new Zone(organization.timezone);
      await rebuild(warehouse, id, zone.transitions, (progress) =>
        log.info({ organization: organization.name, ...progress }, "rebuilding"),
      );
      await ledger.rebuildDone(id, organization.timezone);
    } finally {
      loader.resume();
    }
  }

  async #organization(id: number): Promise<Organization> {
    const found = (await this.#parts.ledger.organizations.list()).find((each) => each.id === id);
    if (found === undefined) throw new Refusal(`there is no organization with the id ${id}.`);
    return found;
  }

  /** Begins the rebuilds that changes of timezones asked for; a crash leaves them pending. */
  async #rebuildPending(): Promise<void> {
    if (this.#polling || this.#rebuilds > 0) return;
    this.#polling = true;
    try {
      for (const organization of await this.#parts.ledger.rebuildsPending()) await this.rebuild(organization);
    } catch (error) {
      this.#parts.log.warn({ err: error }, "a rebuild failed and will be tried again");
    } finally {
      this.#polling = false;
    }
  }
}

/** Whether what differs was not being written while it was compared. */
function isSettled(found: Difference, before: Acknowledged, after: Acknowledged): boolean {
  if (found.kind === "users" || found.kind === "accounts") {
    return Bun.deepEquals(before.populations, after.populations);
  }
  if (found.kind !== "events") return true;
  const dayIn = ({ dayCounts }: Acknowledged) => dayCounts.find(({ utcDay }) => utcDay === found.utcDay);
  return Bun.deepEquals(dayIn(before), dayIn(after));
}
