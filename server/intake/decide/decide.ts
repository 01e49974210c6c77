/**
 * Decides a group of admitted requests against the stored state. The result has the duplicates, the new and
 * merged users, and the rows for the warehouse. Pure. Both ledgers call it inside a transaction and write its
 * result.
 *
 * A request sees the requests of its group that come before it: a track may follow its user's identify.
 */
import { type Message, OrganizationGone, type Stored, type Writes } from "../../ledger/transact.ts";
import { isInvalid } from "../admission/json.ts";
import type { AdmittedIdentify } from "../identify.ts";
import type { AdmittedTrack } from "../track.ts";
import { DecidedSources } from "./decide-sourced.ts";
import { DecidedHeldEvents } from "./decided-held-events.ts";
import { DecidedPeople, keyOf } from "./decided-people.ts";
import { DecidedRows } from "./decided-rows.ts";
import {
  type Decidable,
  formerKeyOf,
  isStored,
  messageKeyOf,
  type Outcome,
  type SourcedOutcome,
} from "./requests.ts";
import { withoutPlaceholders } from "./without-placeholders.ts";

/** Held items that are attached in one commit, and links and items that its aliases move. It takes about 10
 * ms. */
export const maxWorkInCommit = 1_000;

/** Links and held items that the aliases of one request move. A chain of n aliases moves n²/2. */
export const maxMovedInRequest = 20_000;

/** Limits of the work of a decision. */
export interface DecisionLimits {
  /** After this many attached or moved items, the rest of the group is left. Infinity decides the whole
   * group. */
  readonly maxWork: number;
  /** After this many moves, further aliases that would move more are rejected. */
  readonly mayMove: number;
}

const ofOneCommit: DecisionLimits = { maxWork: maxWorkInCommit, mayMove: maxMovedInRequest };

/** The decision about a group. */
export interface Decided {
  /** The outcomes of the group's first requests, in their order. Of all requests, if their work fits into one
   * commit. */
  readonly outcomes: readonly SourcedOutcome[];
  readonly writes: Writes;
  /** Links and held items that aliases moved. */
  readonly moved: number;
  /** Events of earlier days that are no browser's, by organization. */
  readonly ofPast: ReadonlyMap<number, number>;
}

/**
 * Decides the group in its order, at least its first request. If too many held items are attached, the rest
 * of the group is left to a further commit.
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
  return { outcomes, writes: decision.writes(nowMs), moved: decision.moved, ofPast: decision.ofPast };
}

class Decision {
  readonly #stored: Stored;
  readonly #mayMove: number;
  readonly #rows: DecidedRows;
  readonly #people: DecidedPeople;
  /** Held items and links. Made for the first identify or item of a source: a group of tracks needs none. */
  #held: { readonly heldEvents: DecidedHeldEvents; readonly sources: DecidedSources } | undefined;
  readonly #messages = new Map<string, Message>();

  constructor(stored: Stored, mayMove: number) {
    this.#stored = stored;
    this.#mayMove = mayMove;
    this.#rows = new DecidedRows(stored);
    this.#people = new DecidedPeople(stored, this.#rows);
  }

  /** Held items that were attached, and links and items that were moved. */
  get work(): number {
    return (this.#held?.sources.attached ?? 0) + this.moved;
  }

  /** Links and held items that aliases moved. */
  get moved(): number {
    return this.#held?.sources.moved ?? 0;
  }

  /** Events of earlier days that are no browser's, by organization. */
  get ofPast(): ReadonlyMap<number, number> {
    return this.#rows.ofPast;
  }

  decide(entry: Decidable): SourcedOutcome {
    const messageKey = messageKeyOf(entry);
    if (messageKey === undefined) return this.#store(entry);
    const key = keyOf(messageKey.organization, `${messageKey.kind} ${messageKey.messageId}`);
    if (this.#messages.has(key)) return "duplicate";
    const message = this.#stored.message(messageKey);
    if (message.remembered) {
      // It came in by a request of the last 24 hours. From now on its id is remembered for good.
      if (message.isNewForGood) this.#messages.set(key, message);
      return "duplicate";
    }
    const formerKey = formerKeyOf(entry);
    if (formerKey !== undefined && this.#stored.message(formerKey).remembered) return "duplicate";
    const outcome = this.#store(entry);
    // Only successes are remembered. A rejected message may be sent again under the same id.
    if (isStored(outcome) || outcome === "held") this.#messages.set(key, message);
    return outcome;
  }

  writes(nowMs: number): Writes {
    return {
      ...this.#people.writes(),
      ...this.#rows.writes(),
      ...this.#held?.heldEvents.writes(),
      messages: [...this.#messages.values()],
      nowMs,
    };
  }

  #store(sent: Decidable): SourcedOutcome {
    const isTrack = sent.kind === "track";
    const entry = withoutPlaceholders(sent, {
      isUser: (...id) => (isTrack ? this.#people.known(...id) : this.#people.user(...id)) !== undefined,
      isAccount: (...id) => this.#people.isAccount(...id),
    });
    if (isInvalid(entry)) return entry;
    if (entry.kind === "track") return this.#track(entry);
    this.#people.beginRequest();
    const outcome = entry.kind === "identify" ? this.#identify(entry) : this.#sources().decide(entry);
    const { ignored } = this.#people;
    return outcome === "stored" && ignored !== undefined ? { ignored } : outcome;
  }

  #track(entry: AdmittedTrack): Outcome {
    const user = this.#people.known(entry.organization, entry.userId);
    if (user === undefined) return "not_found";
    const { organization, event, label } = entry;
    if (label !== undefined) this.#sources().label(organization, event, label);
    const { account: payer, receivedAtMs, timeMs } = entry;
    if (payer === undefined) {
      this.#rows.event(entry, user);
      return "stored";
    }
    const request = { receivedAtMs, timestampMs: Math.min(timeMs, receivedAtMs) };
    const account = this.#people.account(entry.organization, payer, request);
    if (isInvalid(account)) return account;
    this.#rows.event(entry, { number: user.number, account });
    return "stored";
  }

  #identify(entry: AdmittedIdentify): Outcome {
    const outcome = this.#people.identify(entry);
    if (outcome === "stored") this.#sources().named(entry, entry.userId, entry.email);
    return outcome;
  }

  #sources(): DecidedSources {
    if (this.#held === undefined) {
      const heldEvents = new DecidedHeldEvents(this.#stored);
      const parts = { stored: this.#stored, rows: this.#rows, people: this.#people, heldEvents };
      this.#held = { heldEvents, sources: new DecidedSources(parts, this.#mayMove) };
    }
    return this.#held.sources;
  }
}
