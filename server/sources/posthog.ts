/**
 * Translates the messages of PostHog's clients: the person, time and contents of each event.
 *
 *   posthog-envelope.ts  the events of a body, and the token
 *   posthog-events.ts    meanings of events, properties and groups, as tables
 *
 * PostHog has one kind of id, the distinct id. It is a company's user id, or a generated id of a browser
 * until the user signs in. An id that is marked as generated is a visitor's. Every other is a user's. Events
 * of unknown people are held until `$identify` or an alias names the user.
 */

import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import { type Invalid, isInvalid } from "../intake/admission/json.ts";
import type {
  SourcedAccount,
  SourcedIdentify,
  SourcedItem,
  SourcedPerson,
} from "../intake/admission/sourced.ts";
import { isGenericId, parseId, parseMessageId, parseTimestamp, parseVisitorId } from "./parse.ts";
import { type PosthogEnvelope, posthogEnvelope } from "./posthog-envelope.ts";
import {
  accountGroup,
  isAbsentParameter,
  isAccountGroup,
  meaningOf,
  propertiesOf,
} from "./posthog-events.ts";
import { accountOf, companyTraits, userTraits } from "./segment-traits.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";

/** Translates a body. @param querySentAt the `_` of the address: the browser's clock at sending, for a body
 * without one */
export function translatePosthog(
  body: unknown,
  delivery: Delivery,
  querySentAt?: string | null,
): TranslatedItem[] | Invalid {
  const envelope = posthogEnvelope(body);
  if (isInvalid(envelope)) return envelope;
  const complete = { ...envelope, sentAt: envelope.sentAt ?? querySentAt };
  return envelope.events.map((sent) => ({ sent, translated: translateEvent(sent, complete, delivery) }));
}

/** A body's items of users with the browser's id, which pages send as `$device_id`, or with the user's
 * `$identify` in the same body. */
export function withPosthogVisitors(translated: readonly TranslatedItem[]): readonly TranslatedItem[] {
  const visitors = new Map<string, string>();
  return translated.map(({ sent, translated: one }) => {
    if (!("items" in one)) return { sent, translated: one };
    const { $device_id } = objectOf(objectOf(objectOf(sent).properties));
    const device = parseVisitorId($device_id, "$device_id");
    const items = one.items.map((item) => {
      if ((item.type !== "identify" && item.type !== "track") || item.userId === undefined) return item;
      const { userId, anonymousId } = item;
      if (anonymousId !== undefined) visitors.set(userId, anonymousId);
      const visitor = typeof device === "string" && device !== userId ? device : visitors.get(userId);
      return visitor === undefined || visitor === anonymousId ? item : { ...item, visitor };
    });
    return { sent, translated: { items } };
  });
}

/** The parts that all events share. */
interface Read {
  readonly event: string;
  readonly distinctId: string;
  /** The client sent a placeholder for the user, and `distinctId` is the visitor's. */
  readonly isNobody: boolean;
  readonly person: SourcedPerson;
  readonly properties: JsonObject;
  readonly atMs: number;
  readonly messageId: string | null;
  /** Person properties beside it. */
  readonly set: PersonProperties;
  readonly account: SourcedAccount | undefined;
}

function translateEvent(sent: unknown, envelope: PosthogEnvelope, delivery: Delivery): Translated {
  const read = readEvent(sent, envelope, delivery);
  if (isInvalid(read)) return read;
  const { meaning, name } = meaningOf(read.event);
  switch (meaning) {
    case "identify":
      return identify(read);
    case "alias":
      return alias(read);
    case "group":
      return group(read);
    case "ignored":
      return { ignored: `${read.event} is about the page or PostHog itself, not about a user's action.` };
    default:
      return track(read, name, meaning === "activity");
  }
}

