/**
 * Analysis: the warehouse, the loader that keeps it fed, and the long work on both. It is the heart of the
 * analysis process; the command line opens one of its own when no server runs.
 *
 * Invariant: nothing is answered before every batch that a crash left frozen has been sent again.
 */
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { Refusal } from "../../contract/refusal.ts";
import type { AccountReceipt, AskedErasure, ErasureReceipt } from "../ledger/erasures.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import { warehouseFolder } from "../process/data-folder.ts";
import { type Lock, takeLock } from "../process/lock.ts";
import type { Logger } from "../process/log.ts";
import type { Time } from "../process/time.ts";
import { type BackupRequest, type BackupSummary, backUp } from "./copies/backup.ts";
import { type ExportFormat, exportTable } from "./copies/export.ts";
import { dropFrozenTables } from "./copies/frozen-tables.ts";
import { exportPerson, type PersonRequest } from "./copies/person.ts";
import { exportWork, isWarehouseTable } from "./copies/work-export.ts";
import { openChdbWarehouse } from "./engine/chdb.ts";
import { damagedParts } from "./engine/damaged-parts.ts";
import type { Warehouse } from "./engine/warehouse.ts";
import { ExclusionKeeper } from "./load/exclusion-keeper.ts";
import { LoadedDays } from "./load/loaded-days.ts";
import { Loader, type LoaderStatus } from "./load/loader.ts";
import { LoadingDays } from "./load/loading-days.ts";
import {
  type Acknowledged,
  acknowledgedOf,
  checkOrganization,
  describeDifference,
  settledOf,
} from "./upkeep/check.ts";
import { subscriptionDifferences } from "./upkeep/check-billing.ts";
import { NightlyCheck } from "./upkeep/nightly.ts";
import type { RebuildStatus } from "./upkeep/rebuild-watch.ts";
import { Receipts } from "./upkeep/receipts.ts";
import { SubscriptionKeeper } from "./upkeep/subscription-keeper.ts";
import { Upkeep, type UpkeepParts } from "./upkeep/upkeep.ts";

/** The operations of analysis, in this process or across a socket. */
export interface AnalysisService {
  /** The bytes of an export. It contains everything that was acknowledged before it began. */
  export(organization: number, table: string, format: ExportFormat): AsyncIterable<Uint8Array>;
  /** Everything about one person as a JSON document, which the audit log remembers. @throws ApiError without
   * any data of them, before the first byte */
  person(request: PersonRequest): AsyncIterable<Uint8Array>;
  /** Computes all days and rollups of an organization again. */
  rebuild(organization: number): Promise<void>;
  /** Erases a user and resolves when no data is left; undefined when there is no such user. A failed or
   * interrupted erasure stays pending and is retried. */
  erase(organization: number, userId: string, asked: AskedErasure): Promise<ErasureReceipt | undefined>;
  /** Erases an account; its members stay. */
  eraseAccount(
    organization: number,
    accountId: string,
    asked: AskedErasure,
  ): Promise<AccountReceipt | undefined>;
  /** Deletes an organization and resolves when nothing is left; false when there is no such organization. */
  deleteOrganization(organization: number): Promise<boolean>;
  /** Compares ledger, events and rollups, after a pending rebuild. Returns the differences as sentences; none
   * when all agree. */
  check(organization: number): Promise<readonly string[]>;
  /** Writes a backup of everything, and loses nothing that is acknowledged before.
   * @throws Refusal, CallFailed; then nothing of it is left */
  backUp(request: BackupRequest): Promise<BackupSummary>;
}

/** How up to date an organization's figures are. */
export interface Freshness {
  /** Everything that was acknowledged before this instant is in the figures; null when that is not known
   * yet. */
  readonly loadedUptoMs: number | null;
  /** Set while the days are computed again, for example in a new timezone; `progress` from 0 to 1. */
  readonly rebuilding: { readonly sinceMs: number; readonly progress: number } | null;
  readonly excludedUsers: number;
  readonly timezone: string;
}

/** Work on an organization that fails, and is tried again. */
export interface Failure {
  readonly of: "exclusions" | "subscriptions" | "scores" | "training";
  readonly sinceMs: number;
}

/** Analysis as the process that has it answers questions with it. */
export interface ServedAnalysis extends AnalysisService {
  readonly warehouse: Warehouse;
  status(): AnalysisStatus;
  /** @throws Refusal when the organization does not exist. */
  freshness(organization: number): Promise<Freshness>;
}

