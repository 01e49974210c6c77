/**
 * Translates webhooks of other tools by the organization's mapping. Its paths (paths.ts) lead to the user,
 * the event and other values. An item may identify a user, record an event, or both.
 */
import { createHash } from "node:crypto";
import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { limits } from "../../contract/limits.ts";
import { Refusal } from "../../contract/refusal.ts";
import type { WebhookMapping } from "../../contract/source-settings.ts";
import { isEmailAddress } from "../intake/admission/admit-event.ts";
import { type Invalid, isInvalid } from "../intake/admission/json.ts";
import { NumberTexts } from "../intake/admission/number-texts.ts";
import type { SourcedAccount, SourcedItem } from "../intake/admission/sourced.ts";
import { parseId, parseMessageId, parseVisitorId, readTime } from "./parse.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";
import { type JsonPath, type PathRoots, parsePath, readPath } from "./webhook-paths.ts";

/** Why an item is rejected. */
class Unreadable extends Error {
  override readonly name = "Unreadable";
}

/** An item, and the tools to read it. */
interface ReadItem extends PathRoots {
  /** Parsed paths, shared by up to 10,000 items. */
  readonly paths: Map<string, JsonPath>;
  /** The digits of a number of the item as they were sent. */
  readonly digitsAt: (path: JsonPath) => string | undefined;
}

/** Reads values at the paths of a mapping. */
class Reader {
  readonly #roots: PathRoots;
  readonly #paths: Map<string, JsonPath>;
  readonly #digitsAt: (path: JsonPath) => string | undefined;

  constructor({ paths, digitsAt, ...roots }: ReadItem) {
    this.#roots = roots;
    this.#paths = paths;
    this.#digitsAt = digitsAt;
  }

  /** The digits of the number at a path; undefined if they are not known. */
  digits(path: string | undefined): string | undefined {
    return path === undefined ? undefined : this.#digitsAt(pathOf(path));
  }

  /** The value at a path; undefined for null, no value and no path. */
  value(path: string | undefined): unknown {
    if (path === undefined) return undefined;
    const parsed = this.#paths.get(path) ?? pathOf(path);
    this.#paths.set(path, parsed);
    return readPath(parsed, this.#roots) ?? undefined;
  }

  /** The string at a path; undefined if there is no value. @throws Unreadable for other values */
  text(path: string | undefined, what: string): string | undefined {
    const value = this.value(path);
    if (value === undefined || value === "") return undefined;
    if (typeof value === "string") return value;
    throw new Unreadable(`${what} at ${path} is not a string.`);
  }

  /** The object at a path, or an object of the values at a table's paths. @throws Unreadable for other
   * values */
  object(paths: string | Readonly<Record<string, string>> | undefined, what: string): JsonObject {
    if (paths === undefined) return {};
    if (typeof paths === "string") {
      const value = this.value(paths);
      if (value === undefined || isJsonObject(value)) return value ?? {};
      throw new Unreadable(`${what} at ${paths} is not an object.`);
    }
    const found = Object.entries(paths).map(([key, path]) => [key, this.value(path)] as const);
    return Object.fromEntries(found.filter(([, value]) => value !== undefined));
  }
}

/** The digits of a body's numbers as they were sent. The first call scans the text. */
class Digits {
  readonly #text: (() => string) | undefined;
  #numbers: NumberTexts | undefined;

  constructor(text: (() => string) | undefined) {
    this.#text = text;
  }