function readEvent(sent: unknown, envelope: PosthogEnvelope, delivery: Delivery): Read | Invalid {
  if (!isJsonObject(sent)) return { invalid: "event is not a JSON object: send a JSON object." };
  const { event } = sent;
  if (typeof event !== "string" || event.trim() === "") {
    return { invalid: "event is missing: send the event's name, a string." };
  }
  const properties = objectOf(sent.properties);
  const sentId = readId(sent.distinct_id ?? sent.$distinct_id ?? properties.distinct_id, "distinct_id");
  // With a placeholder for the user the event stays the visitor's.
  const visitor = isInvalid(sentId) ? visitorOf(properties) : undefined;
  const distinctId = visitor ?? sentId;
  if (isInvalid(distinctId)) return distinctId;
  const atMs = timeOf(sent, properties, envelope, delivery);
  if (isInvalid(atMs)) return atMs;
  const messageId = parseMessageId(sent.uuid || properties.$insert_id, "uuid");
  if (isInvalid(messageId)) return messageId;
  return {
    event,
    distinctId,
    properties,
    atMs,
    messageId,
    isNobody: visitor !== undefined,
    person:
      visitor !== undefined || isVisitor(distinctId, properties)
        ? { anonymousId: distinctId }
        : { userId: distinctId },
    set: personProperties(sent, properties),
    account: accountOf(accountGroup(objectOf(properties.$groups)), {}),
  };
}

/** `timestamp` by the rule of all sources, else `offset` before arrival, else arrival. The sender's clock
 * does not correct times of an older system. */
function timeOf(
  { timestamp, offset, options }: JsonObject,
  { $ignore_sent_at: ignoresSentAt = objectOf(options).disable_skew_correction }: JsonObject,
  { sentAt, isHistorical }: PosthogEnvelope,
  delivery: Delivery,
): number | Invalid {
  const hasTime = timestamp !== undefined && timestamp !== null && timestamp !== "";
  if (!hasTime && typeof offset === "number" && offset > 0) {
    return parseTimestamp({ timestamp: delivery.receivedAtMs - offset }, delivery);
  }
  return parseTimestamp({ timestamp, ...(!isHistorical && ignoresSentAt !== true && { sentAt }) }, delivery);
}

function readId(value: unknown, field: string): string | Invalid {
  const id = parseId(value, field);
  if (isInvalid(id)) return id;
  if (id === undefined) return { invalid: `${field} is missing: send the user's id.` };
  return isGenericId(id)
    ? { invalid: `${field} ${JSON.stringify(id)} is a placeholder for no user: send the user's id.` }
    : id;
}

/** The id of the browser, which clients send beside that of the user. */
function visitorOf({ $anon_distinct_id, $device_id }: JsonObject): string | undefined {
  return [$anon_distinct_id, $device_id]
    .map((value) => parseVisitorId(value, "$device_id"))
    .find((id) => typeof id === "string");
}

/** Whether the client marks this id as generated: a browser's distinct id is its device's until the user
 * signs in. `$process_person_profile: false` is no such mark: servers send it for users to save money. */
function isVisitor(distinctId: string, properties: JsonObject): boolean {
  return properties.$is_identified === false || properties.$device_id === distinctId;
}

interface PersonProperties {
  /** `$set` and `$unset`. */
  readonly traits: JsonObject;
  /** `$set_once`. */
  readonly traitsOnce: JsonObject;
}

/** Person properties: `$set` beside the event wins over `$set` among its properties, and both win over
 * `$unset`. */
function personProperties(sent: JsonObject, properties: JsonObject): PersonProperties {
  const unset = [properties.$unset, sent.$unset].filter(Array.isArray).flat().map(String);
  const set = companysOwn({ ...objectOf(properties.$set), ...objectOf(sent.$set) });
  const removed = companysOwn(Object.fromEntries(unset.map((key) => [key, null])), () => false);
  const once = { ...objectOf(properties.$set_once), ...objectOf(sent.$set_once) };
  return { traits: { ...removed, ...set }, traitsOnce: companysOwn(once) };
}

/** Without properties that begin with `$`, and without parameters that the page's address lacks: PostHog and
 * its clients add those, about the browser and its referrer. */