export interface AnalysisStatus {
  readonly state: "ready" | "rebuilding";
  readonly loader: LoaderStatus;
  readonly rebuild: RebuildStatus | null;
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

/** Opens the warehouse, sends frozen batches of a crash again, and starts to load.
 * @throws WarehouseError when the folder is in use or was written by a newer version */
export async function openAnalysis(
  dataDir: string,
  ledger: SharedLedger,
  log: Logger,
  time: Time,
): Promise<Analysis> {
  // A killed process may have left files as large as an export.
  await rm(join(dataDir, "tmp"), { recursive: true, force: true });
  const warehouse = await openChdbWarehouse({ folder: warehouseFolder(dataDir) });
  const damaged = await damagedParts(warehouse);
  if (damaged.length > 0) {
    log.error(
      { parts: damaged },
      "the engine cannot read parts of the warehouse and has set them aside: their rows are missing in figures. rekindle doctor says which, and a backup has them",
    );
  }
  // Left by a backup that was killed.
  await dropFrozenTables(warehouse);
  return beginAnalysis({ warehouse, ledger, log, time, dataDir });
}

export interface Beginning {
  /** A start that is not wanted any more ends where it is. */
  readonly ending: Promise<void>;
  /** Receives the loader's status before the first batch is loaded, which may take as long as there are
   * failures. */
  loads(status: () => LoaderStatus): void;
}

/** Starts the work on a warehouse: sends frozen batches of a crash again, then loads. Closing it also closes
 * the warehouse. */
export async function beginAnalysis(
  opened: Omit<Parts, "loader" | "exclusions" | "subscriptions" | "loadedDays" | "loadingDays">,
  beginning?: Beginning,
): Promise<Analysis> {
  const { warehouse, ledger, log, time } = opened;
  const exclusions = new ExclusionKeeper({ warehouse, exclusions: ledger.exclusions, time, log });
  const subscriptions = new SubscriptionKeeper({ warehouse, ledger, time, log });
  const [loadedDays, loadingDays] = [new LoadedDays(), new LoadingDays()];
  const loader = new Loader({
    inbox: ledger.inbox,
    warehouse,
    time,
    log,
    loading: (batch, body) => loadingDays.batchBegun(batch, body),
    loaded: (batch, body) => {
      loadingDays.batchLoaded();
      exclusions.batchLoaded(batch, body);
      subscriptions.batchLoaded(batch, body);
      loadedDays.batchLoaded(batch, body);
    },
  });
  beginning?.ending.then(() => loader.stop());
  beginning?.loads(() => loader.status());
  await loader.replay();
  // Rules of one organization that cannot be applied keep no other from its figures.
  await exclusions.tryToApply();
  return new Analysis({ ...opened, loader, exclusions, subscriptions, loadedDays, loadingDays });
}

interface Parts extends UpkeepParts {
  readonly dataDir: string;
  readonly loadedDays: LoadedDays;
  readonly loadingDays: LoadingDays;
}

export class Analysis implements ServedAnalysis {
  readonly #parts: Parts;
  readonly #upkeep: Upkeep;
  readonly #receipts: Receipts;
  #backup: Promise<unknown> | undefined;
  readonly #closing = new AbortController();
  /** The server starts it; a command has no night. */
  readonly nightly: NightlyCheck;

