/** The room for writes: on the disk, and in the inbox that waits for the warehouse. */
import { statfs } from "node:fs/promises";
import { errorMessages } from "../../contract/errors.ts";
import type { Ledger } from "../ledger/ledger.ts";

export interface IntakeLimits {
  /** Bytes that may wait for the warehouse. Above this limit senders get 429 until the loader has caught
   * up. */
  readonly maxBacklogBytes: number;
  /** With less free disk than this, senders get 429. It protects the stored rows. */
  readonly minFreeDiskBytes: number;
}

/** Space for the write-ahead log, a checkpoint, and the merges of the warehouse. */
export const minFreeDiskBytes = 8 * 1024 ** 2;

/** The rows that wait for the warehouse, at the last check. */
interface WaitingRows {
  readonly rows: number;
  readonly bytes: number;
  /** All rows that were acknowledged before this instant are loaded. Before the first load: the start of the
   * checks. */
  readonly loadedUptoMs: number;
}

export class Room {
  readonly #ledger: Pick<Ledger, "inbox" | "loadedUptoMs">;
  readonly #dataDir: string;
  readonly #limits: IntakeLimits;
  readonly #nowMs: () => number;
  /** The sender's message while writes are rejected. Undefined while there is room. */
  closedBecause: string | undefined;
  /** At most one second old while the ledger answers. */
  waiting: WaitingRows;

  constructor(
    ledger: Pick<Ledger, "inbox" | "loadedUptoMs">,
    dataDir: string,
    limits: IntakeLimits,
    nowMs: () => number,
  ) {
    this.#ledger = ledger;
    this.#dataDir = dataDir;
    this.#limits = limits;
    this.#nowMs = nowMs;
    this.waiting = { rows: 0, bytes: 0, loadedUptoMs: nowMs() };
  }

  /** Measures the disk and the inbox. */
  async check(): Promise<void> {
    const nowMs = this.#nowMs();
    const [{ rows, bytes }, disk] = await Promise.all([this.#ledger.inbox.backlog(), statfs(this.#dataDir)]);
    const loadedUptoMs = rows === 0 ? nowMs : await this.#ledger.loadedUptoMs();
    this.waiting = { rows, bytes, loadedUptoMs: loadedUptoMs ?? this.waiting.loadedUptoMs };
    const freeBytes = disk.bavail * disk.bsize;
    if (freeBytes < this.#limits.minFreeDiskBytes) this.closedBecause = errorMessages.diskNearlyFull;
    else if (bytes > this.#limits.maxBacklogBytes) this.closedBecause = errorMessages.catchingUp;
    else this.closedBecause = undefined;
  }
}
