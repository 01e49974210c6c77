/**
 * Analysis of a node that does not lead. It answers questions. Other work it records as pending in the ledger
 * and waits until the leader has done it. Its only memory is the leader's last status.
 */

import { Refusal } from "../../contract/refusal.ts";
import type { AccountReceipt, Erasure, ErasureReceipt } from "../ledger/erasures.ts";
import type { SharedLedger } from "../ledger/ledger.ts";
import type { AnalysisService, AnalysisStatus, Freshness, ServedAnalysis } from "./analysis.ts";
import { type ExportFormat, exportTable } from "./copies/export.ts";
import { exportPerson, type PersonRequest } from "./copies/person.ts";
import { exportWork, isWarehouseTable } from "./copies/work-export.ts";
import type { Warehouse } from "./engine/warehouse.ts";
import { excludedUsers } from "./load/exclusions.ts";
import type { LoaderStatus } from "./load/loader.ts";
import { subscriptionDifferences } from "./upkeep/check-billing.ts";
import { Receipts } from "./upkeep/receipts.ts";

/** How often the ledger is asked for the leader's progress. */
const pollMs = 200;
/** After this time without a leader, or with a leader whose loading fails, callers get an error. */
const patienceMs = 60_000;

export interface FollowingParts {
  readonly warehouse: Warehouse;
  readonly ledger: SharedLedger;
  readonly nowMs: () => number;
  /** The leader's last status; undefined while there is no leader. */
  readonly leader: () => AnalysisStatus | undefined;
  /** Analysis of the leader itself, for work that only it can do. @throws Refusal when it cannot be asked */
  readonly askLeader: () => Pick<AnalysisService, "check">;
}

export class FollowingAnalysis implements ServedAnalysis {
  readonly #parts: FollowingParts;
  readonly #receipts: Receipts;
  readonly #stopping = new AbortController();

  constructor(parts: FollowingParts) {
    this.#parts = parts;
    this.#receipts = new Receipts(parts.ledger.erasures, (id) => this.#erased(id));
  }

  get warehouse(): Warehouse {
    return this.#parts.warehouse;
  }

  status(): AnalysisStatus {
    return this.#parts.leader() ?? noLeader;
  }

  async freshness(organization: number): Promise<Freshness> {
    const { ledger, warehouse } = this.#parts;
    const [{ timezone, loadedUptoMs, rebuildingSinceMs: sinceMs }, excluded] = await Promise.all([
      ledger.freshness(organization),
      excludedUsers(warehouse, organization),
    ]);
    const running = this.status().rebuild;
    const progress = running?.organization === organization ? running.progress : 0;
    return {
      loadedUptoMs,
      rebuilding: sinceMs === null ? null : { sinceMs, progress },
      excludedUsers: excluded,
      timezone,
    };
  }

  /** Resolves when everything that is acknowledged by now is in the warehouse. */
  async drain(): Promise<void> {
    const { inbox } = this.#parts.ledger;
    const { newestInboxId } = await inbox.backlog();
    await this.#until(async () => (await inbox.backlog()).loadedUptoInboxId >= newestInboxId);
  }

  async *export(organization: number, table: string, format: ExportFormat): AsyncIterable<Uint8Array> {
    const { warehouse, ledger, nowMs } = this.#parts;
    if (!isWarehouseTable(table)) {
      yield* exportWork({ ledger, warehouse, nowMs: nowMs() }, organization, table, format);
      return;
    }
    await this.drain();
    if (table === "subscriptions") await this.#subscriptionsComplete(organization);
    yield* exportTable(warehouse, { organization, table, format });
  }

  async *person(request: PersonRequest): AsyncIterable<Uint8Array> {
    const { warehouse, ledger, nowMs } = this.#parts;
    await this.drain();
    await this.#subscriptionsComplete(request.organization);
    yield* exportPerson({ warehouse, ledger, nowMs: nowMs() }, request);
  }

  async rebuild(organization: number): Promise<void> {
    const { ledger } = this.#parts;
    await ledger.rebuildBegun(organization);
    await this.#until(async () => !(await ledger.rebuildsPending()).includes(organization));
  }

