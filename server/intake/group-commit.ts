/**
 * Group commit: all requests that arrive during a commit share the next one. One fsync serves many requests:
 * it takes 0.3 ms for one row, 0.7 for 200, 1.7 for 1,000. The next group is written during the sync of the
 * previous one. Measured beside other work that used the disk: without a wait for the sync it stored
 * 38,000-56,000 requests a second. With the wait it stored 8,000-24,000, and the thread was idle for 60-80 %
 * of the time.
 *
 * Organizations share commits. With a commit for each of 100 organizations, PostgreSQL would store a fifth as
 * many requests. When another transaction holds the lock of an organization, its requests move to a lane of
 * their own. So the other organizations do not wait for the lock.
 *
 * Invariant: a promise that `submit` returned resolves only after the commit that holds its request.
 */
import type { Ledger } from "../ledger/ledger.ts";
import { FairTurns } from "../process/fair-turns.ts";
import type { AdmittedSourced } from "./admission/admit-sourced.ts";
import { CommitLane, type LaneEvents } from "./commit-lane.ts";
import { maxWorkInCommit } from "./decide/decide.ts";
import {
  type Admitted,
  asWriteOutcome,
  type Decidable,
  type Outcome,
  type SourcedOutcome,
} from "./decide/requests.ts";
import type { Apart } from "./group-store.ts";
import { costOf, costOfBytes } from "./part-cost.ts";
import { type LargeRequest, type Submitted, WaitingCount, type WaitingLimit } from "./waiting-requests.ts";

/** At this limit of a lane the disk has stopped, and requests are rejected. Without the limit of bytes, the
 * largest bodies would take 5 GB. */
const maxWaiting: WaitingLimit = { entries: 20_000, bytes: 256 * 1024 * 1024 };

/** Limits of the requests that wait for the lock of one organization, and for the locks of all. The budget of
 * bodies in flight is 256 MiB by default and counts a compressed body twice. Half of it is left for
 * organizations that are not locked. */
const maxHeld: WaitingLimit = { entries: 5_000, bytes: 32 * 1024 * 1024 };
const maxHeldTogether: WaitingLimit = { entries: 20_000, bytes: 64 * 1024 * 1024 };

/** The longest wait of a request for the lock of its organization. */
const heldMs = 15_000;

/** Held items that a batch attaches in one commit, which takes 25 ms. More items take several commits. */
const maxWorkOfBatch = 5_000;

/** A failure is reported for this time. */
const failingMs = 10_000;

type CommitLedger = Pick<Ledger, "transact" | "groupsAtOnce" | "locksOrganizations">;

/** The lane that organizations share. No organization has this id. */
const shared = 0;

/** A batch of more takes turns with other requests, as the parts of a large request do: eight batches of 7 MB
 * in a row took 400 ms. 2,000 events of 2 MB together have this cost. */
const maxCostOfSmallBatch = 5_000;

export class GroupCommit {
  readonly #ledger: CommitLedger;
  readonly #events: Omit<LaneEvents, "idle">;
  readonly #apart: Apart;
  /** By organization. A lane is dropped when it is idle. */
  readonly #lanes = new Map<number, CommitLane>();
  #failedAtMs = Number.NEGATIVE_INFINITY;

