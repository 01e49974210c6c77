/**
 * A queue of requests and its commits. Requests that arrive during a commit share the next one. A large
 * request of a connected source has several parts. Each part is a commit of its own, and other requests are
 * stored between two parts.
 */

import type { Ledger } from "../ledger/ledger.ts";
import type { SourcedOutcome } from "./decide/requests.ts";
import { type Apart, type CommitEvents, GroupStore } from "./group-store.ts";
import { type Submitted, type Waiting, WaitingCount } from "./waiting-requests.ts";

/** A commit blocks the event loop, so its cost is capped (see part-cost.ts). 500 events have this cost and
 * take 1 ms to write. A single request may cost more. */
const maxCostPerCommit = 1_000;

/** Bodies of one commit. 500 identifies of 240 KB took 1.5 GB and 37 s on PostgreSQL's nodes, and failed. A
 * single body may be larger. */
const maxBytesPerCommit = 8 * 1024 * 1024;

/** Gets the events of a lane. */
export interface LaneEvents extends CommitEvents {
  /** Nothing waits and nothing is under way. */
  idle(): void;
}

export class CommitLane {
  readonly #groups: GroupStore;
  readonly #groupsAtOnce: number;
  readonly #events: LaneEvents;
  readonly #apart: Apart | undefined;
  /** Counts the requests that wait here. In a lane of one organization it includes those under way: they may
   * wait long for the lock. */
  readonly waiting = new WaitingCount();
  #requests: Waiting[] = [];
  #parts: Waiting[] = [];
  #isPartNext = false;
  #isRunning = false;
  /** The groups whose commit has begun and not ended. */
  readonly #underWay = new Map<Promise<void>, readonly Waiting[]>();

  /** @param apart undefined for the lane that organizations share */
  constructor(
    ledger: Pick<Ledger, "transact">,
    groupsAtOnce: number,
    events: LaneEvents,
    apart: Apart | undefined,
  ) {
    this.#groups = new GroupStore(ledger, events, apart);
    this.#groupsAtOnce = groupsAtOnce;
    this.#events = events;
    this.#apart = apart;
  }

  /** Whether another transaction held the lock of the lane's organization at the last attempt. */
  get isHeld(): boolean {
    return this.#groups.isHeld;
  }

  /** Resolves with the result of `resultOf`, once the outcomes are on disk. If `resultOf` throws, only this
   * request is rejected. @param resultOf takes the outcomes of a group, and the index of this request's first
   * outcome */
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

  /** Adds a request that another lane could not store, because its organization is locked. */
  addHeld(waiting: Waiting): void {
    this.#groups.isHeld = true;
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
      const commit = this.#groups.store(group).then(() => {
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
    // After one turn of the event loop, requests that have already arrived are in the queue.
    await new Promise(setImmediate);
    if (this.#takesPart()) {
      if (this.#underWay.size === 0) return;
      await Promise.all(this.#underWay.keys());
      // A part blocks the thread for up to 20 ms. The answers of the groups before it are sent first.
      await new Promise(setImmediate);
    } else if (this.#underWay.size >= this.#groupsAtOnce) {
      // Several groups may wait for the disk while the next one is decided and written.
      await Promise.race(this.#underWay.keys());
    }
  }

  #takesPart(): boolean {
    return this.#parts.length > 0 && (this.#isPartNext || this.#requests.length === 0);
  }

  /** One part, or the oldest requests that fit into a commit, at least one. Parts and requests alternate. */
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
}
