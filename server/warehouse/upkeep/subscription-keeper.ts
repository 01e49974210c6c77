/**
 * Keeps `subscriptions` up to date with `billing_events`, organizations in turns. Loaded batches name the
 * subscriptions to compare. Pending work is only in memory, so after a start all subscriptions are compared
 * once.
 */
import type { FrozenBatch } from "../../ledger/inbox.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";
import type { Logger } from "../../process/log.ts";
import { Retries } from "../../process/retries.ts";
import type { Time } from "../../process/time.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { billedSubscriptions } from "../load/loaded-billing.ts";
import { endOfPage, subscriptionsById, updateSubscriptions } from "./subscriptions.ts";

/** After a step, rest this many times as long as it took: at most a quarter of a core. */
const restFactor = 3;
/** With more subscriptions to compare, all of the organization are compared. */
const maxNamed = 50_000;
const restsAfterFailure = { firstMs: 1_000, longestMs: 60_000 };

interface Parts {
  readonly warehouse: Warehouse;
  readonly ledger: Pick<SharedLedger, "organizations">;
  readonly time: Time;
  readonly log?: Logger;
}

/** The subscriptions of an organization that are to be compared. */
interface Work {
  readonly named: Set<string>;
  /** All subscriptions after this id; undefined: none but the named ones. */
  after: string | undefined;
}

export class SubscriptionKeeper {
  readonly #parts: Parts;
  readonly #work = new Map<number, Work>();
  readonly #failures: Retries<number>;
  #isStarted = false;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Resolves when the step that was begun last is done. */
  #last: Promise<unknown> = Promise.resolve();
  #stopped = false;

  constructor(parts: Parts) {
    this.#parts = parts;
    this.#failures = new Retries(restsAfterFailure, parts.time.nowMs);
  }

  /** Called with every batch that is in the warehouse now. */
  batchLoaded(batch: FrozenBatch, body: Buffer): void {
    for (const [organization, ids] of billedSubscriptions(batch, body)) this.#name(organization, ids);
  }

  /** Since when subscriptions of an organization cannot be computed; null while they can. Those that were
   * computed before stay. */
  failingSinceMs(organization: number): number | null {
    return this.#failures.failingSinceMs(organization);
  }

  /** The organizations whose subscriptions cannot be computed. */
  get failing(): readonly number[] {
    return this.#failures.keys;
  }

  /** Starts to compare. */
  start(): void {
    this.#next(this.#parts.time.intervals.subscriptionsMs);
  }

  /** Waits for the step in hand. */
  async stop(): Promise<void> {
    this.#stopped = true;
    clearTimeout(this.#timer);
    await this.#last;
  }

  /** Computes the subscriptions of all events that were loaded before the call. Failures are logged and
   * retried. */
  async updateLoaded(): Promise<void> {
    for (const [organization, { named }] of this.#work) {
      if (named.size > 0)
        await this.#steps(organization, ({ named }) => named.size > 0).catch(() => undefined);
    }
  }

  /** Compares all pending subscriptions of an organization. @throws the failure, which is retried later */
  async complete(organization: number): Promise<void> {
    await this.#inTurn(() => this.#begin());
    await this.#steps(organization, () => true);
  }

  /** Does something that takes away billing events, while no subscription is computed, and computes the
   * others of the same subscriptions again. If that fails it is tried again later.
   * @param taken the users or accounts whose events they are, by organization */
  changeEvents(
    taken: readonly { readonly organization: number; readonly numbers: readonly number[] }[],
    column: "user" | "account",
    work: () => Promise<void>,
  ): Promise<void> {
    return this.#inTurn(async () => {
      for (const { organization, numbers } of taken) {
        const rows = await this.#parts.warehouse.rows<{ subscription: string }>(
          `SELECT DISTINCT subscription FROM billing_events
           WHERE organization = {organization:UInt32} AND ${column} IN {numbers:Array(UInt32)} AND subscription != ''`,
          { organization, numbers },
        );
        this.#name(
          organization,
          rows.map(({ subscription }) => subscription),
        );
      }
      await work();
      for (const { organization } of taken) {
        while ((this.#work.get(organization)?.named.size ?? 0) > 0) {
          if (!(await this.#tryStep(organization))) break;
        }
      }
    });
  }

