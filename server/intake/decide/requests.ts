/** The requests that are decided, their outcomes, and the rows that a decision looks up. Pure. */
import { type ErrorName, errorMessages, errorStatus } from "../../../contract/errors.ts";
import type { ErrorAnswer } from "../../../contract/write-api.ts";
import { addressId, userKey, visitorKey } from "../../ledger/rules/held-events.ts";
import type { MessageKey, Needs } from "../../ledger/transact.ts";
import type { AdmittedSourced } from "../admission/admit-sourced.ts";
import type { Invalid } from "../admission/json.ts";
import type { AdmittedIdentify } from "../identify.ts";
import type { AdmittedTrack } from "../track.ts";
import type { GuardedField } from "./decided-people.ts";

/** A request of the write API. */
export type Admitted = AdmittedIdentify | AdmittedTrack;

/** A request of the write API or an item of a source. */
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

/** An item of a connected source may also be held until its user is known. */
export type SourcedOutcome = Outcome | "held";

/** The outcome of a request to the write API, which never waits. */
export function asWriteOutcome(outcome: SourcedOutcome): Outcome {
  if (outcome === "held") throw new Error("a request to the write API was held");
  return outcome;
}

/** The error that a sender gets. Undefined for an item that is stored, now or before. */
export function errorOf(outcome: Outcome): (ErrorAnswer & { readonly name: ErrorName }) | undefined {
  if (isStored(outcome) || outcome === "duplicate") return undefined;
  const name = outcome === "not_found" ? "not_found" : "validation_error";
  const message = outcome === "not_found" ? errorMessages.userNotFound : outcome.invalid;
  return { message, statusCode: errorStatus[name], name };
}

/** The look-ups that the decision about these requests needs. Each list is made when the ledger reads it. */
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
      const account = entry.kind === "person" ? entry.content.account : "account" in entry && entry.account;
      return account ? [{ organization: entry.organization, accountId: account.accountId }] : [];
    });
  }

  get messageIds() {
    return this.#group.flatMap((entry) => [messageKeyOf(entry) ?? [], formerKeyOf(entry) ?? []].flat());
  }

  get people() {
    const ids = this.users.map(({ organization, userId: id }) => userKey(organization, id));
    return [...ids, ...this.#visitors, ...this.#addresses];
  }

  get labels() {
    return this.#group.flatMap((entry) => {
      const track = entry.kind === "person" ? entry.content : entry;
      const isLabelled = track.kind === "track" && (track.label ?? null) !== null;
      return isLabelled ? [{ organization: entry.organization, event: track.event }] : [];
    });
  }

  /** Addresses under which items may be held that were sent before a user had the address. */
  get #addresses() {
    return this.#group.flatMap((entry) => {
      const email = entry.kind === "identify" ? entry.email : emailOf(entry);
      const id = email === undefined ? undefined : addressId(email);
      return id === undefined ? [] : [userKey(entry.organization, id)];
    });
  }

  /** Ids that were sent as a visitor's, or may have been. */
  get #visitors() {
    return this.#group.flatMap((entry) => {
      if (entry.kind !== "person" && entry.kind !== "alias") return [];
      const ids = entry.kind === "person" ? [entry.anonymousId] : [entry.previousId, entry.userId];
      return ids.flatMap((id) => (id === undefined ? [] : [visitorKey(entry.organization, id)]));
    });
  }

  /** Every id that sources use for users. */
  get #sourced() {
    return this.#group.flatMap((entry) => {
      if (entry.kind !== "person" && entry.kind !== "alias") return [];
      const ids = [entry.userId, entry.previousId];
      return ids.flatMap((userId) =>
        userId === undefined ? [] : [{ organization: entry.organization, userId }],
      );
    });
  }
}

/** The key of an entry's message id. Undefined if it has none. */
export function messageKeyOf(entry: Decidable): MessageKey | undefined {
  const { organization, messageId, lastingDay } = entry;
  if (messageId === null) return undefined;
  const isTrack = entry.kind === "track" || (entry.kind === "person" && entry.content.kind === "track");
  return { organization, kind: isTrack ? "track" : "identify", messageId, lastingDay };
}

/** The key of the id that earlier versions gave an entry. Undefined if there is none. */
export function formerKeyOf(entry: Decidable): MessageKey | undefined {
  const messageId = "formerMessageId" in entry ? entry.formerMessageId : undefined;
  const key = messageKeyOf(entry);
  return messageId === undefined || key === undefined ? undefined : { ...key, messageId };
}

function emailOf(entry: Decidable): string | undefined {
  return entry.kind === "person" && entry.content.kind === "identify" ? entry.content.email : undefined;
}
