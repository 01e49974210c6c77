/**
 * A queue of requests and the commits that serve it. Requests that arrive while a commit is under way share the next
 * one. A large request of a connected source comes in parts, one after another: each part is a commit of its own, and
 * between two parts the other requests have their turn.
 */

import type { Ledger } from "../../ledger/ledger.ts";
import { failedByContent, OrganizationsHeld } from "../../ledger/ledger.ts";
import type { FairTurns } from "../../process/process.ts";
import { type Decidable, decide, maxMovedInRequest, NeedsOf, type SourcedOutcome } from "../decide/decide.ts";
import { type LargeRequest, type Submitted, type Waiting, WaitingCount } from "./waiting-requests.ts";

/** A commit blocks the event loop, so its cost is capped (see part-cost.ts). 500 events are as much and take 1 ms to
 * write. One request may be larger. */
const maxCostPerCommit = 1_000;

/** Bodies of one commit: 500 identifies of 240 KB took PostgreSQL's nodes 1.5 GB and 37 s, and failed. One may be larger. */
const maxBytesPerCommit = 8 * 1024 * 1024;

/** While others hold an organization's lock its requests are tried again after a pause. */
const heldPauseMs = 200;

/** Given to a lane of one organization. */
export interface Apart {
  /** Counts the requests of all such lanes. */
  readonly waiting: WaitingCount;
  /** Turns at the ledger for the lanes whose organization is locked: each waits 100 ms for the lock, in one of the few
   * transactions that the ledger has under way. */
  readonly heldTurns: FairTurns;
  /** A request waits for the lock of its organization for so long. */
  readonly heldMs: number;
}

/** Hears about the commits of a lane. */
export interface LaneEvents {
  readonly nowMs: () => number;
  committed(): void;
  /** The ledger failed, and not because of what it was given. */
  failed(): void;
  /** Another transaction holds the lock of the request's organization. A lane of one organization waits for the lock
   * instead. */
  held(waiting: Waiting): void;
  /** Nothing waits and nothing is under way. */
  idle(): void;
}

export class CommitLane {
  readonly #ledger: Pick<Ledger, "transact">;
  readonly #groupsAtOnce: number;
  readonly #events: LaneEvents;
  readonly #apart: Apart | undefined;
  /** Counts the requests that wait here. In a lane of one organization those under way count, too: they may wait for the
   * lock for long. */
  readonly waiting = new WaitingCount();
  #isHeld = false;
  #requests: Waiting[] = [];
  #parts: Waiting[] = [];
  #isPartNext = false;
  #isRunning = false;
  /** The groups that were begun and have not ended. */
  readonly #underWay = new Map<Promise<void>, readonly Waiting[]>();

  /** @param apart undefined for the lane that organizations share */
  constructor(
    ledger: Pick<Ledger, "transact">,
    groupsAtOnce: number,
    events: LaneEvents,
    apart: Apart | undefined,
  ) {
    this.#ledger = ledger;
    this.#groupsAtOnce = groupsAtOnce;
    this.#events = events;
    this.#apart = apart;
  }

  /** Whether something else held the lock of the lane's organization when it was asked for last. */
  get isHeld(): boolean {
    return this.#isHeld;
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
    const apartSinceMs = this.#apart && performance.now();
    this.#add({ entries, bytes, cost, maxWork, partOf, promise, answer, reject, apartSinceMs });
    return promise;
  }

  /** Takes a request that another lane could not store, because its organization is locked. */
  addHeld(waiting: Waiting): void {
    this.#isHeld = true;
    this.#add({ ...waiting, apartSinceMs: performance.now() });
  }

  #add(waiting: Waiting): void {
    this.waiting.add(waiting);
    this.#apart?.waiting.add(waiting);
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
      if (this.#apart === undefined) this.waiting.remove(group);
      const commit = this.#store(group).then(() => {
        this.#underWay.delete(commit);
        if (this.#apart !== undefined) {
          this.waiting.remove(group);
          this.#apart.waiting.remove(group);
        }
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
  async #store(group: readonly Waiting[]): Promise<void> {
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
    if (failure.reason instanceof OrganizationsHeld) {
      if (this.#apart === undefined) await this.#storeUnlocked(rest, failure.reason);
      else await this.#storeLater(rest, failure.reason, this.#apart);
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

  /** Hands on the requests whose organizations are locked by others, and stores the rest. */
  async #storeUnlocked(requests: readonly Waiting[], { organizations }: OrganizationsHeld): Promise<void> {
    const isHeld = ({ entries: [first] }: Waiting) =>
      first !== undefined && organizations.includes(first.organization);
    for (const waiting of requests.filter(isHeld)) this.#events.held(waiting);
    const others = requests.filter((waiting) => !isHeld(waiting));
    if (others.length > 0) await this.#store(others);
  }

  /** Stores requests of an organization that others have locked after a pause, those that have not waited for too long. */
  async #storeLater(requests: readonly Waiting[], held: OrganizationsHeld, { heldMs }: Apart): Promise<void> {
    const latestMs = performance.now() - heldMs;
    const isLate = ({ apartSinceMs = 0 }: Waiting) => apartSinceMs <= latestMs;
    for (const { reject } of requests.filter(isLate)) reject(held);
    const inTime = requests.filter((waiting) => !isLate(waiting));
    if (inTime.length === 0) return;
    await Bun.sleep(heldPauseMs);
    await this.#store(inTime);
  }

  /** Decides and stores a group, and adds to `outcomes`. @returns why it failed, undefined when all of it is stored */
  async #commit(group: readonly Waiting[], outcomes: SourcedOutcome[]): Promise<Failure | undefined> {
    const entries = group.flatMap((waiting) => waiting.entries);
    const decision = new LastDecision(group, this.#events.nowMs);
    const turns = this.#isHeld ? this.#apart?.heldTurns : undefined;
    await turns?.take(undefined);
    try {
      // Mostly once. Entries that attach very many held items take further commits.
      do {
        const left = entries.slice(outcomes.length);
        await this.#ledger.transact(new NeedsOf(left), (stored) => decision.make(left, stored));
        outcomes.push(...decision.kept());
      } while (outcomes.length < entries.length);
      this.#isHeld = false;
      this.#events.committed();
      return undefined;
    } catch (reason) {
      const isOfContent = decision.threw(reason) || failedByContent(reason);
      this.#isHeld = reason instanceof OrganizationsHeld;
      if (!isOfContent && !this.#isHeld) this.#events.failed();
      return { reason, isOfContent };
    } finally {
      turns?.giveBack(undefined);
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
