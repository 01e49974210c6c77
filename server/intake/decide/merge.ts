/** The changes that a request makes to a user or an account. Of two values of a field the newer one wins
 * (field-times.ts). Pure. */

import type { JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import type { Account, User } from "../../ledger/entities.ts";
import { type Invalid, isInvalid } from "../admission/json.ts";
import type { AdmittedIdentify, SentAccount } from "../identify.ts";
import { FieldTimes, type RequestTimes } from "./field-times.ts";
import { type PageRequest, visitorMark } from "./page-marks.ts";

/** A user after an identify. */
export interface Merged {
  /** Null until one is sent. */
  readonly email: string | null;
  readonly traits: JsonObject;
  readonly isAccountOwner: boolean | null;
  readonly account: number;
  readonly timestampMs: number;
  readonly fieldTimestampsMs: Readonly<Record<string, number>>;
  /** Whether a value of the user changed. Times do not count. */
  readonly changed: boolean;
  /** Whether the time of a value changed. */
  readonly retimed: boolean;
  /** New values for `user_versions`, by their time. Empty if all were known. */
  readonly news: readonly News[];
}

/** Values of traits and account with the same time. An account of null means that the account was not
 * sent. */
export interface News {
  readonly atMs: number;
  readonly traits: JsonObject;
  readonly account: number | null;
}

/**
 * Merges an identify into what is stored.
 * @param account the number of the account that was sent, 0 for none, undefined if the request has no account
 * field.
 * @returns Invalid if the user would exceed the limits.
 */
export function merge(
  before: User | undefined,
  entry: Pick<AdmittedIdentify, "timestampMs" | "receivedAtMs" | "email" | "traits" | "isAccountOwner"> &
    PageRequest,
  account: number | undefined,
): Merged | Invalid {
  const fields = new FieldTimes(before, entry, (field) => entry.isBrowser === true && field === "account");
  const mark = before === undefined ? visitorMark(entry) : undefined;
  if (mark !== undefined) fields.mark(mark, entry.receivedAtMs);
  const traits: Record<string, unknown> = { ...before?.traits };
  const history = new History();
  if (before === undefined) history.at(entry.timestampMs);
  mergeTraits(traits, entry.traits, fields, history);
  const tooLarge = whyTooLarge(traits, "properties would give the user", "traits");
  if (tooLarge !== undefined) return { invalid: tooLarge };
  const merged = {
    email: fields.value<string | null>("email", entry.email, before?.email, null),
    traits,
    isAccountOwner: fields.value<boolean | null>(
      "isAccountOwner",
      entry.isAccountOwner,
      before?.isAccountOwner,
      null,
    ),
    account: fields.value("account", account, before?.account, 0),
  };
  if (account !== undefined) {
    const sentAtMs = fields.sentAtMs("account");
    const lost = fields.timeOf("account") > sentAtMs;
    if (lost || account !== (before?.account ?? 0)) history.at(sentAtMs).account = account;
    if (lost) history.at(fields.timeOf("account")).account = merged.account;
  }
  const news = history.news();
  const changed =
    before === undefined ||
    news.length > 0 ||
    merged.email !== before.email ||
    merged.isAccountOwner !== before.isAccountOwner;
  return {
    ...merged,
    ...timesOf(merged, fields),
    changed,
    retimed: fields.retimed,
    news,
  };
}

/** Merges traits that were sent into the stored ones. */
function mergeTraits(
  traits: Record<string, unknown>,
  sent: JsonObject,
  fields: FieldTimes,
  history: History,
): void {
  for (const [key, value] of Object.entries(sent)) {
    const known = Object.hasOwn(traits, key);
    const stored = traits[key];
    const field = fieldOf(key);
    const wins = fields.accepts(field, known);
    if (wins) define(traits, key, value);
    const isOther = !known || JSON.stringify(stored) !== JSON.stringify(value);
    // A value for an earlier time is new for that time, independent of the newest value.
    if (isOther || !wins) define(history.at(fields.sentAtMs(field)).traits, key, value);
    // The newest value is written again at its own time: it may have been no change at that time.
    if (known && !wins) define(history.at(fields.timeOf(field)).traits, key, stored);
  }
}

/** The name of a trait or an attribute among the times of fields. */
function fieldOf(key: string): string {
  return `properties.${key}`;
}

function timesOf(
  { traits, email, isAccountOwner, account }: Pick<Merged, "traits" | "email" | "isAccountOwner" | "account">,
  fields: FieldTimes,
): Pick<Merged, "timestampMs" | "fieldTimestampsMs"> {
  const held = Object.keys(traits).map(fieldOf);
  if (email !== null) held.push("email");
  if (isAccountOwner !== null) held.push("isAccountOwner");
  if (account !== 0) held.push("account");
  return fields.times(held, account === 0 ? ["account"] : []);
}

/** Collects news by time. */
class History {
  readonly #news = new Map<number, { traits: Record<string, unknown>; account: number | null }>();

  at(ms: number): { traits: Record<string, unknown>; account: number | null } {
    const news = this.#news.get(ms) ?? { traits: {}, account: null };
    this.#news.set(ms, news);
    return news;
  }

  news(): News[] {
    return [...this.#news].map(([atMs, values]) => ({ atMs, ...values }));
  }
}

/** Sets a key as JSON.parse does: `__proto__` is a trait like any other. */
function define(object: Record<string, unknown>, key: string, value: unknown): void {
  Object.defineProperty(object, key, { value, writable: true, enumerable: true, configurable: true });
}

function whyTooLarge(traits: object, beginning: string, name: "traits" | "attributes"): string | undefined {
  const keys = Object.keys(traits).length;
  if (keys > limits.keys) {
    return `${beginning} ${keys} ${name}: send fewer, at most ${limits.keys} are kept.`;
  }
  const bytes = Buffer.byteLength(JSON.stringify(traits));
  if (bytes <= limits.storedTraitsBytes) return undefined;
  return `${beginning} ${bytes} bytes of ${name}: send less, at most ${limits.storedTraitsBytes} are kept.`;
}

/** An account after a request. */
export interface MergedAccount
  extends Pick<Account, "name" | "avatar" | "traits" | "timestampMs" | "fieldTimestampsMs"> {
  /** Whether the name, the picture or an attribute changed. */
  readonly changed: boolean;
  /** Whether the time of a field changed. */
  readonly retimed: boolean;
  /** New attributes for `account_versions`, by their time. Empty if all were known. */
  readonly news: readonly News[];
}

const noTraits: JsonObject = {};
const noNews: readonly News[] = [];

/** Merges an account that was sent into the stored one. A new account without a name gets its id as its name.
 * @returns Invalid if the account would exceed the limits of attributes */
export function mergeAccount(
  before: Account | undefined,
  sent: SentAccount,
  request: RequestTimes & PageRequest,
): MergedAccount | Invalid {
  const fields = new FieldTimes(before, request, () => request.isBrowser === true);
  const mark = before === undefined ? visitorMark(request) : undefined;
  if (mark !== undefined) fields.mark(mark, request.receivedAtMs);
  const isNamed = sent.name !== undefined && fields.accepts("name", before !== undefined);
  const name = (isNamed ? sent.name : before?.name) ?? sent.accountId;
  if (before === undefined && sent.name === undefined) fields.setDefault("name");
  const avatar = fields.value<string | null>("avatar", sent.avatar, before?.avatar, null);
  const attributes =
    sent.properties === undefined ? undefined : mergeAttributes(before?.traits, sent.properties, fields);
  if (isInvalid(attributes)) return attributes;
  const traits = attributes?.traits ?? before?.traits ?? noTraits;
  const news = attributes?.news ?? noNews;
  const held = avatar === null ? ["name"] : ["name", "avatar"];
  for (const key of Object.keys(traits)) held.push(fieldOf(key));
  const times = fields.times(held, avatar === null ? ["avatar"] : []);
  const changed = before === undefined || name !== before.name || avatar !== before.avatar || news.length > 0;
  return { name, avatar, traits, ...times, changed, retimed: fields.retimed, news };
}

function mergeAttributes(
  stored: JsonObject = noTraits,
  sent: JsonObject,
  fields: FieldTimes,
): Pick<MergedAccount, "traits" | "news"> | Invalid {
  const traits: Record<string, unknown> = { ...stored };
  const history = new History();
  mergeTraits(traits, sent, fields, history);
  const tooLarge = whyTooLarge(traits, "account.properties would give the account", "attributes");
  return tooLarge === undefined ? { traits, news: history.news() } : { invalid: tooLarge };
}
