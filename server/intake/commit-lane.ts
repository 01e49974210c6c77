/**
 * A queue of requests and the commits that serve it. Requests that arrive while a commit is under way share the next
 * one. A large request of a connected source comes in parts, one after another: each part is a commit of its own, and
 * between two parts the other requests have their turn.
 */
import { failedByContent } from "../ledger/failed-by-content.ts";
import type { Ledger } from "../ledger/ledger.ts";
import { OrganizationsHeld } from "../ledger/transaction.ts";
import { type Decidable, decide, maxMovedInRequest, NeedsOf, type SourcedOutcome } from "./decide.ts";

/** A commit blocks the event loop, so its cost is capped (see part-cost.ts). 500 events are as much and take 1 ms to
 * write. One request may be larger. */
const maxCostPerCommit = 1_000;

/** Bodies of one commit: 500 identifies of 240 KB took PostgreSQL's nodes 1.5 GB and 37 s, and failed. One may be larger. */
const maxBytesPerCommit = 8 * 1024 * 1024;

/** While others hold an organization's lock its requests are tried again after a pause, for so long. */
const heldMs = 15_000;
const heldPauseMs = 200;

/** Entries that are stored together or not at all, unless they attach more than a commit may. */
export interface Submitted {
  readonly entries: readonly Decidable[];
  /** Of the body in which they came. */
  readonly bytes: number;
  /** See part-cost.ts. */
  readonly cost: number;
  /** Held items that it may attach in one commit. */
  readonly maxWork: number;
  /** The large request of which this is a part. */
  readonly partOf: LargeRequest | undefined;
}

/** A request that waits for its commit. All of its entries are of one organization. */
export interface Waiting extends Submitted {
  readonly promise: Promise<unknown>;
  readonly answer: (outcomes: readonly SourcedOutcome[], first: number) => void;
  readonly reject: (reason: unknown) => void;
}

/** What the parts of a request have done so far. */
export interface LargeRequest {
  /** Links and held items that its aliases moved. */
  moved: number;
}

/** Hears about the commits of a lane. */
export interface LaneEvents {
  readonly nowMs: () => number;
  /** These requests wait no longer. */
  taken(group: readonly Submitted[]): void;
  committed(): void;
  /** The ledger failed, and not because of what it was given. */
  failed(): void;
  /** Another transaction holds the lock of the request's organization. Undefined in a lane of one organization, which
   * waits for the lock. */
  readonly held?: (waiting: Waiting) => void;
  /** Nothing waits and nothing is under way. */
  idle(): void;
}

export class CommitLane {
  readonly #ledger: Pick<Ledger, "transact">;
  readonly #groupsAtOnce: number;
  readonly #events: LaneEvents;
  #requests: Waiting[] = [];
  #parts: Waiting[] = [];
  #isPartNext = false;
  #isRunning = false;
  /** The groups that were begun and have not ended. */
  readonly #underWay = new Map<Promise<void>, readonly Waiting[]>();

  constructor(ledger: Pick<Ledger, "transact">, groupsAtOnce: number, events: LaneEvents) {
    this.#ledger = ledger;
    this.#groupsAtOnce = groupsAtOnce;
    this.#events = events;
  }

  /** Resolves with what `resultOf` makes of the outcomes, once they are on disk. When `resultOf` throws, only this request
   * is rejected. @param resultOf takes the outcomes of a group, and the index of the first that is this request's */
  submit<Result>(
    request: Submitted,
    resultOf: (outcomes: readonly SourcedOutcome[], first: number) => Result,
  ): Promise<Result> {
    const { promise, resolve, reject } = Promise.withResolvers<Result>();
    const answer = (outcomes: readonly SourcedOutcome[], first: number) => {
      try {
        resolve(resultOf(outcomes, first));
      } catch (error) {
        reject(error);
      }
    };
    const { entries, bytes, cost, maxWork, partOf } = request;
    this.add({ entries, bytes, cost, maxWork, partOf, promise, answer, reject });
    return promise;
  }

  /** Takes a request that another lane could not store. */
  add(waiting: Waiting): void {
    (waiting.partOf === undefined ? this.#requests : this.#parts).push(waiting);
    if (!this.#isRunning) void this.#run();
  }

  /** Resolves when everything that was submitted before the call is on disk, or has failed. */
  async settled(): Promise<void> {
    const requests = [...this.#requests, ...this.#parts, ...[...this.#underWay.values()].flat()];
    await Promise.allSettled(requests.map(({ promise }) => promise));
  }

  async #run(): Promise<void> {
    this.#isRunning = true;
    while (this.#requests.length + this.#parts.length > 0) {
      await this.#room();
      const group = this.#nextGroup();
      this.#events.taken(group);
      const commit = this.#store(group).then(() => {
        this.#underWay.delete(commit);
        if (!this.#isRunning && this.#underWay.size === 0) this.#events.idle();
      });
      this.#underWay.set(commit, group);
    }
    this.#isRunning = false;
  }

  /** Resolves when the next group may begin. */
  async #room(): Promise<void> {
    // One turn of the event loop, so that requests that have arrived already come along.
    await new Promise(setImmediate);
    if (this.#takesPart()) {
      if (this.#underWay.size === 0) return;
      await Promise.all(this.#underWay.keys());
      // A part holds the thread for up to 20 ms: the answers of the groups before it go out first.
      await new Promise(setImmediate);
    } else if (this.#underWay.size >= this.#groupsAtOnce) {
      // Some may be on their way to the disk while the next is decided and written.
      await Promise.race(this.#underWay.keys());
    }
  }

  #takesPart(): boolean {
    return this.#parts.length > 0 && (this.#isPartNext || this.#requests.length === 0);
  }

  /** One part, or the oldest requests that a commit holds, at least one. The two take turns. */
  #nextGroup(): readonly Waiting[] {
    const takesPart = this.#takesPart();
    this.#isPartNext = !takesPart;
    return takesPart ? this.#parts.splice(0, 1) : this.#requests.splice(0, this.#requestsInCommit());
  }

  #requestsInCommit(): number {
    let requests = 0;
    let cost = 0;
    let bytes = 0;
    for (const waiting of this.#requests) {
      const isFull = cost + waiting.cost > maxCostPerCommit || bytes + waiting.bytes > maxBytesPerCommit;
      if (requests > 0 && isFull) break;
      requests += 1;
      cost += waiting.cost;
      bytes += waiting.bytes;
    }
    return requests;
  }

