/**
 * Admits items of connected sources. The limits are those of /identify and /track, but a tool's user cannot
 * correct every field. So an invalid e-mail address, trait or picture is left out with a warning. White space
 * in an event's name becomes `_`. Pure.
 */

import type { JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { IdentifyBody, reservedAttributes, reservedTraits } from "../../../contract/write-api.ts";
import { isKeptTime } from "../../calendar/event-time.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { WarningKind } from "../../ledger/stores/warnings.ts";
import type { SentAccount } from "../identify.ts";
import { admitBilling } from "./admit-billing.ts";
import { type Arrival, compile, isPictureUrl } from "./admit-event.ts";
import { type Invalid, isInvalid, whyUnstorable } from "./json.ts";
import { isPlaceholderId } from "./placeholder-ids.ts";
import type { SourcedAccount, SourcedIdentify, SourcedItem, SourcedTrack } from "./sourced.ts";

interface Admitted {
  readonly organization: number;
  readonly messageId: string | null;
  /** As in `SourcedItem`. */
  readonly formerMessageId?: string | undefined;
  /** As in `MessageKey`. */
  readonly lastingDay?: number | undefined;
  readonly receivedAtMs: number;
  readonly atMs: number;
  /** Of the item's JSON. */
  readonly bytes: number;
  /** The organization's timezone, for the days of events. */
  readonly zone: Zone;
  /** As in `Arrival`. */
  readonly isBrowser?: boolean | undefined;
  readonly mayJoin?: boolean | undefined;
}

/** An identify or a track. At least one of the two ids is set. */
export interface AdmittedPersonItem extends Admitted {
  readonly kind: "person";
  readonly userId: string | undefined;
  readonly anonymousId: string | undefined;
  /** Only of an identify. */
  readonly previousId: string | undefined;
  /** The browser that sent it. */
  readonly visitor?: string | undefined;
  readonly content: PersonItemContent;
}

export interface AdmittedAlias extends Admitted {
  readonly kind: "alias";
  readonly previousId: string;
  readonly userId: string;
}

export interface AdmittedAccount extends Admitted {
  readonly kind: "account";
  readonly account: SentAccount;
}

export type AdmittedSourced = AdmittedPersonItem | AdmittedAlias | AdmittedAccount;

/** It must pass through JSON unchanged, because it may be held. An undefined field may be missing
 * afterwards. */
export type PersonItemContent = IdentifyContent | TrackContent;

interface IdentifyContent {
  readonly kind: "identify";
  readonly email: string | undefined;
  readonly traits: JsonObject;
  readonly traitsOnce: JsonObject | undefined;
  readonly isAccountOwner: boolean | undefined;
  readonly account: SentAccount | null | undefined;
}

interface TrackContent {
  readonly kind: "track";
  readonly event: string;
  /** The name as it was sent, if it differs from `event`. */
  readonly label: string | null;
  /** JSON text. */
  readonly properties: string;
  readonly isActivity: boolean;
  readonly account: SentAccount | undefined;
  /** Whether the account only pays: a billing event names it, and the user does not join it. */
  readonly isPayer?: boolean;
}

/** A field of an item that was left out, or changed so that it can be kept. */
export interface LeftOut {
  readonly kind: Extract<
    WarningKind,
    "email_left_out" | "trait_left_out" | "number_kept_as_text" | "half_character_replaced" | "placeholder_id"
  >;
  /** The trait's key, the address, the field, or the id. */
  readonly detail: string;
}

type TakeNote = (leftOut: LeftOut) => void;

const email = compile(IdentifyBody.properties.email);
const reserved: Readonly<Record<string, { Check(value: unknown): boolean }>> = {
  owner: compile(reservedAttributes.owner),
  renewsAt: compile(reservedAttributes.renewsAt),
  contractValue: compile(reservedAttributes.contractValue),
};
const digits = /^\d{1,15}(\.\d{1,6})?$/;
const whiteSpace = /[\s\u0085]+/gu;
const noWhiteSpace = /[^\s\u0085]/u;
/** Longer names are rejected unread: 250,000 characters of white space compress to less than 1 kB. */
const maxSentNameCharacters = 4 * limits.eventNameCharacters;

/** Admits an item, or returns the problem. @param note gets each field that is left out */
export function admitSourced(item: SourcedItem, arrival: Arrival, note: TakeNote): AdmittedSourced | Invalid {
  const bytes = Buffer.byteLength(JSON.stringify(item));
  const problem =
    whyUnstorable({ ...item, atMs: 0 }, () => undefined) ?? whyTooLarge(bytes) ?? whyUnclear(item, arrival);
  if (problem !== undefined) return problem;
  const { organization, zone, receivedAtMs, isBrowser, mayJoin } = arrival;
  const atMs = Math.floor(item.atMs);
  const { lastingDay, formerMessageId } = item;
  const messageId = item.messageId || null;
  const ids = { messageId, formerMessageId, lastingDay };
  const admitted = { organization, zone, receivedAtMs, ...ids, bytes, isBrowser, mayJoin };
  if (item.type === "alias") {
    const { previousId, userId } = item;
    return { ...admitted, kind: "alias", previousId, userId, atMs: Math.min(atMs, receivedAtMs) };
  }
  if (item.type === "account") {
    const account = admitAccount(item.account, note);
    return isInvalid(account) ? account : { ...admitted, kind: "account", account, atMs };
  }
  if (item.userId !== undefined && isPlaceholderId(item.userId))
    note({ kind: "placeholder_id", detail: `userId ${item.userId}` });
  const accountId = item.account?.id;
  if (accountId !== undefined && isPlaceholderId(accountId))
    note({ kind: "placeholder_id", detail: `account.id ${accountId}` });
  const content = item.type === "track" ? admitTrack(item, arrival, note) : admitIdentify(item, note);
  if (isInvalid(content)) return content;
  return {
    ...admitted,
    kind: "person",
    userId: item.userId || undefined,
    anonymousId: item.anonymousId || undefined,
    visitor: isBrowser ? item.visitor || item.anonymousId || undefined : undefined,
    previousId: (item.type === "identify" && item.previousId) || undefined,
    content,
    // An identify cannot have a future time: until then it would override all newer identifies.
    atMs: item.type === "track" ? atMs : Math.min(atMs, receivedAtMs),
  };
}

function whyTooLarge(bytes: number): Invalid | undefined {
  if (bytes <= limits.bodyBytes) return undefined;
  return { invalid: `item is larger than ${limits.bodyBytes} bytes: send less.` };
}

/** The problem with an item's ids, time or message id. */
function whyUnclear(item: SourcedItem, { zone }: Arrival): Invalid | undefined {
  const ids = idsIn(item);
  for (const [name, id] of Object.entries(ids)) {
    if (id !== undefined && id.length > limits.identifierCharacters) return tooLong(name);
  }
  const idCount = [ids.userId, item.type === "alias" ? ids.previousId : ids.anonymousId].filter(
    Boolean,
  ).length;
  if (idCount === 0 && item.type !== "account")
    return { invalid: "userId is missing: send a userId, or the id of a visitor." };
  if (item.type === "alias" && idCount < 2) {
    return { invalid: "previousId or userId is missing: send the two ids of one person." };
  }
  if ((item.messageId?.length ?? 0) > limits.messageIdCharacters) return tooLong("messageId");
  if (isKeptTime(item.atMs, zone)) return undefined;
  return {
    invalid: `timestamp is not a time of the years ${limits.firstYear} to ${limits.lastYear}: send when it happened.`,
  };
}

function idsIn(item: SourcedItem): Readonly<Record<string, string | undefined>> {
  if (item.type === "account") return {};
  if (item.type === "alias") return { previousId: item.previousId, userId: item.userId };
  const { userId, anonymousId } = item;
  return { userId, anonymousId, previousId: item.type === "identify" ? item.previousId : undefined };
}

function tooLong(name: string): Invalid {
  return { invalid: `${name} is too long: send at most ${limits.identifierCharacters} characters.` };
}

/** An event's name as it is stored, with `_` for white space. @returns invalid for a name that is empty or
 * too long */
export function storedEventName(name: string): Pick<TrackContent, "event" | "label"> | Invalid {
  const sent = name.length > maxSentNameCharacters ? "" : withoutWhiteSpaceAround(name);
  const event = sent.replace(whiteSpace, "_");
  if (event === "" || event.length > limits.eventNameCharacters) {
    return { invalid: `event is not valid: send a name of 1 to ${limits.eventNameCharacters} characters.` };
  }
  return { event, label: sent === event || sent.length > limits.eventNameCharacters ? null : sent };
}

function admitTrack(item: SourcedTrack, arrival: Arrival, note: TakeNote): TrackContent | Invalid {
  const named = storedEventName(item.event);
  if (isInvalid(named)) return named;
  const { event, label } = named;
  const account = item.account && admitAccount(item.account, note);
  if (isInvalid(account)) return account;
  const billing = admitBilling(event, item.properties, arrival);
  if (isInvalid(billing)) return billing;
  const payer = billing?.payer;
  const isPayer = payer !== undefined && payer.accountId !== account?.accountId;
  return {
    kind: "track",
    event,
    label,
    properties: JSON.stringify(item.properties),
    isActivity: item.isActivity && billing === undefined,
    account: isPayer ? payer : account,
    ...(isPayer && { isPayer }),
  };
}

/** Trims a text like `trim`, and U+0085, too. It takes linear time; an expression that ends in `+$` does
 * not. */
function withoutWhiteSpaceAround(text: string): string {
  let end = text.length;
  while (end > 0 && !noWhiteSpace.test(text.charAt(end - 1))) end -= 1;
  return text.slice(Math.max(0, text.search(noWhiteSpace)), end);
}

function admitIdentify(item: SourcedIdentify, note: TakeNote): IdentifyContent | Invalid {
  const account = item.account && admitAccount(item.account, note);
  if (isInvalid(account)) return account;
  const isEmail = item.email === undefined || email.Check(item.email);
  if (!isEmail) note({ kind: "email_left_out", detail: item.email ?? "" });
  return {
    kind: "identify",
    email: isEmail ? item.email : undefined,
    traits: admitTraits(item.traits, note),
    traitsOnce: item.traitsOnce && admitTraits(item.traitsOnce, note),
    isAccountOwner: item.isAccountOwner,
    account,
  };
}

function admitAccount(
  { id, name, avatar, properties }: SourcedAccount,
  note: TakeNote,
): SentAccount | Invalid {
  if (id === "" || id.length > limits.identifierCharacters) {
    return { invalid: `account is not valid: send an id of 1 to ${limits.identifierCharacters} characters.` };
  }
  const isPicture = avatar === undefined || avatar === null || isPictureUrl(avatar);
  if (!isPicture) note({ kind: "trait_left_out", detail: "account.avatar" });
  const account = { accountId: id, name: name || undefined, avatar: isPicture ? avatar : undefined };
  return properties === undefined ? account : { ...account, properties: admitAttributes(properties, note) };
}

/** Reserved attributes in another form are left out. Digits in a text become a number, because some tools
 * send only texts. */
function admitAttributes(attributes: JsonObject, note: TakeNote): JsonObject {
  const entries = Object.entries(attributes).flatMap(([key, value]): [string, unknown][] => {
    const check = Object.hasOwn(reserved, key) ? reserved[key] : undefined;
    if (check === undefined || check.Check(value)) return [[key, value]];
    const number = typeof value === "string" && digits.test(value) ? Number(value) : undefined;
    if (number !== undefined && check.Check(number)) return [[key, number]];
    note({ kind: "trait_left_out", detail: `account.properties.${key}` });
    return [];
  });
  return Object.fromEntries(entries);
}

/** Reserved traits are strings. Numbers and booleans become strings, and other values are left out. */
function admitTraits(traits: JsonObject, note: TakeNote): JsonObject {
  const entries = Object.entries(traits).flatMap(([key, value]): [string, unknown][] => {
    if (!reservedTraits.has(key) || value === null) return [[key, value]];
    const text = typeof value === "number" || typeof value === "boolean" ? String(value) : value;
    if (typeof text === "string" && (key !== "avatar" || isPictureUrl(text))) return [[key, text]];
    note({ kind: "trait_left_out", detail: key });
    return [];
  });
  return Object.fromEntries(entries);
}
