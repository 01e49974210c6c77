/** Requests that wait for their commit, and how much of them there is. */
import type { Decidable, SourcedOutcome } from "./decide/requests.ts";

/** Entries that are stored together or not at all, except if they attach more items than one commit may. */
export interface Submitted {
  readonly entries: readonly Decidable[];
  /** The size of their body. */
  readonly bytes: number;
  /** See part-cost.ts. */
  readonly cost: number;
  /** Held items that it may attach in one commit. */
  readonly maxWork: number;
  /** The large request to which this part belongs. */
  readonly partOf: LargeRequest | undefined;
}

/** A request that waits for its commit. All of its entries are of one organization. */
export interface Waiting extends Submitted {
  readonly promise: Promise<unknown>;
  readonly answer: (outcomes: readonly SourcedOutcome[], first: number) => void;
  readonly reject: (reason: unknown) => void;
  /** The time at which it entered the lane of its organization. Undefined in the shared lane. */
  readonly apartSinceMs?: number | undefined;
}

/** The work that the parts of a request have done so far. */
export interface LargeRequest {
  /** Links and held items that its aliases moved. */
  moved: number;
}

/** The number and size of the requests that wait in a lane, or in several lanes together. */
export class WaitingCount {
  #entries = 0;
  #bytes = 0;

  add({ entries, bytes }: Submitted): void {
    this.#entries += entries.length;
    this.#bytes += bytes;
  }

  remove(group: readonly Submitted[]): void {
    for (const { entries, bytes } of group) {
      this.#entries -= entries.length;
      this.#bytes -= bytes;
    }
  }

  /** Whether this limit is reached. */
  reaches({ entries, bytes }: WaitingLimit): boolean {
    return this.#entries >= entries || this.#bytes >= bytes;
  }
}

export interface WaitingLimit {
  readonly entries: number;
  readonly bytes: number;
}
