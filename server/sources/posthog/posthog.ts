/**
 * PostHog: what its clients send, in our words.
 *
 *   envelope.ts    which events are in a body, and where the token is
 *   events.ts      what events, properties and groups mean, as tables
 *   here                   whom an event is about, when it happened, and what it says
 *
 * PostHog has one space of ids, distinct ids: a company's own user ids, and those that a browser makes up until
 * somebody signs in. One that is said to be made up is a visitor's; every other is taken for a user's. Either
 * way events of somebody unknown wait, until `$identify` or an alias says who it is.
 */

import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import {
  type Invalid,
  isInvalid,
  type SourcedAccount,
  type SourcedIdentify,
  type SourcedItem,
  type SourcedPerson,
} from "../../intake/intake.ts";
import { isNobody, saidId, saidMessageId, saidTime } from "../said.ts";
import { accountOf, companyTraits, userTraits } from "../segment/traits.ts";
import type { Delivery, Translated, TranslatedItem } from "../source.ts";
import { type PosthogEnvelope, posthogEnvelope } from "./envelope.ts";
import { accountGroup, isAccountGroup, meaningOf, propertiesOf } from "./events.ts";

/** Translates a body. @param querySentAt the `_` of the address: the browser's clock when it sent, where the body says none */
export function translatePosthog(
  body: unknown,
  delivery: Delivery,
  querySentAt?: string | null,
): TranslatedItem[] | Invalid {
  const envelope = posthogEnvelope(body);
  if (isInvalid(envelope)) return envelope;
  const said = { ...envelope, sentAt: envelope.sentAt ?? querySentAt };
  return envelope.events.map((sent) => ({ sent, translated: translateEvent(sent, said, delivery) }));
}

/** One event, read as far as all of them are alike. */
interface Read {
  readonly event: string;
  readonly distinctId: string;
  readonly person: SourcedPerson;
  readonly properties: JsonObject;
  readonly atMs: number;
  readonly messageId: string | null;
  /** Person properties that are said with it. */
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
      return { ignored: `${read.event} is about the page or PostHog itself, not about what somebody did.` };
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
  const distinctId = readId(sent.distinct_id ?? sent.$distinct_id ?? properties.distinct_id, "distinct_id");
  if (isInvalid(distinctId)) return distinctId;
  const atMs = timeOf(sent, properties, envelope, delivery);
  if (isInvalid(atMs)) return atMs;
  const messageId = saidMessageId(sent.uuid || properties.$insert_id, "uuid");
  if (isInvalid(messageId)) return messageId;
  return {
    ...{ event, distinctId, properties, atMs, messageId },
    person: isVisitor(distinctId, properties) ? { anonymousId: distinctId } : { userId: distinctId },
    set: personProperties(sent, properties),
    account: accountOf(accountGroup(objectOf(properties.$groups)), {}),
  };
}

/** `timestamp` by the rule of all sources, else `offset` before arrival, else arrival. Of an older system's times the
 * sender's clock says nothing. */
function timeOf(
  { timestamp, offset, options }: JsonObject,
  { $ignore_sent_at: ignoresSentAt = objectOf(options).disable_skew_correction }: JsonObject,
  { sentAt, isHistorical }: PosthogEnvelope,
  delivery: Delivery,
): number | Invalid {
  const isSaid = timestamp !== undefined && timestamp !== null && timestamp !== "";
  if (!isSaid && typeof offset === "number" && offset > 0) {
    return saidTime({ timestamp: delivery.receivedAtMs - offset }, delivery);
  }
  return saidTime({ timestamp, ...(!isHistorical && ignoresSentAt !== true && { sentAt }) }, delivery);
}

function readId(value: unknown, field: string): string | Invalid {
  const id = saidId(value, field);
  if (isInvalid(id)) return id;
  if (id === undefined) return { invalid: `${field} is missing: send the user's id.` };
  return isNobody(id)
    ? { invalid: `${field} ${JSON.stringify(id)} is what programs send for nobody: send the user's id.` }
    : id;
}

