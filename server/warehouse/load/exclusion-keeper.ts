/**
 * Keeps `excluded_users` up to date with the exclusion rules: when rules changed (by the ledger's revisions)
 * and when users were loaded. Pending work is only in memory, so after a start all organizations are computed
 * again, before any figure is served.
 */
import type { FrozenBatch } from "../../ledger/inbox.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/log.ts";
import { Retries } from "../../process/retries.ts";
import type { Time } from "../../process/time.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { applyExclusions } from "./exclusions.ts";
import { organizationsOf } from "./loaded-days.ts";

/** After work, rest this many times as long as it took: at most a tenth of a core. */
const restFactor = 9;
/** Rest after a failure, for an organization whose rules cannot be applied. A new revision is tried at
 * once. */
const restsAfterFailure = { firstMs: 1_000, longestMs: 60_000 };

interface Parts {
  readonly warehouse: Warehouse;
  readonly exclusions: SharedLedger["exclusions"];
  readonly time: Time;
  readonly log?: Logger;
}

export class ExclusionKeeper {
  readonly #parts: Parts;
  /** The revision that was applied last, by organization. */
  readonly #applied = new Map<number, number>();
  readonly #excluded = new Map<number, number>();
  /** Organizations with newly loaded users. */
  readonly #changed = new Set<number>();
  /** By organization. */
  readonly #failures: Retries<number>;
  /** The ledger's. */
  readonly #away: Retries<"ledger">;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the work that was begun last is done. */
  #last: Promise<void> = Promise.resolve();
  #stopped = false;

  constructor(parts: Parts) {
    const { nowMs } = parts.time;
    this.#parts = parts;
    this.#failures = new Retries(restsAfterFailure, nowMs);
    this.#away = new Retries(restsAfterFailure, nowMs);
  }

  /** How many users are excluded by now. */
  excludedUsers(organization: number): number {
    return this.#excluded.get(organization) ?? 0;
  }

  /** Called with every batch that is in the warehouse now. */
  batchLoaded(batch: FrozenBatch, body: Buffer): void {
    if (batch.table !== "users") return;
    for (const organization of organizationsOf(body)) this.#changed.add(organization);
  }

  /** Since when the rules of an organization cannot be applied; null while they can. Its figures go by those
   * that were applied before. */
  failingSinceMs(organization: number): number | null {
    return this.#failures.failingSinceMs(organization);
  }

  /** The organizations whose rules cannot be applied. */
  get failing(): readonly number[] {
    return this.#failures.keys;
  }

  /** Applies all pending rules; after a start, all rules. The failure of one organization does not stop the
   * others.
   * @throws the first failure; failed rules are applied the next time */
  async apply(): Promise<void> {
    const failure = await this.#inTurn(() => this.#apply(() => false));
    if (failure !== null) throw failure.error;
  }

  /** Applies pending rules. Failures are logged and retried. */
  tryToApply(): Promise<void> {
    return this.#tryToApply(() => false);
  }

  async #tryToApply(isResting: (organization: number, revision: number) => boolean): Promise<void> {
    try {
      await this.#inTurn(() => this.#apply(isResting));
      this.#away.succeeded("ledger");
    } catch (error) {
      if (this.#away.failed("ledger")) {
        this.#parts.log?.warn({ err: error }, "exclusion rules cannot be read, and will be tried again");
      }
    }
  }

  /** Does something that takes away users, while no exclusions are computed from them, and computes those of
   * their organizations anew. If that fails it is tried again later. */
  changeUsers(organizations: Iterable<number>, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      await work();
      for (const organization of organizations) {
        const revision = this.#applied.get(organization);
        if (revision !== undefined) await this.#applyTo(organization, revision).catch(() => undefined);
      }
    });
  }

  /** Does something that takes away an organization, while no exclusions are computed. */
  forgetOrganization(organization: number, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      this.#applied.delete(organization);
      this.#excluded.delete(organization);
      this.#changed.delete(organization);
      this.#failures.succeeded(organization);
      await work();
    });
  }

  /** @returns the first failure of an organization; null when there is none */
  async #apply(
    isResting: (organization: number, revision: number) => boolean,
  ): Promise<{ readonly error: unknown } | null> {
    const failures: unknown[] = [];
    for (const { organization, revision } of await this.#parts.exclusions.revisions()) {
      const isApplied = this.#applied.get(organization) === revision;
      if (this.#stopped || (isApplied && !this.#changed.has(organization))) continue;
      if (isResting(organization, revision)) continue;
      await this.#applyTo(organization, revision).catch((error) => failures.push(error));
    }
    // The others have no rules; their first rule will make a revision.
    for (const organization of this.#changed) {
      if (!this.#applied.has(organization)) this.#changed.delete(organization);
    }
    return failures.length > 0 ? { error: failures[0] } : null;
  }

  /** Starts to apply changes. */
  start(): void {
    this.#next(this.#parts.time.intervals.exclusionsMs);
  }

  /** Waits for the work in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#last;
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  }

  async #applyTo(organization: number, revision: number): Promise<void> {
    // Before the users are read: users that are loaded meanwhile need another run.
    this.#changed.delete(organization);
    try {
      const rules = await this.#parts.exclusions.rules(organization);
      const users = await applyExclusions(this.#parts.warehouse, organization, rules);
      this.#excluded.set(organization, users);
      this.#applied.set(organization, rules.revision);
      this.#failures.succeeded(organization);
    } catch (error) {
      this.#changed.add(organization);
      if (this.#failures.failed(organization, revision)) {
        const what = "cannot apply exclusion rules; the last applied rules stay in use; will retry";
        this.#parts.log?.warn({ err: error, organization }, what);
      }
      throw error;
    }
  }

  #next(afterMs: number): void {
    if (this.#stopped) return;
    const { exclusionsMs } = this.#parts.time.intervals;
    this.#timer = setTimeout(() => {
      const startedMs = performance.now();
      this.#tryToApply((...which) => this.#failures.isResting(...which)).then(() =>
        this.#next(Math.max(exclusionsMs, (performance.now() - startedMs) * restFactor)),
      );
    }, afterMs);
  }
}
