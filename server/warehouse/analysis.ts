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
import { openChdbWarehouse } from "./chdb.ts";
import { type Acknowledged, checkOrganization, type Difference, describeDifference } from "./check.ts";
import { ExclusionKeeper } from "./exclusion-keeper.ts";
import { type ExportFormat, type ExportTable, exportTable } from "./export.ts";
import { Loader, type LoaderStatus } from "./loader.ts";
import { NightlyCheck } from "./nightly.ts";
import { rebuild, rebuildSteps } from "./rebuild.ts";
import { type RebuildStatus, RebuildWatch } from "./rebuild-watch.ts";
import type { Warehouse } from "./warehouse.ts";

/** What can be asked of analysis, in this process or across a socket. */
export interface AnalysisService {
  /** The bytes of an export, complete up to what was acknowledged before it began. */
  export(organization: number, table: ExportTable, format: ExportFormat): AsyncIterable<Uint8Array>;
  /** Computes all days and rollups of an organization again. */
  rebuild(organization: number): Promise<void>;
  /** Compares ledger, events and rollups; the differences in words, none when all agree. */
  check(organization: number): Promise<readonly string[]>;
}

/** How far an organization's figures are to be trusted at this moment. */
export interface Freshness {
  /** Everything that was acknowledged before this instant is in the figures; null when that is not known yet. */
  readonly loadedUptoMs: number | null;
  /** While the days are computed again, in a new timezone say; `progress` from 0 to 1. */
  readonly rebuilding: { readonly sinceMs: number; readonly progress: number } | null;
  readonly excludedUsers: number;
  readonly timezone: string;
}

export interface AnalysisStatus {
  readonly state: "ready" | "rebuilding";
  readonly loader: LoaderStatus;
  readonly rebuild: RebuildStatus | null;
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
  const exclusions = new ExclusionKeeper({ warehouse, exclusions: ledger.exclusions, log });
  const loader = new Loader({
    ...{ inbox: ledger.inbox, warehouse, log },
    loaded: (batch, body) => exclusions.batchLoaded(batch, body),
  });
  await loader.replay();
  await exclusions.apply();
  return new Analysis({ warehouse, loader, exclusions, ledger, log, temporaryFolder });
}

interface Parts {
  readonly warehouse: Warehouse;
  readonly loader: Loader;
  readonly exclusions: ExclusionKeeper;
  readonly ledger: SharedLedger;
  readonly log: Logger;
  readonly temporaryFolder: string;
}

export class Analysis implements AnalysisService {
  readonly #parts: Parts;
  readonly #rebuildTimer: ReturnType<typeof setInterval>;
  /** Rebuilds run one after another. */
  #rebuilding: Promise<void> = Promise.resolve();
  #rebuilds = 0;
  #watch: RebuildWatch | undefined;
  #polling = false;
  /** The server starts it; a command has no night. */
  readonly nightly: NightlyCheck;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { ledger, log, loader } = parts;
    this.nightly = new NightlyCheck({
      ...{ ledger, log },
      check: (organization) => this.check(organization),
      isBusy: () => this.#rebuilds > 0 || loader.status().failure !== null,
    });
    loader.start();
    parts.exclusions.start();
    this.#rebuildTimer = setInterval(() => this.#rebuildPending(), rebuildPollMs);
  }

  get warehouse(): Warehouse {
    return this.#parts.warehouse;
  }

  status(): AnalysisStatus {
    return {
      state: this.#rebuilds > 0 ? "rebuilding" : "ready",
      loader: this.#parts.loader.status(),
      rebuild: this.#watch?.status() ?? null,
    };
  }

  /** @throws Refusal when the organization does not exist. */
  async freshness(organization: number): Promise<Freshness> {
    const { ledger, exclusions } = this.#parts;
    const { timezone, loadedUptoMs, rebuildingSinceMs: sinceMs } = await ledger.freshness(organization);
    const running = this.#watch?.status();
    const progress = running?.organization === organization ? running.progress : 0;
    return {
      loadedUptoMs,
      rebuilding: sinceMs === null ? null : { sinceMs, progress },
      excludedUsers: exclusions.excludedUsers(organization),
      timezone,
    };
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
      // Read again: rows may have become dead letters while the inbox was drained.
      const missing = await this.#parts.ledger.deadLetters.missing(organization);
      const differences = await checkOrganization(warehouse, organization, { ...before, missing });
      if (differences.length === 0) return [];
      const after = await this.#acknowledged(organization);
      return differences.filter((found) => isSettled(found, before, after)).map(describeDifference);
    } finally {
      loader.resume();
    }
  }

  /** Finishes the batch and the rebuild in hand, then closes the engine. */
  async close(): Promise<void> {
    clearInterval(this.#rebuildTimer);
    await Promise.all([this.#rebuilding, this.#parts.exclusions.stop()]);
    // A check may wait for the loader, which lets go of it when it stops.
    await Promise.all([this.nightly.stop(), this.#parts.loader.stop()]);
    await this.#parts.warehouse.close();
  }

  async #acknowledged(organization: number): Promise<Acknowledged> {
    const { ledger } = this.#parts;
    const [dayCounts, populations, missing] = await Promise.all([
      ledger.dayCounts(organization),
      ledger.populations(organization),
      ledger.deadLetters.missing(organization),
    ]);
    return { dayCounts, populations, missing };
  }

  async #rebuild(id: number): Promise<void> {
    const { warehouse, loader, ledger, log } = this.#parts;
    const organization = await this.#organization(id);
    // What was admitted in the old timezone has to be in the warehouse, where its day can be changed.
    await ledger.rebuildBegun(id);
    await this.drain();
    await loader.pause();
    const watch = new RebuildWatch(warehouse, id);
    this.#watch = watch;
    try {
      await watch.start(rebuildSteps);
      const zone = new Zone(organization.timezone);
      await rebuild(warehouse, id, zone.transitions, (progress) => {
        watch.stepDone(progress);
        const { secondsLeft } = watch.status();
        log.info({ organization: organization.name, ...progress, secondsLeft }, "rebuilding");
      });
      await ledger.rebuildDone(id, organization.timezone);
    } finally {
      this.#watch = undefined;
      await watch.stop();
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

/** Whether what differs was neither being written nor moved to or from the dead letters while it was compared. */
function isSettled(found: Difference, before: Acknowledged, after: Acknowledged): boolean {
  if (found.kind === "users" || found.kind === "accounts" || found.kind === "user_versions") {
    return Bun.deepEquals(people(before), people(after));
  }
  if (found.kind !== "events") return true;
  const dayIn = ({ dayCounts, missing }: Acknowledged) =>
    [dayCounts, missing?.events ?? []].map((days) => days.find(({ utcDay }) => utcDay === found.utcDay));
  return Bun.deepEquals(dayIn(before), dayIn(after));
}

function people({ populations, missing }: Acknowledged) {
  return [populations, missing?.users, missing?.accounts, missing?.userVersions];
}