/** Whether the client says that it made this id up: a browser's distinct id is its device's until somebody signs in. That
 * no profile is to be made (`$process_person_profile`) says nothing: servers say it of users to save money. */
function isVisitor(distinctId: string, properties: JsonObject): boolean {
  return properties.$is_identified === false || properties.$device_id === distinctId;
}

interface PersonProperties {
  /** `$set` and `$unset`. */
  readonly traits: JsonObject;
  /** `$set_once`. */
  readonly traitsOnce: JsonObject;
}

/** What is said of the person: `$set` beside the event wins over that among its properties, and both over `$unset`. */
function personProperties(sent: JsonObject, properties: JsonObject): PersonProperties {
  const unset = [properties.$unset, sent.$unset].filter(Array.isArray).flat().map(String);
  const set = {
    ...Object.fromEntries(unset.map((key) => [key, null])),
    ...objectOf(properties.$set),
    ...objectOf(sent.$set),
  };
  const once = { ...objectOf(properties.$set_once), ...objectOf(sent.$set_once) };
  return { traits: companysOwn(set), traitsOnce: companysOwn(once) };
}

/** With `$` begin those that PostHog's clients and PostHog itself say, of the browser and the way there. */
function companysOwn(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith("$")));
}

function identify(read: Read): Translated {
  const { distinctId, properties } = read;
  if (read.event !== "$identify") return { items: [identifyItem(read, read.person)] };
  // Who is identified is no visitor, though a browser that was told the id at its start says so.
  const before = saidId(properties.$anon_distinct_id, "$anon_distinct_id");
  const isLinked = typeof before === "string" && before !== distinctId && !isNobody(before);
  // What that browser said before it said as a visitor's.
  const visitor = isLinked ? before : isVisitor(distinctId, properties) ? distinctId : undefined;
  const person = { userId: distinctId, ...(visitor !== undefined && { anonymousId: visitor }) };
  const item = identifyItem(read, person);
  return { items: [isLinked && madeUp.test(before) ? { ...item, previousId: before } : item] };
}

/**
 * An id that a client made up, a UUID or longer, which nobody guesses. Servers speak of a visitor by it as if it was a user's,
 * and what they said becomes the user's, too; of another id that may be a user's, and whoever says it in a page would be
 * given what waits for that user.
 */
const madeUp = /^[0-9a-f-]{32,}$/i;

function identifyItem(read: Read, person: SourcedPerson): SourcedIdentify {
  const { atMs, messageId, account, set } = read;
  const { account: ofCompany, ...said } = userTraits(set.traits, person.userId);
  const joined = account ?? ofCompany;
  const { email: _email, ...once } = set.traitsOnce;
  const item = { type: "identify" as const, ...person, atMs, messageId, ...said };
  return { ...item, ...(isSaid(once) && { traitsOnce: once }), ...(joined && { account: joined }) };
}

function isSaid(properties: JsonObject): boolean {
  return Object.keys(properties).length > 0;
}

/** Both ids are one person's. PostHog keeps `distinct_id`; its clients' examples have the user's id in either place, so
 * one that is known to be a visitor's is the one that was used before. */
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
  // What posthog-node writes when a group is described and no user named.
  const isNobodys = distinctId === `$${type}_${key}`;
  if (isNobodys) return { items: [{ type: "account", atMs, messageId, account }] };
  return {
    items: [{ type: "identify", ...person, atMs, messageId, traits: companyTraits(traits), account }],
  };
}

function track(read: Read, event: string, isActivity: boolean): Translated {
  const { person, set, atMs, messageId, account } = read;
  const properties = propertiesOf(read.properties);
  const happened = { ...person, atMs, messageId, ...(account && { account }) };
  const item: SourcedItem = { type: "track", ...happened, event, properties, isActivity };
  // The message's id is its event's; to say the same of the person again changes nothing. A visitor's would fill the
  // room for what waits: browsers say some with every event.
  const isOfUser = person.userId !== undefined && (isSaid(set.traits) || isSaid(set.traitsOnce));
  return { items: isOfUser ? [identifyItem({ ...read, messageId: null }, person), item] : [item] };
}

function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}
