/**
 * Decides a group of admitted requests against the stored state: which are duplicates, which users are new, the merged
 * users, and the rows for the warehouse. Pure. Both ledgers call it inside a transaction and write its result.
 *
 * Requests of one group see each other in order: a track may follow its user's identify.
 */
import { type Message, OrganizationGone, type Stored, type Writes } from "../../ledger/ledger.ts";
import type { AdmittedIdentify } from "../identify.ts";
import type { AdmittedTrack } from "../track.ts";
import { DecidedSources } from "./decide-sourced.ts";
import { DecidedParking } from "./decided-parking.ts";
import { DecidedPeople, keyOf } from "./decided-people.ts";
import { DecidedRows } from "./decided-rows.ts";
import { type Decidable, isStored, messageKeyOf, type Outcome, type SourcedOutcome } from "./requests.ts";

/** Held items that become their users' in one commit, and links and items that its aliases move: about 10 ms. */
export const maxWorkInCommit = 1_000;

/** Links and held items that the aliases of one request move. A chain of n aliases moves n²/2. */
export const maxMovedInRequest = 20_000;

/** How much a decision may do. */
export interface DecisionLimits {
  /** When so many held items were attached or moved, the rest of the group is left. Infinity decides the whole group. */
  readonly maxWork: number;
  /** When so much was moved, further aliases that would move more are refused. */
  readonly mayMove: number;
}

const ofOneCommit: DecisionLimits = { maxWork: maxWorkInCommit, mayMove: maxMovedInRequest };

/** What was decided of a group. */
export interface Decided {
  /** Of the first requests of the group, in their order; of all of them unless the work was too much for a commit. */
  readonly outcomes: readonly SourcedOutcome[];
  readonly writes: Writes;
  /** Links and held items that aliases moved. */
  readonly moved: number;
}

/**
 * Decides the group in its order, at least its first request. The whole group is decided unless so much that is held
 * becomes its users' that the rest is left to a further commit.
 */
export function decide(
  group: readonly Decidable[],
  stored: Stored,
  nowMs: number,
  { maxWork, mayMove }: DecisionLimits = ofOneCommit,
): Decided {
  const decision = new Decision(stored, mayMove);
  const outcomes: SourcedOutcome[] = [];
  for (const entry of group) {
    if (decision.work >= maxWork) break;
    if (!stored.exists(entry.organization)) throw new OrganizationGone();
    outcomes.push(decision.decide(entry));
  }
  return { outcomes, writes: decision.writes(nowMs), moved: decision.moved };
}

class Decision {
  readonly #stored: Stored;
  readonly #mayMove: number;
  readonly #rows: DecidedRows;
  readonly #people: DecidedPeople;
  /** Held items and links. Made for the first identify or item of a source: a group of tracks needs none. */
  #held: { readonly parking: DecidedParking; readonly sources: DecidedSources } | undefined;
  readonly #messages = new Map<string, Message>();

  constructor(stored: Stored, mayMove: number) {
    this.#stored = stored;
    this.#mayMove = mayMove;
    this.#rows = new DecidedRows(stored);
    this.#people = new DecidedPeople(stored, this.#rows);
  }

  /** Held items that became their users', and what was moved. */
  get work(): number {
    return (this.#held?.sources.attached ?? 0) + this.moved;
  }

  /** Links and held items that aliases moved. */
  get moved(): number {
    return this.#held?.sources.moved ?? 0;
  }

  decide(entry: Decidable): SourcedOutcome {
    const messageKey = messageKeyOf(entry);
    if (messageKey === undefined) return this.#store(entry);
    const key = keyOf(messageKey.organization, `${messageKey.kind} ${messageKey.messageId}`);
    if (this.#messages.has(key)) return "duplicate";
    const message = this.#stored.message(messageKey);
    if (message.remembered) return "duplicate";
    const outcome = this.#store(entry);
    // Only successes are remembered: a refused message may be sent again under the same id.
    if (isStored(outcome) || outcome === "parked") this.#messages.set(key, message);
    return outcome;
  }

  writes(nowMs: number): Writes {
    return {
      ...this.#people.writes(),
      ...this.#rows.writes(),
      ...this.#held?.parking.writes(),
      messages: [...this.#messages.values()],
      nowMs,
    };
  }

  #store(entry: Decidable): SourcedOutcome {
    if (entry.kind === "track") return this.#track(entry);
    this.#people.beginRequest();
    const outcome = entry.kind === "identify" ? this.#identify(entry) : this.#sources().decide(entry);
    const { ignored } = this.#people;
    return outcome === "stored" && ignored !== undefined ? { ignored } : outcome;
  }

  #track(entry: AdmittedTrack): Outcome {
    const user = this.#people.known(entry.organization, entry.userId);
    if (user === undefined) return "not_found";
    this.#rows.event(entry, user);
    return "stored";
  }

  #identify(entry: AdmittedIdentify): Outcome {
    const outcome = this.#people.identify(entry);
    if (outcome === "stored") this.#sources().named(entry, entry.userId, entry.email);
    return outcome;
  }

  #sources(): DecidedSources {
    if (this.#held === undefined) {
      const parking = new DecidedParking(this.#stored);
      const parts = { stored: this.#stored, rows: this.#rows, people: this.#people, parking };
      this.#held = { parking, sources: new DecidedSources(parts, this.#mayMove) };
    }
    return this.#held.sources;
  }
}
