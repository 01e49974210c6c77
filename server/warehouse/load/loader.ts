/**
 * Brings the rows of the ledger's inbox into the warehouse, exactly once: a batch is frozen in the ledger,
 * then inserted under a token made from its number, then finished. After an interruption the batch is still
 * frozen and is sent again under the same token, which stores it once.
 *
 * No row is dropped and no failure blocks for good: rows that the engine cannot read become rejected events,
 * and every other failure is retried for ever. The inbox belongs to another process, so its calls may fail
 * and are retried too.
 */
import type { FrozenBatch, Inbox } from "../../ledger/inbox.ts";
import type { Logger } from "../../process/log.ts";
import { messageOf } from "../../process/message-of.ts";
import type { Intervals, Time } from "../../process/time.ts";
import type { Warehouse } from "../engine/warehouse.ts";
import { insertBatch } from "./insert-batch.ts";

/** A row costs 9 µs of CPU in a batch of 50,000, rollups and merges included, 18 in one of 10,000. */
const defaultMaxBatchRows = 50_000;
/** After fewer rows the loader rests for `quietLoadMs`. */
const fewRows = 1_000;
const firstRetryMs = 100;
const maxRetryMs = 10_000;
/** A drain ends with the loader's failure when that is older than this. */
const drainPatienceMs = 30_000;

export interface LoaderStatus {
  readonly state: "replaying" | "running" | "paused" | "stopped";
  /** Counted since the start of this process. */
  readonly rowsLoaded: number;
  readonly batchesLoaded: number;
  readonly rejectedEvents: number;
  readonly lastLoadedAtMs: number | null;
  /** The failure that is being retried; null when all is well. */
  readonly failure: LoaderFailure | null;
}

export interface LoaderFailure {
  readonly message: string;
  readonly sinceMs: number;
  readonly attempts: number;
}

export interface LoaderOptions {
  readonly inbox: Inbox;
  readonly warehouse: Warehouse;
  readonly time: Time;
  readonly maxBatchRows?: number;
  readonly log?: Logger;
  /** Called with every batch before it is inserted. */
  readonly loading?: (batch: FrozenBatch, body: Buffer) => void;
  /** Called with every batch that is in the warehouse and finished. */
  readonly loaded?: (batch: FrozenBatch, body: Buffer) => void;
}

interface Drain {
  readonly uptoInboxId: number;
  readonly done: PromiseWithResolvers<void>;
}

/** Lives once: replay(), start(), stop(). */
export class Loader {
  readonly #inbox: Inbox;
  readonly #warehouse: Warehouse;
  readonly #time: Time;
  readonly #maxBatchRows: number;
  readonly #log: Logger | undefined;
  readonly #loading: LoaderOptions["loading"];
  readonly #loaded: LoaderOptions["loaded"];
  readonly #drains = new Set<Drain>();
  readonly #counts = { rowsLoaded: 0, batchesLoaded: 0, rejectedEvents: 0 };
  #lastLoadedAtMs: number | null = null;
  #failure: LoaderFailure | null = null;
  #replayed = false;
  #stopping = false;
  #running: Promise<void> = Promise.resolve();
  /** Held while frozen batches are in hand, or while the loader is paused. */
  #turn: Promise<void> = Promise.resolve();
  readonly #pauses: (() => void)[] = [];
  #wake: () => void = () => undefined;

  constructor({ inbox, warehouse, time, maxBatchRows = defaultMaxBatchRows, log, ...called }: LoaderOptions) {
    this.#log = log;
    this.#loading = called.loading;
    this.#loaded = called.loaded;
    this.#inbox = inbox;
    this.#warehouse = warehouse;
    this.#time = time;
    this.#maxBatchRows = maxBatchRows;
  }

  /** Loads every frozen batch and the waiting rows. Must finish before any figure is served: after a crash,
   * events can be stored without their rollups until their token was sent again. */
  async replay(): Promise<void> {
    await this.#cycle();
    this.#replayed = true;
  }

  /** Starts loading. */
  start(): void {
    this.#running = this.#run();
  }

