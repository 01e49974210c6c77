/**
 * Group commit: all requests that arrive while a commit is under way share the next one. One fsync then
 * serves many requests: 0.3 ms for one row, 0.7 for 200, 1.7 for 1,000. The next group is written while the
 * one before is synced: beside other work that used the disk, waiting for the sync left the thread idle for
 * 60-80 % of the time, at 8,000-24,000 requests a second; so it was 38,000-56,000.
 *
 * Invariant: a promise that `submit` returned resolves only after the commit that holds its request.
 */
import type { Ledger } from "../ledger/ledger.ts";
import type { AdmittedSourced } from "./admit-sourced.ts";
import {
  type Admitted,
  type Decidable,
  decide,
  NeedsOf,
  type Outcome,
  type SourcedOutcome,
  unparked,
} from "./decide.ts";

/** A commit blocks the event loop, so its rows are capped: 500 take about 1 ms. One batch may be larger. */
const maxEntriesPerCommit = 500;

/** Bodies of one commit: 500 identifies of 240 KB took PostgreSQL's nodes 1.5 GB and 37 s, and failed. One may be larger. */
const maxBytesPerCommit = 8 * 1024 * 1024;

/** More than this many waiting entries, or bytes, means that the disk has stopped; requests are turned away.
 * Without the bytes it would be 5 GB of the largest bodies. */
const maxWaitingEntries = 20_000;
const maxWaitingBytes = 256 * 1024 * 1024;

/** For so long a failure is told. */
const failingMs = 10_000;

/** What came in one request: stored together or not at all, but for what attaches more than a commit may. */
interface Waiting {
  readonly entries: readonly Decidable[];
  /** Of the body that they came in. */
  readonly bytes: number;
  /** Called with the outcomes of a group, and where among them those of this request begin. */
  readonly resolve: (outcomes: readonly SourcedOutcome[], first: number) => void;
  readonly reject: (reason: unknown) => void;
}

export class GroupCommit {
  readonly #ledger: Pick<Ledger, "transact" | "groupsAtOnce">;
  readonly #nowMs: () => number;
  #waiting: Waiting[] = [];
  #waitingEntries = 0;
  #waitingBytes = 0;
  #running: Promise<void> | undefined;
  /** The groups that were begun and have not ended. */
  readonly #underWay = new Set<Promise<void>>();
  #failedAtMs = Number.NEGATIVE_INFINITY;
  /** What was submitted last. */
  #newest: Promise<unknown> = Promise.resolve();

  constructor(ledger: Pick<Ledger, "transact" | "groupsAtOnce">, nowMs: () => number) {
    this.#ledger = ledger;
    this.#nowMs = nowMs;
  }

  /** Whether the ledger failed to keep the last group, a moment ago: without a limit nobody would send the write that
   * shows that all is well again. */
  get isFailing(): boolean {
    return performance.now() - this.#failedAtMs < failingMs;
  }

  get isFull(): boolean {
    return this.#waitingEntries >= maxWaitingEntries || this.#waitingBytes >= maxWaitingBytes;
  }

  /** Resolves when the request is on disk, or decided not to be stored; rejects when the ledger failed, and
   * then it is not stored. */
  submit(entry: Admitted, bytes: number): Promise<Outcome> {
    return this.#add([entry], bytes, (outcomes, first) => unparked(outcomes[first] ?? undecided()));
  }

  /** The same for several that are stored together; an outcome for each. */
  submitAll(entries: readonly Admitted[], bytes: number): Promise<readonly Outcome[]> {
    return this.#add(entries, bytes, (outcomes, first) =>
      outcomes.slice(first, first + entries.length).map(unparked),
    );
  }

  /** The same for what connected sources say. */
  submitSourced(entries: readonly AdmittedSourced[], bytes: number): Promise<readonly SourcedOutcome[]> {
    return this.#add(entries, bytes, (outcomes, first) => outcomes.slice(first, first + entries.length));
  }

  #add<Result>(
    entries: Waiting["entries"],
    bytes: number,
    resultOf: (outcomes: readonly SourcedOutcome[], first: number) => Result,
  ): Promise<Result> {
    const submitted = new Promise<Result>((resolve, reject) => {
      this.#waiting.push({
        entries,
        bytes,
        resolve: (outcomes, first) => resolve(resultOf(outcomes, first)),
        reject,
      });
      this.#waitingEntries += entries.length;
      this.#waitingBytes += bytes;
      this.#running ??= this.#run();
    });
    this.#newest = submitted;
    return submitted;
  }

  /** Resolves when everything that was submitted before the call is on disk, or has failed. */
  async settled(): Promise<void> {
    await this.#newest.catch(() => undefined);
    // Groups end in their order, but for one that fails at once while the one before is being synced.
    await Promise.all(this.#underWay);
  }

  async #run(): Promise<void> {
    while (this.#waiting.length > 0) {
      // One turn of the event loop, so that requests that have arrived already come along.
      await new Promise(setImmediate);
      // Others may be on their way to the disk while the next is decided and written. Whichever ends first makes
      // room: with PostgreSQL one may wait 15 s for a lock that the others do not need.
      if (this.#underWay.size >= this.#ledger.groupsAtOnce) await Promise.race(this.#underWay);
      const group = this.#commit(this.#nextGroup()).then(() => {
        this.#underWay.delete(group);
      });
      this.#underWay.add(group);
    }
    this.#running = undefined;
  }

  /** The oldest requests that a commit holds: at least one. */
  #nextGroup(): readonly Waiting[] {
    let requests = 0;
    let entries = 0;
    let bytes = 0;
    for (const waiting of this.#waiting) {
      const isFull =
        entries + waiting.entries.length > maxEntriesPerCommit || bytes + waiting.bytes > maxBytesPerCommit;
      if (requests > 0 && isFull) break;
      requests += 1;
      entries += waiting.entries.length;
      bytes += waiting.bytes;
    }
    const group = this.#waiting.slice(0, requests);
    this.#waiting = this.#waiting.slice(requests);
    this.#waitingEntries -= entries;
    this.#waitingBytes -= bytes;
    return group;
  }

  async #commit(group: readonly Waiting[]): Promise<void> {
    const entries = group.flatMap((waiting) => waiting.entries);
    const outcomes: SourcedOutcome[] = [];
    let failure: unknown;
    try {
      // Mostly once: only what attaches very much that was parked takes further commits.
      do outcomes.push(...(await this.#transact(entries.slice(outcomes.length))));
      while (outcomes.length < entries.length);
      this.#failedAtMs = Number.NEGATIVE_INFINITY;
    } catch (error) {
      this.#failedAtMs = performance.now();
      failure = error;
    }
    let first = 0;
    for (const { entries: own, resolve, reject } of group) {
      const isStored = failure === undefined || first + own.length <= outcomes.length;
      if (isStored) resolve(outcomes, first);
      else reject(failure);
      first += own.length;
    }
  }

  /** Decides and stores as many of the first entries as a commit may hold. */
  async #transact(entries: readonly Decidable[]): Promise<readonly SourcedOutcome[]> {
    let outcomes: readonly SourcedOutcome[] = [];
    await this.#ledger.transact(new NeedsOf(entries), (stored) => {
      const decision = decide(entries, stored, this.#nowMs());
      outcomes = decision.outcomes;
      return decision.writes;
    });
    return outcomes;
  }
}

function undecided(): never {
  throw new Error("a request of the group was not decided");
}