  /** Does something to all billing events of an organization. All its subscriptions are compared
   * afterwards. */
  changeAll(organization: number, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      await work();
      this.#compareAll(organization);
    });
  }

  /** Does something that takes away an organization, while no subscription is computed. */
  forgetOrganization(organization: number, work: () => Promise<void>): Promise<void> {
    return this.#inTurn(async () => {
      this.#work.delete(organization);
      this.#failures.succeeded(organization);
      await work();
    });
  }

  #name(organization: number, ids: Iterable<string>): void {
    const work = this.#work.get(organization) ?? { named: new Set<string>(), after: undefined };
    for (const id of ids) work.named.add(id);
    if (work.named.size === 0) return;
    this.#work.set(organization, work);
    if (work.named.size > maxNamed) this.#compareAll(organization);
  }

  #compareAll(organization: number): void {
    this.#work.set(organization, { named: new Set(), after: "" });
  }

  /** After a start, all organizations are compared. */
  async #begin(): Promise<void> {
    if (this.#isStarted) return;
    const found = await this.#parts.warehouse.rows<{ organization: number }>(
      `SELECT organization FROM (
         SELECT DISTINCT organization FROM billing_events UNION DISTINCT SELECT DISTINCT organization FROM subscriptions)
       ORDER BY organization`,
    );
    for (const { organization } of found) this.#compareAll(organization);
    this.#isStarted = true;
  }

  /** Works on one organization until `goesOn` is false or nothing is left. */
  async #steps(organization: number, goesOn: (work: Work) => boolean): Promise<void> {
    while (!this.#stopped) {
      const more = await this.#inTurn(async () => {
        const work = this.#work.get(organization);
        if (work === undefined || !goesOn(work)) return false;
        await this.#step(organization, work);
        return true;
      });
      if (!more) return;
    }
  }

  /** @returns false after a failure, which is logged */
  async #tryStep(organization: number): Promise<boolean> {
    const work = this.#work.get(organization);
    if (work === undefined) return true;
    try {
      await this.#step(organization, work);
      return true;
    } catch {
      return false;
    }
  }

  /** Compares and computes one page. */
  async #step(organization: number, work: Work): Promise<void> {
    const { warehouse, ledger, log } = this.#parts;
    try {
      const found = await ledger.organizations.find(organization);
      // A deletion has begun, which deletes the rest.
      if (found === undefined) {
        this.#work.delete(organization);
        this.#failures.succeeded(organization);
        return;
      }
      const whose = { organization, timezone: found.timezone };
      let left: readonly string[] = [];
      if (work.named.size > 0) {
        const among = [...work.named].slice(0, subscriptionsById);
        // Before they are compared: events that are loaded meanwhile name them again.
        for (const id of among) work.named.delete(id);
        left = await updateSubscriptions(warehouse, whose, { among });
      } else if (work.after !== undefined) {
        const upto = await endOfPage(warehouse, organization, work.after);
        left = await updateSubscriptions(warehouse, whose, { after: work.after, upto });
        work.after = upto;
      }
      for (const id of left) work.named.add(id);
      // At the end of the map, so that each organization has its turn.
      if (this.#work.get(organization) === work) {
        this.#work.delete(organization);
        if (work.named.size > 0 || work.after !== undefined) this.#work.set(organization, work);
      }
      // A page that succeeds says nothing of the one that fails.
      if (!this.#work.has(organization)) this.#failures.succeeded(organization);
    } catch (error) {
      this.#compareAll(organization);
      if (this.#failures.failed(organization)) {
        log?.warn({ err: error, organization }, "subscriptions cannot be computed, and will be tried again");
      }
      throw error;
    }
  }

  #inTurn<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(work);
    this.#last = mine.then(
      () => undefined,
      () => undefined,
    );
    return mine;
  }

  #next(afterMs: number): void {
    if (this.#stopped) return;
    const { subscriptionsMs } = this.#parts.time.intervals;
    this.#timer = setTimeout(async () => {
      const startedMs = performance.now();
      const worked = await this.#inTurn(() => this.#stepOfNext()).catch(() => false);
      const restMs = (performance.now() - startedMs) * restFactor;
      this.#next(worked ? restMs : Math.max(subscriptionsMs, restMs));
    }, afterMs);
  }

  /** @returns whether there was work */
  async #stepOfNext(): Promise<boolean> {
    if (this.#stopped) return false;
    await this.#begin();
    const next = [...this.#work.keys()].find((organization) => !this.#failures.isResting(organization));
    return next !== undefined && (await this.#tryStep(next));
  }
}
