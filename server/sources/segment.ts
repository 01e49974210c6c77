/**
 * Segment's calls, which RudderStack and Customer.io share. The mapping:
 *
 *   identify  a user's e-mail address, traits and account; segment-traits.ts has the names
 *   track     an event
 *   page      the event page_viewed, with the page's name, category, url, path, title, referrer, search
 *   screen    the event screen_viewed, with the screen's name and category
 *   group     the user joins the account; its traits become the account's attributes
 *   alias     two ids are one person
 *
 *   context.groupId         the account of the event
 *   context.traits          traits of the user, on any call that names one
 *   context.active: false   the event is no activity
 *   integrations            messages for other destinations are ignored
 */

import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import type { SourceName } from "../../contract/sources.ts";
import { type Invalid, isInvalid } from "../intake/admission/json.ts";
import type {
  SourcedAccount,
  SourcedIdentify,
  SourcedItem,
  SourcedPerson,
} from "../intake/admission/sourced.ts";
import { parseId, parseMessageId, parseTimestamp, parseVisitorId, whyNoObject } from "./parse.ts";
import { accountOf, companyTraits, isText, userTraits } from "./segment-traits.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";

const calls = ["identify", "track", "page", "screen", "group", "alias"] as const;
type Call = (typeof calls)[number];

/** The calls that Segment's paths stand for. */
export type SegmentCall = Call | "batch";

/** Fields of `context.page` that become properties of a page view, unless its properties have them. */
const pageFields = ["url", "path", "title", "referrer", "search"] as const;

/** The parts of a message that all calls share. */
interface ParsedMessage {
  readonly message: JsonObject;
  readonly context: JsonObject;
  readonly person: SourcedPerson;
  readonly at: { readonly atMs: number; readonly messageId: string | null };
  /** The account of `context.groupId`. */
  readonly account: SourcedAccount | undefined;
  readonly isActivity: boolean;
}

const translations: Readonly<Record<Call, (parsed: ParsedMessage) => SourcedItem | Invalid>> = {
  identify: ({ message, context, person, at, account }) => {
    const { account: ofCompany, ...read } = userTraits(
      { ...objectOf(context.traits), ...objectOf(message.traits) },
      person.userId,
    );
    const joined = account ?? ofCompany;
    return { type: "identify", ...person, ...at, ...read, ...(joined && { account: joined }) };
  },
  track: (parsed) => {
    const { event } = parsed.message;
    const isName = (typeof event === "string" && event !== "") || typeof event === "number";
    if (!isName) return { invalid: "event is missing: send the event's name, a string." };
    return eventOf(parsed, String(event), objectOf(parsed.message.properties));
  },
  page: (parsed) => {
    const page = objectOf(parsed.context.page);
    const seen = Object.fromEntries(
      pageFields.filter((field) => page[field] !== undefined).map((field) => [field, page[field]]),
    );
    return eventOf(parsed, "page_viewed", { ...seen, ...viewed(parsed.message) });
  },
  screen: (parsed) => eventOf(parsed, "screen_viewed", viewed(parsed.message)),
  group: ({ message, person, at, account: inContext }) => {
    const traits = objectOf(message.traits);
    const id = parseId(message.groupId, "groupId");
    if (isInvalid(id)) return id;
    const account = accountOf(id ?? inContext?.id, traits);
    if (account === undefined) return { invalid: "groupId is missing: send the account's id." };
    return { type: "identify", ...person, ...at, traits: companyTraits(traits), account };
  },
  alias: ({ message, person, at }) => {
    const previousId = parseVisitorId(message.previousId ?? message.from ?? person.anonymousId, "previousId");
    if (isInvalid(previousId)) return previousId;
    if (previousId === undefined)
      return { invalid: "previousId is missing: send the id that was used before." };
    if (person.userId === undefined) return { invalid: "userId is missing: send the user's id." };
    return { type: "alias", ...at, previousId, userId: person.userId };
  },
};

/** Translates a body that was sent to one of Segment's paths. */
export function translateSegment(body: unknown, delivery: Delivery, call: SegmentCall): TranslatedItem[] {
  const envelope = objectOf(body);
  if (call !== "batch") return [{ sent: body, translated: translateMessage(envelope, call, {}, delivery) }];
  const { batch } = envelope;
  if (!Array.isArray(batch)) {
    return [{ sent: body, translated: { invalid: "batch is missing: send an array of messages." } }];
  }
  const shared = sharedOf(envelope);
  return batch.map((message: unknown) => {
    if (!isJsonObject(message)) {
      return { sent: message, translated: { invalid: "message is not a JSON object: send a JSON object." } };
    }
    const call = calls.find((one) => one === message.type);
    const translated =
      call === undefined
        ? { invalid: `type is not known: send one of ${calls.join(", ")}.` }
        : translateMessage(message, call, shared, delivery);
    return { sent: message, translated };
  });
}

