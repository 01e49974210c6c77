/**
 * Decides a group of admitted requests against what is stored: which are duplicates, which users are new,
 * what they look like after the merge, and which rows the warehouse gets. Pure, and the only place that
 * knows, with the files that it is made of: decided-people.ts for users and accounts, decide-sourced.ts for what
 * connected sources say. Both ledgers call it inside a transaction and write what it returns.
 *
 * Requests of one group see each other in order: a track may follow its user's identify.
 */
import {
  addressId,
  type Message,
  type MessageKey,
  type Needs,
  OrganizationGone,
  type Stored,
  userKey,
  visitorKey,
  type Writes,
} from "../../ledger/ledger.ts";
import type { AdmittedSourced } from "../admission/admit-sourced.ts";
import type { Invalid } from "../admission/json.ts";
import type { AdmittedIdentify } from "../identify.ts";
import type { AdmittedTrack } from "../track.ts";
import { DecidedSources } from "./decide-sourced.ts";
import { DecidedParking } from "./decided-parking.ts";
import { DecidedPeople, type GuardedField, keyOf } from "./decided-people.ts";
import { DecidedRows } from "./decided-rows.ts";

/** What came as a request to the write API. */
export type Admitted = AdmittedIdentify | AdmittedTrack;

/** Whatever may be decided. */
export type Decidable = Admitted | AdmittedSourced;

export type Outcome = "stored" | StoredWithout | "duplicate" | "not_found" | Invalid;

/** Stored, but without fields that a browser token may not change. */
export interface StoredWithout {
  readonly ignored: readonly GuardedField[];
}

/** Whether a request was stored, whole or without some fields. */
export function isStored(outcome: SourcedOutcome): outcome is "stored" | StoredWithout {
  return outcome === "stored" || (typeof outcome === "object" && "ignored" in outcome);
}

/** What a connected source says may also wait until it is known whose it is. */
export type SourcedOutcome = Outcome | "parked";

/** The outcome of a request to the write API, which never waits. */
export function unparked(outcome: SourcedOutcome): Outcome {
  if (outcome === "parked") throw new Error("a request to the write API was parked");
  return outcome;
}

/** What has to be known to decide these requests; made only as far as the ledger asks. */
export class NeedsOf implements Needs {
  readonly #group: readonly Decidable[];

  constructor(group: readonly Decidable[]) {
    this.#group = group;
  }

  get known() {
    return [...this.#group.filter((entry) => entry.kind === "track"), ...this.#sourced];
  }

  get users() {
    return [...this.#group.filter((entry) => entry.kind === "identify"), ...this.#sourced];
  }

  get accounts() {
    return this.#group.flatMap((entry) => {
      const account = entry.kind === "said" ? entry.said.account : "account" in entry && entry.account;
      return account ? [{ organization: entry.organization, accountId: account.accountId }] : [];
    });
  }

  get messageIds() {
    return this.#group.flatMap((entry) => messageKeyOf(entry) ?? []);
  }

  get people() {
    const ids = this.users.map(({ organization, userId: id }) => userKey(organization, id));
    return [...ids, ...this.#visitors, ...this.#addresses];
  }

  get labels() {
    return this.#group.flatMap((entry) =>
      entry.kind === "said" && entry.said.kind === "track" && entry.said.label !== null
        ? [{ organization: entry.organization, event: entry.said.event }]
        : [],
    );
  }

  /** Under which there may wait what was said of an address before it was a user's. */
  get #addresses() {
    return this.#group.flatMap((entry) => {
      const email = entry.kind === "identify" ? entry.email : emailSaid(entry);
      const id = email === undefined ? undefined : addressId(email);
      return id === undefined ? [] : [userKey(entry.organization, id)];
    });
  }

  /** Ids that were said as a visitor's, or may have been. */
  get #visitors() {
    return this.#group.flatMap((entry) => {
      if (entry.kind !== "said" && entry.kind !== "alias") return [];
      const ids = entry.kind === "said" ? [entry.anonymousId] : [entry.previousId, entry.userId];
      return ids.flatMap((id) => (id === undefined ? [] : [visitorKey(entry.organization, id)]));
    });
  }

  /** Every id by which sources speak of users. */
  get #sourced() {
    return this.#group.flatMap((entry) => {
      if (entry.kind !== "said" && entry.kind !== "alias") return [];
      const ids = [entry.userId, entry.previousId];
      return ids.flatMap((userId) =>
        userId === undefined ? [] : [{ organization: entry.organization, userId }],
      );
    });
  }
}

/** The key of an entry's message id; undefined when it has none. */
function messageKeyOf(entry: Decidable): MessageKey | undefined {
  const { organization, messageId } = entry;
  if (messageId === null) return undefined;
  const isTrack = entry.kind === "track" || (entry.kind === "said" && entry.said.kind === "track");
  return { organization, kind: isTrack ? "track" : "identify", messageId };
}

function emailSaid(entry: Decidable): string | undefined {
  return entry.kind === "said" && entry.said.kind === "identify" ? entry.said.email : undefined;
}

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
  readonly #rows: DecidedRows;
  readonly #people: DecidedPeople;
  readonly #parking: DecidedParking;
  readonly #sources: DecidedSources;
  readonly #messages = new Map<string, Message>();

  constructor(stored: Stored, mayMove: number) {
    const rows = new DecidedRows(stored);
    const people = new DecidedPeople(stored, rows);
    const parking = new DecidedParking(stored);
    this.#stored = stored;
    this.#rows = rows;
    this.#people = people;
    this.#parking = parking;
    this.#sources = new DecidedSources({ stored, rows, people, parking }, mayMove);
  }

  /** Held items that became their users', and what was moved. */
  get work(): number {
    return this.#sources.attached + this.#sources.moved;
  }

  /** Links and held items that aliases moved. */
  get moved(): number {
    return this.#sources.moved;
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
      ...this.#parking.writes(),
      messages: [...this.#messages.values()],
      nowMs,
    };
  }

  #store(entry: Decidable): SourcedOutcome {
    this.#people.beginRequest();
    const outcome = this.#outcomeOf(entry);
    const { ignored } = this.#people;
    return outcome === "stored" && ignored !== undefined ? { ignored } : outcome;
  }

  #outcomeOf(entry: Decidable): SourcedOutcome {
    if (entry.kind === "track") return this.#track(entry);
    return entry.kind === "identify" ? this.#identify(entry) : this.#sources.decide(entry);
  }

  #track(entry: AdmittedTrack): Outcome {
    const user = this.#people.known(entry.organization, entry.userId);
    if (user === undefined) return "not_found";
    this.#rows.event(entry, user);
    return "stored";
  }

  #identify(entry: AdmittedIdentify): Outcome {
    const outcome = this.#people.identify(entry);
    if (outcome === "stored") this.#sources.named(entry, entry.userId, entry.email);
    return outcome;
  }
}