  /** Finishes the batch in hand and ends. A batch that just fails stays frozen. */
  async stop(): Promise<void> {
    this.#stopping = true;
    this.#wake();
    await this.#running.catch(ignoreStopped);
    for (const { done } of this.#drains) done.reject(new LoaderStopped());
    this.#drains.clear();
  }

  /** Resolves when no batch is in hand: every frozen one is finished, unless the loader was stopped. Until
   * resume() nothing is frozen and no row reaches the warehouse. Pauses take turns. */
  async pause(): Promise<void> {
    this.#pauses.push(await this.#takeTurn());
  }

  /** Ends the pause that began first. */
  resume(): void {
    this.#pauses.shift()?.();
  }

  /** Resolves when every row up to this inbox id is in the warehouse or among the rejected events. */
  drain(uptoInboxId: number): Promise<void> {
    if (this.#stopping) return Promise.reject(new LoaderStopped());
    const done = Promise.withResolvers<void>();
    this.#drains.add({ uptoInboxId, done });
    this.#wake();
    return done.promise;
  }

  status(): LoaderStatus {
    return {
      state: this.#state(),
      ...this.#counts,
      lastLoadedAtMs: this.#lastLoadedAtMs,
      failure: this.#failure,
    };
  }

  #state(): LoaderStatus["state"] {
    if (this.#stopping) return "stopped";
    if (this.#pauses.length > 0) return "paused";
    return this.#replayed ? "running" : "replaying";
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      const startedMs = performance.now();
      const rows = await this.#cycle();
      await this.#settleDrains();
      const tookMs = performance.now() - startedMs;
      // A full batch: more rows wait. Otherwise the loader rests until the cycle is over. On a slow machine
      // it rests as long as the work took, so that it never uses more than half of a core.
      if (rows < this.#maxBatchRows / 2) {
        await this.#rest(restAfter(this.#time.intervals, rows, tookMs));
      }
    }
  }

  /** Freezes the waiting rows and loads all frozen batches; returns the number of rows. Holds the turn
   * throughout, so that no frozen batch is unfinished during a pause. */
  async #cycle(): Promise<number> {
    const endTurn = await this.#takeTurn();
    try {
      const batches = await this.#persist(() => this.#inbox.freeze(this.#maxBatchRows));
      let rows = 0;
      for (const batch of batches) {
        if (this.#stopping) break;
        await this.#load(batch);
        rows += batch.rows;
      }
      return rows;
    } finally {
      endTurn();
    }
  }

  async #load(batch: FrozenBatch): Promise<void> {
    const body = await this.#persist(() => this.#inbox.read(batch));
    this.#loading?.(batch, body);
    const insert = this.#warehouse.insertFrozen.bind(this.#warehouse);
    const rejectedEvents = await this.#persist(() => insertBatch(insert, batch, body));
    await this.#persist(() => this.#inbox.finish(batch.number, rejectedEvents));
    this.#loaded?.(batch, body);
    this.#counts.rowsLoaded += batch.rows - rejectedEvents.length;
    this.#counts.batchesLoaded += 1;
    this.#counts.rejectedEvents += rejectedEvents.length;
    if (rejectedEvents.length > 0) {
      this.#log?.warn({ batch: batch.number, rows: rejectedEvents.length }, "rows became rejected events");
    }
    this.#lastLoadedAtMs = this.#time.nowMs();
  }

  async #settleDrains(): Promise<void> {
    if (this.#drains.size === 0) return;
    const { loadedUptoInboxId } = await this.#persist(() => this.#inbox.backlog());
    for (const drain of this.#drains) {
      if (drain.uptoInboxId > loadedUptoInboxId) continue;
      this.#drains.delete(drain);
      drain.done.resolve();
    }
  }

  /** Waits for its turn; the returned function ends it. */
  async #takeTurn(): Promise<() => void> {
    const before = this.#turn;
    const mine = Promise.withResolvers<void>();
    this.#turn = before.then(() => mine.promise);
    await before;
    return mine.resolve;
  }

  /** Does it again until it is done; rejects only when the loader is stopped meanwhile. */
  async #persist<Result>(work: () => Promise<Result>): Promise<Result> {
    const sinceMs = this.#time.nowMs();
    for (let attempts = 1; ; attempts += 1) {
      try {
        const result = await work();
        this.#failure = null;
        return result;
      } catch (error) {
        const message = messageOf(error);
        this.#failure = { message, sinceMs, attempts };
        this.#reportFailure(this.#failure);
      }
      if (!this.#stopping) await this.#rest(Math.min(firstRetryMs * 2 ** (attempts - 1), maxRetryMs));
      if (this.#stopping) throw new LoaderStopped();
    }
  }

  /** Logs the failure (the first, then about one a minute) and rejects drains older than 30 s. */
  #reportFailure(failure: LoaderFailure): void {
    const failingMs = this.#time.nowMs() - failure.sinceMs;
    // The first time, and then about once a minute, since the last retries are 10 s apart.
    if (failure.attempts === 1 || failure.attempts % 6 === 0) {
      this.#log?.warn({ ...failure }, "loading fails and is tried again; nothing is lost");
    }
    if (failingMs < drainPatienceMs) return;
    for (const { done } of this.#drains) done.reject(new Error(`loading fails: ${failure.message}`));
    this.#drains.clear();
  }

  /** Waits, or until it is woken. */
  #rest(ms: number): Promise<void> {
    return new Promise((resolve) => {
      const timer = setTimeout(resolve, ms);
      this.#wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }
}

/** How long the loader rests after it has loaded a batch. */
function restAfter({ emptyInboxMs, quietLoadMs, loadMs }: Intervals, rows: number, tookMs: number): number {
  if (rows === 0) return emptyInboxMs;
  return Math.max((rows < fewRows ? quietLoadMs : loadMs) - tookMs, Math.min(tookMs, loadMs));
}

class LoaderStopped extends Error {
  override readonly name = "LoaderStopped";

  constructor() {
    super("The loader was stopped");
  }
}

function ignoreStopped(error: unknown): void {
  if (!(error instanceof LoaderStopped)) throw error;
}