  /** The digits of the number at a path. @param item the steps from the body to the item
   * @returns undefined if they equal its decimal string, or the text is not known */
  at({ isFromBody, steps }: JsonPath, item: JsonPath["steps"]): string | undefined {
    if (this.#text === undefined) return undefined;
    this.#numbers ??= NumberTexts.of(this.#text());
    return this.#numbers.at([...(isFromBody ? [] : item), ...steps].map(String));
  }
}

/**
 * Translates a body item by item.
 * @param body parsed JSON
 * @param text the body as it was sent, for ids that are numbers of more than 15 digits
 * @returns invalid if the mapping's path leads to no items, or to too many
 */
export function translateWebhook(
  body: unknown,
  mapping: WebhookMapping,
  delivery: Delivery,
  text?: () => string,
): readonly TranslatedItem[] | { readonly invalid: string } {
  const itemsPath = mapping.items === undefined ? undefined : pathOf(mapping.items);
  const found = itemsPath === undefined ? body : readPath(itemsPath, { body, item: body });
  if (found === undefined) return { invalid: `There is nothing at ${mapping.items}, the path of the items.` };
  const items: readonly unknown[] = Array.isArray(found) ? found : [found];
  const toItems = itemsPath?.steps ?? [];
  const toItem = (index: number) => (Array.isArray(found) ? [...toItems, index] : toItems);
  if (items.length > limits.sourceItems) {
    return { invalid: `There are ${items.length} items: send at most ${limits.sourceItems} at once.` };
  }
  const paths = new Map<string, JsonPath>();
  const digits = new Digits(text);
  return items.map((sent, index) => ({
    sent,
    translated: translateItem(
      { body, item: sent, paths, digitsAt: (path) => digits.at(path, toItem(index)) },
      mapping,
      delivery,
    ),
  }));
}

/** Checks the rules that a mapping's schema cannot express. @throws Refusal if the mapping can give no
 * item */
export function checkMapping(mapping: WebhookMapping): void {
  if (mapping.userId === undefined && mapping.anonymousId === undefined) {
    throw new Refusal("mapping has no user: give userId or anonymousId a path.");
  }
  const { event, email, traits, account } = mapping;
  if (event === undefined && email === undefined && traits === undefined && account === undefined) {
    throw new Refusal("mapping has no data: give event, email, traits or account a path.");
  }
  if (event === undefined && mapping.properties !== undefined) {
    throw new Refusal("properties belong to an event: give event a path or a text, too.");
  }
}

function translateItem(read: ReadItem, mapping: WebhookMapping, delivery: Delivery): Translated {
  if (!isJsonObject(read.item)) return { invalid: "The item is not an object." };
  try {
    return { items: itemsOf(new Reader(read), mapping, delivery) };
  } catch (error) {
    if (error instanceof Unreadable) return { invalid: error.message };
    throw error;
  }
}

function itemsOf(read: Reader, mapping: WebhookMapping, delivery: Delivery): readonly SourcedItem[] {
  const idAt = (path: string | undefined, what: string) =>
    valid(parseId(read.value(path), `${what}, at ${path},`));
  const person = {
    userId: idAt(mapping.userId, "userId"),
    anonymousId: valid(
      parseVisitorId(read.value(mapping.anonymousId), `anonymousId, at ${mapping.anonymousId},`),
    ),
  };
  if (person.userId === undefined && person.anonymousId === undefined) {
    const paths = [mapping.userId, mapping.anonymousId].filter((path) => path !== undefined);
    throw new Unreadable(`There is no id of a user at ${paths.join(" or ")}.`);
  }
  const messageId = valid(
    parseMessageId(read.value(mapping.messageId), `messageId, at ${mapping.messageId},`, () =>
      read.digits(mapping.messageId),
    ),
  );
  const time = valid(readTime(read.value(mapping.timestamp), `The time at ${mapping.timestamp}`));
  const atMs = time ?? delivery.receivedAtMs;
  const shared = { ...person, atMs, messageId };
  const accountId = idAt(mapping.account?.id, "account.id");
  const account: SourcedAccount | undefined =
    accountId === undefined
      ? undefined
      : {
          id: accountId,
          name: read.text(mapping.account?.name, "account.name"),
          ...(mapping.account?.properties !== undefined && {
            properties: read.object(mapping.account.properties, "account.properties"),
          }),
        };
  const address = read.text(mapping.email, "email")?.trim();
  // An invalid address is left out, and the person is stored.
  const email = address !== undefined && isEmailAddress(address) ? address : undefined;
  const traits = read.object(mapping.traits, "traits");
  const hasFacts = email !== undefined || account !== undefined || Object.keys(traits).length > 0;
  const event = eventOf(read, mapping);
  const identify: SourcedItem = {
    ...shared,
    type: "identify",
    email,
    traits,
    account,
    // The message's id belongs to its event. The same traits again change nothing.
    messageId: event === undefined ? messageId : null,
  };
  if (event === undefined) return [identify];
  const track: SourcedItem = {
    ...shared,
    type: "track",
    event,
    isActivity: mapping.isActivity ?? true,
    // The identify has the attributes.
    account: account && { id: account.id, name: account.name },
    properties: read.object(mapping.properties, "properties"),
  };
  return hasFacts ? [identify, track] : [track];
}

/**
 * Adds the webhook's name to the ids of its messages, because several tools count from 1. An id that becomes
 * too long is replaced by its SHA-256.
 * @param name the webhook's, in its organization
 */
export function ofWebhook(name: string, { sent, translated }: TranslatedItem): TranslatedItem {
  if (!("items" in translated)) return { sent, translated };
  const items = translated.items.map((item): SourcedItem => {
    if (item.messageId === null) return item;
    const messageId = `webhook:${name}:${item.messageId}`;
    if (messageId.length <= limits.messageIdCharacters) return { ...item, messageId };
    const hash = createHash("sha256").update(item.messageId).digest("hex");
    return { ...item, messageId: `webhook:${name}:sha256:${hash}` };
  });
  return { sent, translated: { items } };
}

function eventOf(read: Reader, { event }: WebhookMapping): string | undefined {
  if (event === undefined) return undefined;
  if ("text" in event) return event.text;
  const name = read.text(event.path, "event");
  if (name === undefined) throw new Unreadable(`There is no event's name at ${event.path}.`);
  return name;
}

function valid<Value>(value: Value | Invalid): Value {
  if (isInvalid(value)) throw new Unreadable(value.invalid);
  return value;
}

/** @throws Refusal; never for a stored mapping, whose schema accepts only paths */
function pathOf(text: string): JsonPath {
  const path = parsePath(text);
  if (path === undefined) throw new Refusal(`${text} is not a path: send one such as data.user.id.`);
  return path;
}
