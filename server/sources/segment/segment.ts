/**
 * Segment's calls, which RudderStack and Customer.io share. The mapping:
 *
 *   identify  a user's e-mail address, traits and account; traits.ts has the names
 *   track     an event
 *   page      the event page_viewed, with the page's name, category, url, path, title, referrer, search
 *   screen    the event screen_viewed, with the screen's name and category
 *   group     the user joins the account; its traits become the user's, as traits.ts says
 *   alias     two ids are one person
 *
 *   context.groupId         the account in which it happened
 *   context.traits          traits of the user, on any call that names one
 *   context.active: false   the event is no activity
 *   integrations            what is not meant for us is ignored
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import type { SourceName } from "../../../contract/sources.ts";
import type { SourcedAccount, SourcedIdentify, SourcedItem, SourcedPerson } from "../../intake/intake.ts";
import { type Invalid, isInvalid } from "../../intake/intake.ts";
import { saidId, saidMessageId, saidTime, saidVisitorId, whyNoObject } from "../said.ts";
import type { Delivery, Translated, TranslatedItem } from "../source.ts";
import { accountOf, companyTraits, userTraits } from "./traits.ts";

const calls = ["identify", "track", "page", "screen", "group", "alias"] as const;
type Call = (typeof calls)[number];

/** What a path of theirs is for. */
export type SegmentCall = Call | "batch";

/** What of a page is an event's, where its properties do not say it. */
const pageFields = ["url", "path", "title", "referrer", "search"] as const;

/** What one message says, read as far as all calls share it. */
interface Said {
  readonly message: JsonObject;
  readonly context: JsonObject;
  readonly person: SourcedPerson;
  readonly at: { readonly atMs: number; readonly messageId: string | null };
  /** The account in which it happened. */
  readonly account: SourcedAccount | undefined;
  readonly isActivity: boolean;
}

const translations: Readonly<Record<Call, (said: Said) => SourcedItem | Invalid>> = {
  identify: ({ message, context, person, at, account }) => {
    const { account: ofCompany, ...read } = userTraits(
      { ...objectOf(context.traits), ...objectOf(message.traits) },
      person.userId,
    );
    const joined = account ?? ofCompany;
    return { type: "identify", ...person, ...at, ...read, ...(joined && { account: joined }) };
  },
  track: (said) => {
    const { event } = said.message;
    const isName = (typeof event === "string" && event !== "") || typeof event === "number";
    if (!isName) return { invalid: "event is missing: send the event's name, a string." };
    return eventOf(said, String(event), objectOf(said.message.properties));
  },
  page: (said) => {
    const page = objectOf(said.context.page);
    const seen = Object.fromEntries(
      pageFields.filter((field) => page[field] !== undefined).map((field) => [field, page[field]]),
    );
    return eventOf(said, "page_viewed", { ...seen, ...viewed(said.message) });
  },
  screen: (said) => eventOf(said, "screen_viewed", viewed(said.message)),
  group: ({ message, person, at, account: inContext }) => {
    const traits = objectOf(message.traits);
    const id = saidId(message.groupId, "groupId");
    if (isInvalid(id)) return id;
    const account = accountOf(id ?? inContext?.id, traits);
    if (account === undefined) return { invalid: "groupId is missing: send the account's id." };
    return { type: "identify", ...person, ...at, traits: companyTraits(traits), account };
  },
  alias: ({ message, person, at }) => {
    const previousId = saidVisitorId(message.previousId ?? message.from ?? person.anonymousId, "previousId");
    if (isInvalid(previousId)) return previousId;
    if (previousId === undefined)
      return { invalid: "previousId is missing: send the id that was used before." };
    if (person.userId === undefined) return { invalid: "userId is missing: send the user's id." };
    return { type: "alias", ...at, previousId, userId: person.userId };
  },
};

/** Translates a body that came to one of their paths. */
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

/** What a batch says for all of its messages. Nothing else of it is taken: traits or a page that hold for thousands would be
 * stored as often. */
function sharedOf({ context, integrations, sentAt }: JsonObject): JsonObject {
  const { groupId, active } = objectOf(context);
  const { Rekindle, All, "Segment.io": theirs } = objectOf(integrations);
  return {
    sentAt,
    context: { ...(groupId !== undefined && { groupId }), ...(active !== undefined && { active }) },
    integrations: { Rekindle, All, "Segment.io": theirs },
  };
}

/** @param envelope what the batch says for all, which holds where a message says none of its own */
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
    return { ignored: "integrations says that it is not for this destination." };
  }
  const person = personOf(message);
  if (isInvalid(person)) return person;
  const atMs = saidTime({ ...message, sentAt: message.sentAt ?? envelope.sentAt }, delivery);
  if (isInvalid(atMs)) return atMs;
  const messageId = saidMessageId(message.messageId);
  if (isInvalid(messageId)) return messageId;
  const groupId = saidId(context.groupId, "context.groupId");
  if (isInvalid(groupId)) return groupId;
  const said: Said = {
    ...{ message, context, person, at: { atMs, messageId } },
    account: accountOf(groupId, {}),
    isActivity: context.active !== false,
  };
  const item = translations[call](said);
  if (isInvalid(item)) return item;
  if (item.type === "alias" && item.previousId === item.userId) {
    return { ignored: "previousId and userId are the same id." };
  }
  return { items: [...traitsBeside(said, call), item] };
}

/** `context.traits` on a call that is no identify. They are taken of whom the call names, and only then: browsers send
 * them with every call, and a visitor's would fill the room for what waits. */
function traitsBeside({ context, person, at }: Said, call: Call): SourcedIdentify[] {
  const traits = objectOf(context.traits);
  if (call === "identify" || call === "alias" || person.userId === undefined) return [];
  if (Object.keys(traits).length === 0) return [];
  const { account, ...read } = userTraits(traits, person.userId);
  // The message's id is its event's; to say the same traits again changes nothing.
  return [
    { type: "identify", ...person, atMs: at.atMs, messageId: null, ...read, ...(account && { account }) },
  ];
}

function personOf(message: JsonObject): SourcedPerson | Invalid {
  const userId = saidId(message.userId ?? message.to, "userId");
  if (isInvalid(userId)) return userId;
  const anonymousId = saidVisitorId(message.anonymousId, "anonymousId");
  if (isInvalid(anonymousId)) return anonymousId;
  if (userId === undefined && anonymousId === undefined) {
    return { invalid: "userId and anonymousId are missing: send one of them." };
  }
  return { userId, anonymousId };
}

function eventOf(said: Said, event: string, properties: JsonObject): SourcedItem {
  const { person, at, isActivity, account } = said;
  return { type: "track", ...person, ...at, event, properties, isActivity, ...(account && { account }) };
}

/** The properties of what was viewed, with its name and category, which some clients send beside them. */
function viewed({ name, category, properties }: JsonObject): JsonObject {
  return {
    ...(isText(name) && { name }),
    ...(isText(category) && { category }),
    ...objectOf(properties),
  };
}

function isText(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}

/** Whether a message is meant for us, who stand where Segment stands or are one of its destinations. */
function isForUs(integrations: JsonObject): boolean {
  const { Rekindle: own, All: all, "Segment.io": theirs } = integrations;
  if (own !== undefined) return own !== false;
  return all !== false || Boolean(theirs);
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/**
 * Which client sends: each calls itself something in `context.library.name`, and RudderStack's for Node calls itself what
 * Segment's old one did, `analytics-node`; but only RudderStack's clients send `originalTimestamp` and `channel`, which
 * Segment adds itself, together with `receivedAt`.
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
