/**
 * What a connected source says, in our words: sources/ translates what other tools send into these items, and admission
 * reads them here. Beside what /identify and /track take, a source may speak of people who are not identified yet, by a
 * visitor's id or a user's; say later that two ids are one person; and identify without an e-mail address.
 */
import type { JsonObject } from "../../../contract/json.ts";

/** The person of an item: at least one of the two ids. */
export interface SourcedPerson {
  readonly userId?: string | undefined;
  /** A visitor's id, which the tool gives before it knows the user. */
  readonly anonymousId?: string | undefined;
}

interface Said {
  /** When it happened, or was true: by the source's own rules, already corrected for a wrong clock. */
  readonly atMs: number;
  /** The source's own id of the message, made once however often it is sent. */
  readonly messageId: string | null;
}

export interface SourcedAccount {
  readonly id: string;
  /** Undefined keeps the name that is stored; an account that is new is named by its id. */
  readonly name?: string | undefined;
  readonly avatar?: string | null | undefined;
}

/** Identifies a user. With both ids, the visitor is the user. */
export interface SourcedIdentify extends SourcedPerson, Said {
  readonly type: "identify";
  /** Another id of the same person, of a tool that does not say whether an id is a user's or a visitor's: what waits
   * under it is the user's, unless it was identified itself. */
  readonly previousId?: string | undefined;
  /** Undefined keeps what is stored: a user may be without one until it comes. */
  readonly email?: string | undefined;
  readonly traits: JsonObject;
  /** Said only where nothing is stored under the key, or null. */
  readonly traitsOnce?: JsonObject | undefined;
  readonly isAccountOwner?: boolean | undefined;
  /** Null: the user leaves the account. */
  readonly account?: SourcedAccount | null | undefined;
}

/** An event. It is held while its user is not identified. */
export interface SourcedTrack extends SourcedPerson, Said {
  readonly type: "track";
  /** As it was sent: white space in it becomes `_`, and the name as sent is what people are shown. */
  readonly event: string;
  readonly properties: JsonObject;
  /** False: it is kept and shown, and counts for nothing. */
  readonly isActivity: boolean;
  /** The account in which it was done, where the source says it; the user joins it who belongs to none. */
  readonly account?: SourcedAccount | undefined;
}

/** That two ids are one person: what was parked for the first, whether it was said as a visitor's or as a user's,
 * belongs to the user. */
export interface SourcedAlias extends Said {
  readonly type: "alias";
  /** A visitor's id, or the id of a user who was never identified; clients do not say which. */
  readonly previousId: string;
  readonly userId: string;
}

/** What an account is called, without a word of its users. */
export interface SourcedAccountSaid extends Said {
  readonly type: "account";
  readonly account: SourcedAccount;
}

export type SourcedItem = SourcedIdentify | SourcedTrack | SourcedAlias | SourcedAccountSaid;

/** The person of an item; undefined for an item about an account alone. */
export function personIn(item: SourcedItem): string | undefined {
  if (item.type === "account") return undefined;
  return item.type === "alias" ? item.userId : (item.userId ?? item.anonymousId);
}