function companysOwn(properties: JsonObject, isAbsent = isAbsentParameter): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).filter(([key, value]) => !key.startsWith("$") && !isAbsent([key, value])),
  );
}

function identify(read: Read): Translated {
  const { distinctId, properties } = read;
  if (read.event !== "$identify" || read.isNobody) return { items: [identifyItem(read, read.person)] };
  // An identified user is no visitor, although a browser that got the id at its start marks it as one.
  const before = parseId(properties.$anon_distinct_id, "$anon_distinct_id");
  const isLinked = typeof before === "string" && before !== distinctId && !isGenericId(before);
  // That browser's earlier events are a visitor's.
  const visitor = isLinked ? before : isVisitor(distinctId, properties) ? distinctId : undefined;
  const person = { userId: distinctId, ...(visitor !== undefined && { anonymousId: visitor }) };
  const item = identifyItem(read, person);
  return { items: [isLinked && generatedId.test(before) ? { ...item, previousId: before } : item] };
}

/**
 * A generated id, a UUID or longer, which cannot be guessed. Servers send a visitor's id as if it was a
 * user's, and the events under it become the user's, too. Another id may be a real user's: a page that sends
 * it would get the events that are held for that user.
 */
const generatedId = /^[0-9a-f-]{32,}$/i;

function identifyItem(read: Read, person: SourcedPerson): SourcedIdentify {
  const { atMs, messageId, account, set } = read;
  const { account: ofCompany, ...traits } = userTraits(set.traits, person.userId);
  const joined = account ?? ofCompany;
  const { email: _email, ...once } = set.traitsOnce;
  const item = { type: "identify" as const, ...person, atMs, messageId, ...traits };
  return { ...item, ...(hasAny(once) && { traitsOnce: once }), ...(joined && { account: joined }) };
}

function hasAny(properties: JsonObject): boolean {
  return Object.keys(properties).length > 0;
}

/** Both ids are one person's. PostHog keeps `distinct_id`; its clients' examples have the user's id in either
 * place, so one that is known to be a visitor's is the one that was used before. */
function alias({ properties, distinctId, person, atMs, messageId }: Read): Translated {
  const other = readId(properties.alias, "alias");
  if (isInvalid(other)) return other;
  if (other === distinctId) return { ignored: "alias and distinct_id are the same id." };
  const [previousId, userId] = person.userId === undefined ? [distinctId, other] : [other, distinctId];
  return { items: [{ type: "alias", previousId, userId, atMs, messageId }] };
}

function group({ properties, distinctId, person, atMs, messageId }: Read): Translated {
  const { $group_type: type, $group_key: key } = properties;
  if (!isAccountGroup(type))
    return { ignored: `groups of the type ${JSON.stringify(type)} are no accounts.` };
  const traits = objectOf(properties.$group_set);
  const account = accountOf(key, traits);
  if (account === undefined) return { invalid: "$group_key is missing: send the account's id." };
  // posthog-node sends this id for a group without a user.
  const hasNoUser = distinctId === `$${type}_${key}`;
  if (hasNoUser) return { items: [{ type: "account", atMs, messageId, account }] };
  return {
    items: [{ type: "identify", ...person, atMs, messageId, traits: companyTraits(traits), account }],
  };
}

function track(read: Read, event: string, isActivity: boolean): Translated {
  const { person, set, atMs, messageId, account } = read;
  const properties = propertiesOf(read.properties);
  const happened = { ...person, atMs, messageId, ...(account && { account }) };
  const item: SourcedItem = { type: "track", ...happened, event, properties, isActivity };
  // The message's id belongs to its event. The same traits again change nothing. A visitor's traits would
  // fill the space for held items: browsers send some with every event.
  const isOfUser = person.userId !== undefined && (hasAny(set.traits) || hasAny(set.traitsOnce));
  return { items: isOfUser ? [identifyItem({ ...read, messageId: null }, person), item] : [item] };
}