  /** Stores a group. When it fails because of what one request holds, the group is halved until that one stands alone,
   * so that only that one is rejected. */
  async #store(group: readonly Waiting[], startedMs = performance.now()): Promise<void> {
    const outcomes: SourcedOutcome[] = [];
    const failure = await this.#commit(group, outcomes);
    let first = 0;
    const rest: Waiting[] = [];
    for (const waiting of group) {
      const end = first + waiting.entries.length;
      if (failure === undefined || end <= outcomes.length) waiting.answer(outcomes, first);
      // Some of its entries are stored: stored again, those without a message id would be there twice.
      else if (first < outcomes.length) waiting.reject(failure.reason);
      else rest.push(waiting);
      first = end;
    }
    if (failure === undefined || rest.length === 0) return;
    if (failure.reason instanceof OrganizationsHeld && performance.now() - startedMs < heldMs) {
      await this.#storeHeld(rest, failure.reason.organizations, startedMs);
      return;
    }
    if (rest.length < 2 || !failure.isOfContent) {
      for (const { reject } of rest) reject(failure.reason);
      return;
    }
    const half = Math.ceil(rest.length / 2);
    await this.#store(rest.slice(0, half));
    await this.#store(rest.slice(half));
  }

  /** Stores requests some of whose organizations are locked by others. */
  async #storeHeld(rest: readonly Waiting[], held: readonly number[], startedMs: number): Promise<void> {
    const { held: moveAway } = this.#events;
    if (moveAway === undefined) {
      await Bun.sleep(heldPauseMs);
      await this.#store(rest, startedMs);
      return;
    }
    const isHeld = ({ entries: [first] }: Waiting) =>
      first !== undefined && held.includes(first.organization);
    for (const waiting of rest.filter(isHeld)) moveAway(waiting);
    const others = rest.filter((waiting) => !isHeld(waiting));
    if (others.length > 0) await this.#store(others, startedMs);
  }

  /** Decides and stores a group, and adds to `outcomes`. @returns why it failed, undefined when all of it is stored */
  async #commit(group: readonly Waiting[], outcomes: SourcedOutcome[]): Promise<Failure | undefined> {
    const entries = group.flatMap((waiting) => waiting.entries);
    const decision = new LastDecision(group, this.#events.nowMs);
    try {
      // Mostly once. Entries that attach very many held items take further commits.
      do {
        const left = entries.slice(outcomes.length);
        await this.#ledger.transact(new NeedsOf(left), (stored) => decision.make(left, stored));
        outcomes.push(...decision.kept());
      } while (outcomes.length < entries.length);
      this.#events.committed();
      return undefined;
    } catch (reason) {
      const isOfContent = decision.threw(reason) || failedByContent(reason);
      if (!isOfContent && !(reason instanceof OrganizationsHeld)) this.#events.failed();
      return { reason, isOfContent };
    }
  }
}

interface Failure {
  readonly reason: unknown;
  /** Nothing was written, and without some of the requests the same may succeed. */
  readonly isOfContent: boolean;
}

/** The decision of a commit. A ledger may ask for it several times, and the last one counts. */
class LastDecision {
  readonly #nowMs: () => number;
  readonly #maxWork: number;
  readonly #partOf: LargeRequest | undefined;
  #made: ReturnType<typeof decide> | undefined;
  #thrown: { readonly error: unknown } | undefined;

  constructor(group: readonly Submitted[], nowMs: () => number) {
    this.#nowMs = nowMs;
    this.#maxWork = group.reduce((most, { maxWork }) => Math.max(most, maxWork), 0);
    this.#partOf = group[0]?.partOf;
  }

  make(entries: readonly Decidable[], stored: Parameters<typeof decide>[1]) {
    this.#thrown = undefined;
    try {
      const mayMove = maxMovedInRequest - (this.#partOf?.moved ?? 0);
      this.#made = decide(entries, stored, this.#nowMs(), { maxWork: this.#maxWork, mayMove });
      return this.#made.writes;
    } catch (error) {
      this.#thrown = { error };
      throw error;
    }
  }

  /** The outcomes, now that they are stored. */
  kept(): readonly SourcedOutcome[] {
    if (this.#made === undefined) throw new Error("the ledger stored a group that was not decided");
    if (this.#partOf !== undefined) this.#partOf.moved += this.#made.moved;
    return this.#made.outcomes;
  }

  /** Whether deciding failed with this error: a decision that fails writes nothing. */
  threw(error: unknown): boolean {
    return this.#thrown !== undefined && this.#thrown.error === error;
  }
}