  /** @param stored called after a commit with its events of earlier days that are no browser's, by
   * organization */
  constructor(
    ledger: CommitLedger,
    nowMs: () => number,
    stored?: (ofPast: ReadonlyMap<number, number>) => void,
  ) {
    this.#ledger = ledger;
    this.#events = {
      nowMs,
      committed: (ofPast) => {
        this.#failedAtMs = Number.NEGATIVE_INFINITY;
        if (ofPast.size > 0) stored?.(ofPast);
      },
      failed: () => {
        this.#failedAtMs = performance.now();
      },
      held: (waiting) => this.#lane(waiting.entries[0]?.organization ?? shared).addHeld(waiting),
    };
    const places = Math.max(1, Math.floor(ledger.groupsAtOnce / 2));
    const heldTurns = new FairTurns({ places, heldWhileOthersWait: places, heldAtMost: places });
    this.#apart = { waiting: new WaitingCount(), heldTurns, heldMs };
  }

  /** Whether the last group failed less than 10 s ago. Later it is false again, so that a new write can show
   * that the ledger has recovered. */
  get isFailing(): boolean {
    return performance.now() - this.#failedAtMs < failingMs;
  }

  /** Whether the queue is full, for requests of all organizations. */
  get isFull(): boolean {
    return this.#lanes.get(shared)?.waiting.reaches(maxWaiting) ?? false;
  }

  /** Whether this organization's own lane is full. */
  isFullFor(organization: number): boolean {
    const lane = this.#lanes.get(organization);
    if (lane === undefined) return false;
    if (!lane.isHeld) return lane.waiting.reaches(maxWaiting);
    return lane.waiting.reaches(maxHeld) || this.#apart.waiting.reaches(maxHeldTogether);
  }

  /** Resolves when the request is on disk, or when the decision was not to store it. Rejects when the ledger
   * failed. Then the request is not stored. */
  submit(entry: Admitted, bytes: number): Promise<Outcome> {
    const cost = costOf(entry);
    return this.#add(
      { entries: [entry], bytes, cost, maxWork: maxWorkInCommit, partOf: undefined },
      (outcomes, first) => asWriteOutcome(outcomes[first] ?? undecided()),
    );
  }

  /** Adds several requests that are stored together, and resolves with an outcome for each. */
  submitAll(entries: readonly Admitted[], bytes: number): Promise<readonly Outcome[]> {
    const cost = costOfAll(entries) + costOfBytes(bytes);
    const partOf = cost > maxCostOfSmallBatch ? { moved: 0 } : undefined;
    return this.#add({ entries, bytes, cost, maxWork: maxWorkOfBatch, partOf }, (outcomes, first) =>
      outcomes.slice(first, first + entries.length).map(asWriteOutcome),
    );
  }

  /** The same for items of a connected source.
   * @param partOf the request to which this part belongs. The next part is submitted when this one is
   * stored */
  submitSourced(
    entries: readonly AdmittedSourced[],
    bytes: number,
    partOf?: LargeRequest,
  ): Promise<readonly SourcedOutcome[]> {
    const cost = costOfAll(entries);
    return this.#add({ entries, bytes, cost, maxWork: maxWorkInCommit, partOf }, (outcomes, first) =>
      outcomes.slice(first, first + entries.length),
    );
  }

  /** Resolves when everything that was submitted before the call is on disk, or has failed. */
  async settled(): Promise<void> {
    await Promise.all([...this.#lanes.values()].map((lane) => lane.settled()));
  }

  #add<Result>(
    request: Submitted,
    resultOf: (outcomes: readonly SourcedOutcome[], first: number) => Result,
  ): Promise<Result> {
    return this.#laneOf(request).submit(request, resultOf);
  }

  #laneOf({ entries, partOf }: Submitted): CommitLane {
    const organization = entries[0]?.organization ?? shared;
    // A part shares its commit with no other request. In the shared lane it would block them while it waits
    // for its lock.
    const isApart = partOf !== undefined && this.#ledger.locksOrganizations;
    return this.#lane(isApart || this.#lanes.has(organization) ? organization : shared);
  }

  #lane(key: number): CommitLane {
    const known = this.#lanes.get(key);
    if (known !== undefined) return known;
    const isShared = key === shared;
    const events = { ...this.#events, idle: () => this.#lanes.delete(key) };
    // A second commit of one organization would only wait for the lock of the first.
    const groupsAtOnce = isShared ? this.#ledger.groupsAtOnce : 1;
    const lane = new CommitLane(this.#ledger, groupsAtOnce, events, isShared ? undefined : this.#apart);
    this.#lanes.set(key, lane);
    return lane;
  }
}

function costOfAll(entries: readonly Decidable[]): number {
  return entries.reduce((sum, entry) => sum + costOf(entry), 0);
}

function undecided(): never {
  throw new Error("a request of the group was not decided");
}