  erase(...what: Parameters<AnalysisService["erase"]>): Promise<ErasureReceipt | undefined> {
    return this.#receipts.ofUser(...what);
  }

  eraseAccount(...what: Parameters<AnalysisService["eraseAccount"]>): Promise<AccountReceipt | undefined> {
    return this.#receipts.ofAccount(...what);
  }

  async deleteOrganization(organization: number): Promise<boolean> {
    const { deletions } = this.#parts.ledger;
    if ((await deletions.begin(organization)) === undefined) return false;
    return this.#until(async () => {
      const pending = await deletions.pending();
      return !pending.some((one) => one.organization === organization);
    });
  }

  async check(organization: number): Promise<readonly string[]> {
    return this.#parts.askLeader().check(organization);
  }

  async backUp(): Promise<never> {
    throw noBackup();
  }

  /** Ends all waiting. */
  stop(): void {
    this.#stopping.abort(new Refusal("the service is stopping: the work goes on, on another node."));
  }

  /** Resolves when the leader has written all subscriptions of the loaded billing events. */
  async #subscriptionsComplete(organization: number): Promise<void> {
    const { warehouse, ledger } = this.#parts;
    const { timezone } = await ledger.freshness(organization);
    const whose = { organization, timezone };
    await this.#until(async () => (await subscriptionDifferences(warehouse, whose)).length === 0);
  }

  #erased(id: number): Promise<Erasure> {
    return this.#until(async () => {
      const now = await this.#parts.ledger.erasures.find(id);
      return now !== undefined && now.erasedAtMs !== null && now;
    });
  }

  /** Repeats `ask` until the answer is not false. */
  async #until<Answer>(ask: () => Promise<Answer | false>): Promise<Answer> {
    let wellAtMs = performance.now();
    while (true) {
      this.#stopping.signal.throwIfAborted();
      const answer = await ask();
      if (answer !== false) return answer;
      const failure = this.#failure();
      if (failure === undefined) wellAtMs = performance.now();
      else if (performance.now() - wellAtMs > patienceMs) throw new Refusal(failure);
      await Bun.sleep(pollMs);
    }
  }

  #failure(): string | undefined {
    const leader = this.#parts.leader();
    if (leader === undefined) return "no analysis node leads at this moment: the work waits for one.";
    const { failure } = leader.loader;
    return failure === null ? undefined : `loading fails: ${failure.message}`;
  }
}

/** Without a leader no rows are loaded, but questions are answered. */
const noLeader: AnalysisStatus = {
  state: "ready",
  loader: nothingLoaded("stopped", "no analysis node leads at this moment"),
  rebuild: null,
};

/** A loader that has loaded nothing. @param because why not; null while it just begins */
export function nothingLoaded(state: LoaderStatus["state"], because: string | null): LoaderStatus {
  return {
    state,
    rowsLoaded: 0,
    batchesLoaded: 0,
    rejectedEvents: 0,
    lastLoadedAtMs: null,
    failure: because === null ? null : { message: because, sinceMs: 0, attempts: 0 },
  };
}

/** Questions are answered past the fence, and longer than the term. */
export function whileLeading(analysis: ServedAnalysis, following: FollowingAnalysis): ServedAnalysis {
  return {
    warehouse: following.warehouse,
    status: () => analysis.status(),
    freshness: (organization) => analysis.freshness(organization),
    export: (...what) => following.export(...what),
    person: (request) => following.person(request),
    rebuild: (organization) => analysis.rebuild(organization),
    erase: (...what) => analysis.erase(...what),
    eraseAccount: (...what) => analysis.eraseAccount(...what),
    deleteOrganization: (...what) => analysis.deleteOrganization(...what),
    check: (organization) => analysis.check(organization),
    backUp: async () => {
      throw noBackup();
    },
  };
}

/** A backup here is a copy of the machine's own files. */
function noBackup(): Refusal {
  return new Refusal(
    "the stores of a cluster are backed up by their own means: see docs/back-up-a-cluster.md.",
  );
}
