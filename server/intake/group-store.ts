/**
 * Stores one group of requests in one commit. A group that fails because of one request is halved until that
 * request is alone. Requests whose organization is locked by another transaction wait for the lock in a
 * separate lane.
 */

import type { Ledger } from "../ledger/ledger.ts";
import { failedByContent } from "../ledger/rules/failed-by-content.ts";
import { OrganizationsHeld } from "../ledger/transact.ts";
import type { FairTurns } from "../process/fair-turns.ts";
import { decide, maxMovedInRequest } from "./decide/decide.ts";
import { type Decidable, NeedsOf, type SourcedOutcome } from "./decide/requests.ts";
import type { LargeRequest, Submitted, Waiting, WaitingCount } from "./waiting-requests.ts";

/** The pause between two attempts while another transaction holds an organization's lock. */
const heldPauseMs = 200;

/** Only a lane of one organization has it. */
export interface Apart {
  /** Counts the requests of all such lanes. */
  readonly waiting: WaitingCount;
  /** The order in which lanes of locked organizations use the ledger. Each waits 100 ms for its lock, in one
   * of the ledger's few concurrent transactions. */
  readonly heldTurns: FairTurns;
  /** The longest wait of a request for the lock of its organization. */
  readonly heldMs: number;
}

/** Gets the events of a lane's commits. */
export interface CommitEvents {
  readonly nowMs: () => number;
  /** @param ofPast events of earlier days that are no browser's, by organization */
  committed(ofPast: ReadonlyMap<number, number>): void;
  /** The ledger failed, and the content of the requests was not the cause. */
  failed(): void;
  /** Another transaction holds the lock of the request's organization. A lane of one organization waits for
   * the lock instead. */
  held(waiting: Waiting): void;
}

export class GroupStore {
  readonly #ledger: Pick<Ledger, "transact">;
  readonly #events: CommitEvents;
  readonly #apart: Apart | undefined;
  /** Whether another transaction held the lock of the lane's organization at the last commit. */
  isHeld = false;

  /** @param apart undefined for the lane that organizations share */
  constructor(ledger: Pick<Ledger, "transact">, events: CommitEvents, apart: Apart | undefined) {
    this.#ledger = ledger;
    this.#events = events;
    this.#apart = apart;
  }

  /** Stores a group. If it fails because of the content of one request, the group is halved until this
   * request is alone. Then only this request is rejected. */
  async store(group: readonly Waiting[]): Promise<void> {
    const outcomes: SourcedOutcome[] = [];
    const failure = await this.#commit(group, outcomes);
    let first = 0;
    const rest: Waiting[] = [];
    for (const waiting of group) {
      const end = first + waiting.entries.length;
      if (failure === undefined || end <= outcomes.length) waiting.answer(outcomes, first);
      // Some of its entries are stored. A retry would store those without a message id twice.
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
    await this.store(rest.slice(0, half));
    await this.store(rest.slice(half));
  }

  /** Moves the requests of locked organizations to their own lanes, and stores the others. */
  async #storeUnlocked(requests: readonly Waiting[], { organizations }: OrganizationsHeld): Promise<void> {
    const isHeld = ({ entries: [first] }: Waiting) =>
      first !== undefined && organizations.includes(first.organization);
    for (const waiting of requests.filter(isHeld)) this.#events.held(waiting);
    const others = requests.filter((waiting) => !isHeld(waiting));
    if (others.length > 0) await this.store(others);
  }

  /** Retries requests of a locked organization after a pause. Requests that have waited too long are
   * rejected. */
  async #storeLater(requests: readonly Waiting[], held: OrganizationsHeld, { heldMs }: Apart): Promise<void> {
    const latestMs = performance.now() - heldMs;
    const isLate = ({ apartSinceMs = 0 }: Waiting) => apartSinceMs <= latestMs;
    for (const { reject } of requests.filter(isLate)) reject(held);
    const inTime = requests.filter((waiting) => !isLate(waiting));
    if (inTime.length === 0) return;
    await Bun.sleep(heldPauseMs);
    await this.store(inTime);
  }

  /** Decides and stores a group, and adds to `outcomes`. @returns the failure, undefined if the whole group
   * is stored */
  async #commit(group: readonly Waiting[], outcomes: SourcedOutcome[]): Promise<Failure | undefined> {
    const entries = group.flatMap((waiting) => waiting.entries);
    const decision = new LastDecision(group, this.#events.nowMs);
    const turns = this.isHeld ? this.#apart?.heldTurns : undefined;
    await turns?.take(undefined);
    try {
      // It usually runs once. Entries that attach very many held items take further commits.
      do {
        const left = entries.slice(outcomes.length);
        await this.#ledger.transact(new NeedsOf(left), (stored) => decision.make(left, stored));
        const { outcomes: kept, ofPast } = decision.kept();
        outcomes.push(...kept);
        this.#events.committed(ofPast);
      } while (outcomes.length < entries.length);
      this.isHeld = false;
      return undefined;
    } catch (reason) {
      const isOfContent = decision.threw(reason) || failedByContent(reason);
      this.isHeld = reason instanceof OrganizationsHeld;
      if (!isOfContent && !this.isHeld) this.#events.failed();
      return { reason, isOfContent };
    } finally {
      turns?.giveBack(undefined);
    }
  }
}

interface Failure {
  readonly reason: unknown;
  /** Nothing was written, and the group may succeed without some of its requests. */
  readonly isOfContent: boolean;
}

/** The decision of a commit. A ledger may call it several times, and the last result counts. */
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

  /** The decision. It is stored when this is called. */
  kept(): ReturnType<typeof decide> {
    if (this.#made === undefined) throw new Error("the ledger stored a group that was not decided");
    if (this.#partOf !== undefined) this.#partOf.moved += this.#made.moved;
    return this.#made;
  }

  /** Whether the decision failed with this error. A decision that fails writes nothing. */
  threw(error: unknown): boolean {
    return this.#thrown !== undefined && this.#thrown.error === error;
  }
}
