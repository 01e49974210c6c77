/**
 * Decides a group of admitted requests against what is stored: which are duplicates, which users are new,
 * what they look like after the merge, and which rows the warehouse gets. Pure, and the only place that
 * knows, with the files that it is made of: decided-people.ts for users and accounts, decide-sourced.ts for what
 * connected sources say. Both ledgers call it inside a transaction and write what it returns.
 *
 * Requests of one group see each other in order: a track may follow its user's identify.
 */
import { addressId, userKey, visitorKey } from "../ledger/parking.ts";
import type { Message, Needs, Stored, Writes } from "../ledger/transaction.ts";
import type { AdmittedSourced } from "./admit-sourced.ts";
import { DecidedSources } from "./decide-sourced.ts";
import { DecidedParking } from "./decided-parking.ts";
import { DecidedPeople, keyOf } from "./decided-people.ts";
import { DecidedRows } from "./decided-rows.ts";
import type { AdmittedIdentify } from "./identify.ts";
import type { Invalid } from "./json.ts";
import type { AdmittedTrack } from "./track.ts";

/** What came as a request to the write API. */
export type Admitted = AdmittedIdentify | AdmittedTrack;

/** Whatever may be decided. */
export type Decidable = Admitted | AdmittedSourced;

export type Outcome = "stored" | "duplicate" | "not_found" | Invalid;

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
    return this.#group.flatMap(({ organization, messageId }) =>
      messageId === null ? [] : [{ organization, messageId }],
    );
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

function emailSaid(entry: Decidable): string | undefined {
  return entry.kind === "said" && entry.said.kind === "identify" ? entry.said.email : undefined;
}

/** When so many items that were parked became their users', the commit is full: about 25 ms. */
export const maxAttachedInCommit = 5_000;

/**
 * Decides the group in its order; `outcomes` has one entry for each request that was decided. That is the whole group,
 * unless so much that was parked becomes its users' that the rest is left to a further commit.
 * @param maxAttached when so many parked items were attached the rest is left; Infinity decides the whole group
 */
export function decide(
  group: readonly Decidable[],
  stored: Stored,
  nowMs: number,
  maxAttached = maxAttachedInCommit,
): { readonly outcomes: readonly SourcedOutcome[]; readonly writes: Writes } {
  const decision = new Decision(stored);
  const outcomes: SourcedOutcome[] = [];
  for (const entry of group) {
    if (decision.attached >= maxAttached) break;
    outcomes.push(decision.decide(entry));
  }
  return { outcomes, writes: decision.writes(nowMs) };
}

class Decision {
  readonly #stored: Stored;
  readonly #rows: DecidedRows;
  readonly #people: DecidedPeople;
  readonly #parking: DecidedParking;
  readonly #sources: DecidedSources;
  readonly #messages = new Map<string, Message>();

  constructor(stored: Stored) {
    const rows = new DecidedRows(stored);
    const people = new DecidedPeople(stored, rows);
    const parking = new DecidedParking(stored);
    this.#stored = stored;
    this.#rows = rows;
    this.#people = people;
    this.#parking = parking;
    this.#sources = new DecidedSources({ stored, rows, people, parking });
  }

  /** Parked items that became their users'. */
  get attached(): number {
    return this.#sources.attached;
  }

  decide(entry: Decidable): SourcedOutcome {
    const { organization, messageId } = entry;
    if (messageId === null) return this.#store(entry);
    const key = keyOf(organization, messageId);
    if (this.#messages.has(key)) return "duplicate";
    const message = this.#stored.message(organization, messageId);
    if (message.remembered) return "duplicate";
    const outcome = this.#store(entry);
    // Only successes are remembered: a refused message may be sent again under the same id.
    if (outcome === "stored" || outcome === "parked") this.#messages.set(key, message);
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
