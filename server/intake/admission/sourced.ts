/**
 * The items of connected sources. sources/ translates the messages of other tools into these items, and
 * admission reads them. A source may do three things that /identify and /track do not allow. It may send
 * items of people who are not identified yet, by a visitor's id or a user's. It may state later that two ids
 * are one person. It may identify without an e-mail address.
 */
import type { JsonObject } from "../../../contract/json.ts";

/** The person of an item: at least one of the two ids. */
export interface SourcedPerson {
  readonly userId?: string | undefined;
  /** A visitor's id. The tool assigns it before it knows the user. */
  readonly anonymousId?: string | undefined;
  /** The id of the browser, where the tool sends it beside a user's and not as a visitor's. It links nobody:
   * it shows that the page which made a user known is the one that says more of the user. */
  readonly visitor?: string | undefined;
}

interface SourcedMessage {
  /** The time at which it happened or was true, by the source's own rules, already corrected for a wrong
   * clock. */
  readonly atMs: number;
  /** The source's own id of the message. A repeated message has the same id. */
  readonly messageId: string | null;
  /** The id that earlier versions gave the message. One that is known by it is a duplicate. */
  readonly formerMessageId?: string | undefined;
  /** The day of `MessageKey.lastingDay`, for an id that is remembered for good. */
  readonly lastingDay?: number | undefined;
}

export interface SourcedAccount {
  readonly id: string;
  /** Undefined keeps the stored name. A new account gets its id as its name. */
  readonly name?: string | undefined;
  readonly avatar?: string | null | undefined;
  /** Attributes, merged into the stored ones. */
  readonly properties?: JsonObject | undefined;
}

/** Identifies a user. With both ids, the visitor is the user. */
export interface SourcedIdentify extends SourcedPerson, SourcedMessage {
  readonly type: "identify";
  /** Another id of the same person. The tool does not tell users' ids from visitors' ids. Items held under it
   * go to the user, except if this id was identified itself. */
  readonly previousId?: string | undefined;
  /** Undefined keeps the stored address. A user may have no address yet. */
  readonly email?: string | undefined;
  readonly traits: JsonObject;
  /** Used only for keys without a stored value, or with null. */
  readonly traitsOnce?: JsonObject | undefined;
  readonly isAccountOwner?: boolean | undefined;
  /** Null: the user leaves the account. */
  readonly account?: SourcedAccount | null | undefined;
}

/** An event. It is held while its user is not identified. */
export interface SourcedTrack extends SourcedPerson, SourcedMessage {
  readonly type: "track";
  /** As it was sent. White space in it becomes `_`. Pages show the name as it was sent. */
  readonly event: string;
  readonly properties: JsonObject;
  /** False: the event is stored and shown, and no figure counts it. */
  readonly isActivity: boolean;
  /** The event's account, if the source sends one. A user without an account joins it. */
  readonly account?: SourcedAccount | undefined;
}

/** States that two ids are one person. Items held under the first id, as a visitor's or as a user's, belong
 * to the user. */
export interface SourcedAlias extends SourcedMessage {
  readonly type: "alias";
  /** A visitor's id, or the id of a user who was never identified. Clients do not tell which. */
  readonly previousId: string;
  readonly userId: string;
}

/** The name, picture and attributes of an account, without its users. */
export interface SourcedAccountItem extends SourcedMessage {
  readonly type: "account";
  readonly account: SourcedAccount;
}

export type SourcedItem = SourcedIdentify | SourcedTrack | SourcedAlias | SourcedAccountItem;

/** The person of an item. Undefined for an item about an account alone. */
export function personIn(item: SourcedItem): string | undefined {
  if (item.type === "account") return undefined;
  return item.type === "alias" ? item.userId : (item.userId ?? item.anonymousId);
}