/** Fields of a batch that hold for all of its messages. Others are dropped: traits or a page would be stored
 * thousands of times. */
function sharedOf({ context, integrations, sentAt }: JsonObject): JsonObject {
  const { groupId, active } = objectOf(context);
  const { Rekindle, All, "Segment.io": theirs } = objectOf(integrations);
  return {
    sentAt,
    context: { ...(groupId !== undefined && { groupId }), ...(active !== undefined && { active }) },
    integrations: { Rekindle, All, "Segment.io": theirs },
  };
}

/** @param envelope fields of the batch, for messages without their own */
function translateMessage(
  message: JsonObject,
  call: Call,
  envelope: JsonObject,
  delivery: Delivery,
): Translated {
  const noObject =
    whyNoObject(message.context, "context") ??
    whyNoObject(message.traits, "traits") ??
    whyNoObject(message.properties, "properties");
  if (noObject !== undefined) return noObject;
  const context = { ...objectOf(envelope.context), ...objectOf(message.context) };
  if (!isForUs({ ...objectOf(envelope.integrations), ...objectOf(message.integrations) })) {
    return { ignored: "integrations excludes this destination." };
  }
  const person = personOf(message);
  if (isInvalid(person)) return person;
  const atMs = parseTimestamp({ ...message, sentAt: message.sentAt ?? envelope.sentAt }, delivery);
  if (isInvalid(atMs)) return atMs;
  const messageId = parseMessageId(message.messageId);
  if (isInvalid(messageId)) return messageId;
  const groupId = parseId(context.groupId, "context.groupId");
  if (isInvalid(groupId)) return groupId;
  const parsed: ParsedMessage = {
    message,
    context,
    person,
    at: { atMs, messageId },
    account: accountOf(groupId, {}),
    isActivity: context.active !== false,
  };
  const item = translations[call](parsed);
  if (isInvalid(item)) return item;
  if (item.type === "alias" && item.previousId === item.userId) {
    return { ignored: "previousId and userId are the same id." };
  }
  return { items: [...traitsBeside(parsed, call), item] };
}

/** `context.traits` on a call other than identify, if the call names a user. Browsers send them with every
 * call, and a visitor's would fill the space for held items. */
function traitsBeside({ context, person, at }: ParsedMessage, call: Call): SourcedIdentify[] {
  const traits = objectOf(context.traits);
  if (call === "identify" || call === "alias" || person.userId === undefined) return [];
  if (Object.keys(traits).length === 0) return [];
  const { account, ...read } = userTraits(traits, person.userId);
  // The message's id belongs to its event. The same traits again change nothing.
  return [
    { type: "identify", ...person, atMs: at.atMs, messageId: null, ...read, ...(account && { account }) },
  ];
}

function personOf(message: JsonObject): SourcedPerson | Invalid {
  const userId = parseId(message.userId ?? message.to, "userId");
  if (isInvalid(userId)) return userId;
  const anonymousId = parseVisitorId(message.anonymousId, "anonymousId");
  if (isInvalid(anonymousId)) return anonymousId;
  if (userId === undefined && anonymousId === undefined) {
    return { invalid: "userId and anonymousId are missing: send one of them." };
  }
  return { userId, anonymousId };
}

function eventOf(parsed: ParsedMessage, event: string, properties: JsonObject): SourcedItem {
  const { person, at, isActivity, account } = parsed;
  return { type: "track", ...person, ...at, event, properties, isActivity, ...(account && { account }) };
}

/** The properties of a page or screen, with its name and category, which some clients send beside them. */
function viewed({ name, category, properties }: JsonObject): JsonObject {
  return {
    ...(isText(name) && { name }),
    ...(isText(category) && { category }),
    ...objectOf(properties),
  };
}

/** Whether a message is for Rekindle, which replaces Segment or is one of its destinations. */
function isForUs(integrations: JsonObject): boolean {
  const { Rekindle: own, All: all, "Segment.io": theirs } = integrations;
  if (own !== undefined) return own !== false;
  return all !== false || Boolean(theirs);
}

/**
 * The client that sent a body, by `context.library.name`. RudderStack's client for Node has the name of
 * Segment's old one, `analytics-node`. But only RudderStack's clients send `originalTimestamp` and `channel`;
 * Segment's server adds them together with `receivedAt`.
 */
export function senderOf(body: unknown, userAgent: string | null): SourceName {
  const { batch } = objectOf(body);
  const first = objectOf(Array.isArray(batch) ? batch[0] : body);
  const library = objectOf({ ...objectOf(objectOf(body).context), ...objectOf(first.context) }.library);
  for (const name of [library.name, userAgent]) {
    if (typeof name !== "string") continue;
    if (/rudder/i.test(name)) return "rudderstack";
    if (/customer\.?io|cdp-analytics/i.test(name)) return "customerio";
  }
  const isRudder = isText(first.channel) && isText(first.originalTimestamp) && !isText(first.receivedAt);
  return isRudder ? "rudderstack" : "segment";
}
