/**
 * Group commit: all requests that arrive while a commit is under way share the next one. One fsync then
 * serves many requests: 0.3 ms for one row, 0.7 for 200, 1.7 for 1,000. The next group is written while the
 * one before is synced: beside other work that used the disk, waiting for the sync left the thread idle for
 * 60-80 % of the time, at 8,000-24,000 requests a second; so it was 38,000-56,000.
 *
 * Organizations share commits: a commit for each organization would store a fifth as many requests on PostgreSQL, with 100
 * organizations. When something holds the lock of an organization, its requests move to a lane of their own, and the other
 * organizations do not wait for the lock.
 *
 * Invariant: a promise that `submit` returned resolves only after the commit that holds its request.
 */
import type { Ledger } from "../../ledger/ledger.ts";
import { FairTurns } from "../../process/process.ts";
import type { AdmittedSourced } from "../admission/admit-sourced.ts";
import { maxWorkInCommit } from "../decide/decide.ts";
import {
  type Admitted,
  type Decidable,
  type Outcome,
  type SourcedOutcome,
  unparked,
} from "../decide/requests.ts";
import { CommitLane, type LaneEvents } from "./commit-lane.ts";
import type { Apart } from "./group-store.ts";
import { costOf } from "./part-cost.ts";
import { type LargeRequest, type Submitted, WaitingCount, type WaitingLimit } from "./waiting-requests.ts";

/** When so much waits in a lane the disk has stopped, and requests are turned away. Without the bytes it would be 5 GB of
 * the largest bodies. */
const maxWaiting: WaitingLimit = { entries: 20_000, bytes: 256 * 1024 * 1024 };

/** Limits of the requests that wait for the lock of one organization, and for the locks of all. The budget of bodies in flight holds 256 MiB
 * by default and counts a compressed body twice: half of it is left for organizations that are not locked. */
const maxHeld: WaitingLimit = { entries: 5_000, bytes: 32 * 1024 * 1024 };
const maxHeldTogether: WaitingLimit = { entries: 20_000, bytes: 64 * 1024 * 1024 };

/** A request waits for the lock of its organization for so long. */
const heldMs = 15_000;

/** Held items that a batch attaches in one commit: 25 ms. With more it takes several. */
const maxWorkOfBatch = 5_000;

/** A failure is reported for so long. */
const failingMs = 10_000;

type CommitLedger = Pick<Ledger, "transact" | "groupsAtOnce" | "locksOrganizations">;

/** The lane that organizations share. No organization has this id. */
const shared = 0;

export class GroupCommit {
  readonly #ledger: CommitLedger;
  readonly #events: Omit<LaneEvents, "idle">;
  readonly #apart: Apart;
  /** By organization. A lane is dropped when it is idle. */
  readonly #lanes = new Map<number, CommitLane>();
  #failedAtMs = Number.NEGATIVE_INFINITY;

  constructor(ledger: CommitLedger, nowMs: () => number) {
    this.#ledger = ledger;
    this.#events = {
      nowMs,
      committed: () => {
        this.#failedAtMs = Number.NEGATIVE_INFINITY;
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

  /** Whether the last group failed a moment ago. After a while it is false again, so that a new write can show that the
   * ledger has recovered. */
  get isFailing(): boolean {
    return performance.now() - this.#failedAtMs < failingMs;
  }

  /** Whether too much waits for requests of any organization to be taken. */
  get isFull(): boolean {
    return this.#lanes.get(shared)?.waiting.reaches(maxWaiting) ?? false;
  }

  /** Whether too much of this organization waits in a lane of its own. */
  isFullFor(organization: number): boolean {
    const lane = this.#lanes.get(organization);
    if (lane === undefined) return false;
    if (!lane.isHeld) return lane.waiting.reaches(maxWaiting);
    return lane.waiting.reaches(maxHeld) || this.#apart.waiting.reaches(maxHeldTogether);
  }

  /** Resolves when the request is on disk, or decided not to be stored; rejects when the ledger failed, and
   * then it is not stored. */
  submit(entry: Admitted, bytes: number): Promise<Outcome> {
    const cost = costOf(entry);
    return this.#add(
      { entries: [entry], bytes, cost, maxWork: maxWorkInCommit, partOf: undefined },
      (outcomes, first) => unparked(outcomes[first] ?? undecided()),
    );
  }

  /** The same for several that are stored together; an outcome for each. */
  submitAll(entries: readonly Admitted[], bytes: number): Promise<readonly Outcome[]> {
    const cost = costOfAll(entries);
    return this.#add(
      { entries, bytes, cost, maxWork: maxWorkOfBatch, partOf: undefined },
      (outcomes, first) => outcomes.slice(first, first + entries.length).map(unparked),
    );
  }

  /** The same for items of a connected source.
   * @param partOf the request of which these are a part; its next part is submitted when this one is stored */
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
    // A part shares its commit with no other request, and would only stop them while it waits for its lock.
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