  constructor(parts: Parts) {
    this.#parts = parts;
    const { ledger, log, loader, time } = parts;
    loader.start();
    parts.exclusions.start();
    parts.subscriptions.start();
    this.#upkeep = new Upkeep(parts);
    this.#receipts = new Receipts(ledger.erasures, async (id) => {
      await this.#upkeep.finishErasures();
      const done = await ledger.erasures.find(id);
      if (done === undefined) throw new Error("an erasure is not in the ledger any more");
      return done;
    });
    this.nightly = new NightlyCheck({
      ledger,
      log,
      time,
      check: (organization) => this.check(organization),
      isBusy: () => this.#upkeep.isRebuilding || loader.status().failure !== null,
    });
  }

  get warehouse(): Warehouse {
    return this.#parts.warehouse;
  }

  /** Which organizations' rules cannot be applied. */
  get exclusions(): Pick<ExclusionKeeper, "failing" | "failingSinceMs"> {
    return this.#parts.exclusions;
  }

  /** Which organizations' subscriptions cannot be computed. */
  get subscriptions(): Pick<SubscriptionKeeper, "failing" | "failingSinceMs"> {
    return this.#parts.subscriptions;
  }

  /** The earliest day of an organization's events that were loaded since the last call; undefined without
   * any. */
  takeEarliestLoadedDay(organization: number): number | undefined {
    return this.#parts.loadedDays.take(organization);
  }

  /** Calls back after each batch that is in the warehouse, from now on. */
  whenLoaded(listener: () => void): void {
    this.#parts.loadedDays.follow(listener);
  }

  /** How many batches with rows of an organization were loaded since the start. */
  loadedBatches(organization: number): number {
    return this.#parts.loadedDays.batches(organization);
  }

  /** How many of them had users. */
  loadedUserBatches(organization: number): number {
    return this.#parts.loadedDays.userBatches(organization);
  }

  status(): AnalysisStatus {
    return {
      state: this.#upkeep.isRebuilding ? "rebuilding" : "ready",
      loader: this.#parts.loader.status(),
      rebuild: this.#upkeep.rebuildStatus ?? null,
    };
  }

  async freshness(organization: number): Promise<Freshness> {
    const { ledger, exclusions } = this.#parts;
    const { timezone, loadedUptoMs, rebuildingSinceMs: sinceMs } = await ledger.freshness(organization);
    const running = this.#upkeep.rebuildStatus;
    const progress = running?.organization === organization ? running.progress : 0;
    return {
      loadedUptoMs,
      rebuilding: sinceMs === null ? null : { sinceMs, progress },
      excludedUsers: exclusions.excludedUsers(organization),
      timezone,
    };
  }

  async *export(organization: number, table: string, format: ExportFormat): AsyncIterable<Uint8Array> {
    const { warehouse, subscriptions, ledger, time } = this.#parts;
    if (!isWarehouseTable(table)) {
      yield* exportWork({ ledger, warehouse, nowMs: time.nowMs() }, organization, table, format);
      return;
    }
    await this.drain();
    if (table === "subscriptions") await subscriptions.complete(organization);
    yield* exportTable(warehouse, { organization, table, format });
  }

  async *person(request: PersonRequest): AsyncIterable<Uint8Array> {
    const { warehouse, subscriptions, ledger, time } = this.#parts;
    await this.drain();
    await subscriptions.complete(request.organization);
    yield* exportPerson({ warehouse, ledger, nowMs: time.nowMs() }, request);
  }

  rebuild(organization: number): Promise<void> {
    return this.#upkeep.rebuild(organization);
  }

  /** Resolves when everything that is acknowledged by now is in the warehouse, excluded users among it are in
   * no figure, and the subscriptions of its billing events are computed. */
  async drain(): Promise<void> {
    await this.#upkeep.drain();
    await this.#parts.subscriptions.updateLoaded();
    // No reason to refuse an export when it fails.
    await this.#parts.exclusions.tryToApply();
  }

  /** Runs `work` while no long work changes stored rows and no erasure is half done. */
  whileNothingChanges<Result>(work: () => Promise<Result>): Promise<Result> {
    return this.#upkeep.whileNothingChanges(work);
  }

  erase(...what: Parameters<AnalysisService["erase"]>): Promise<ErasureReceipt | undefined> {
    return this.#receipts.ofUser(...what);
  }

  eraseAccount(...what: Parameters<AnalysisService["eraseAccount"]>): Promise<AccountReceipt | undefined> {
    return this.#receipts.ofAccount(...what);
  }

  async deleteOrganization(organization: number): Promise<boolean> {
    const { ledger, log } = this.#parts;
    if ((await ledger.deletions.begin(organization)) === undefined) return false;
    log.info({ organization, by: "command line" }, "an organization is being deleted");
    await this.#upkeep.finishErasures();
    return true;
  }

  check(organization: number): Promise<readonly string[]> {
    return this.#upkeep.whileWhole(organization, () => this.#check(organization));
  }

  async backUp(request: BackupRequest): Promise<BackupSummary> {
    if (this.#backup !== undefined) throw new Refusal("another backup is being made: wait for its end.");
    const signal = AbortSignal.any([request.signal, this.#closing.signal]);
    const backup = this.#upkeep.whileNothingChanges(() => backUp(this.#parts, { ...request, signal }));
    this.#backup = backup;
    try {
      return await backup;
    } finally {
      this.#backup = undefined;
    }
  }

  /** Finishes the batch and the work in hand, ends a backup, then closes the engine. */
  async close(): Promise<void> {
    this.#closing.abort(new Refusal("the service is stopping: the backup was not made."));
    // No further check begins; the one in hand is work of the upkeep.
    const checked = this.nightly.stop();
    await Promise.all([this.#upkeep.stop(), this.#parts.exclusions.stop(), this.#parts.subscriptions.stop()]);
    await Promise.all([checked, this.#parts.loader.stop()]);
    await this.#parts.warehouse.close();
  }

  /** The loader goes on meanwhile, for the other organizations. */
  async #check(organization: number): Promise<readonly string[]> {
    const { warehouse, ledger, subscriptions, loadingDays } = this.#parts;
    const before = await this.#acknowledged(organization);
    await this.#upkeep.drain();
    const watch = loadingDays.watch(organization);
    try {
      // The keeper reports its failure, and the comparison finds the subscriptions.
      await subscriptions.complete(organization).catch(() => undefined);
      // Read again: rows may have become rejected events while the inbox was drained.
      const missing = await ledger.rejectedEvents.missing(organization);
      const { timezone } = await ledger.freshness(organization);
      const differences = [
        ...(await checkOrganization(warehouse, organization, { ...before, missing })),
        ...(await subscriptionDifferences(warehouse, { organization, timezone })),
      ];
      if (differences.length === 0) return [];
      const during = { before, after: await this.#acknowledged(organization), loadedDays: watch.end() };
      return differences.flatMap((found) => settledOf(found, during) ?? []).map(describeDifference);
    } finally {
      watch.end();
    }
  }

  async #acknowledged(id: number): Promise<Acknowledged & { readonly erasures: number }> {
    const { ledger } = this.#parts;
    const [acknowledged, pending] = await Promise.all([
      acknowledgedOf(ledger, id),
      ledger.erasures.pending(),
    ]);
    return { ...acknowledged, erasures: pending.filter(({ organization }) => organization === id).length };
  }
}
