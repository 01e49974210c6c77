/**
 * PostHog: what its clients send, in our words.
 *
 *   posthog-envelope.ts    which events are in a body, and where the token is
 *   posthog-events.ts      what events, properties and groups mean, as tables
 *   here                   whom an event is about, when it happened, and what it says
 *
 * PostHog has one space of ids, distinct ids: a company's own user ids, and those that a browser makes up until
 * somebody signs in. One that is known to be made up is a visitor's; every other is taken for a user's. Either
 * way events of somebody unknown wait, until `$identify` or an alias says who it is.
 */
import { isInvalid, type SourcedAccount, type SourcedItem, type SourcedPerson } from "../intake/intake.ts";
import { isJsonObject, type JsonObject } from "../ledger/ledger.ts";
import { posthogEnvelope, withoutToken } from "./posthog-envelope.ts";
import { accountGroup, isAccountGroup, isNobody, meaningOf, propertiesOf } from "./posthog-events.ts";
import { type Clock, posthogTime, sentAtMs } from "./posthog-time.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";

/** Translates a body, whose token was already taken. `querySentAt` is the `_` of the address, where a browser says when it sent. */
export function translatePosthog(
  body: unknown,
  delivery: Delivery,
  querySentAt?: string,
): TranslatedItem[] | { invalid: string } {
  const envelope = posthogEnvelope(body);
  if ("invalid" in envelope) return envelope;
  const sentMs = envelope.isHistorical ? undefined : sentAtMs(envelope.sentAt, querySentAt);
  const clock: Clock = { receivedAtMs: delivery.receivedAtMs, sentAtMs: sentMs };
  return envelope.events.map((sent) => ({
    sent: withoutToken(sent),
    translated: translateEvent(sent, clock),
  }));
}

/** One event, read as far as all of them are alike. */
interface Read {
  readonly event: string;
  readonly distinctId: string;
  readonly person: SourcedPerson;
  readonly properties: JsonObject;
  readonly atMs: number;
  readonly messageId: string | null;
  /** Person properties that are said with it: `$set` and `$unset`. */
  readonly said: PersonProperties;
  readonly account: SourcedAccount | undefined;
}

function translateEvent(sent: unknown, clock: Clock): Translated {
  const read = readEvent(sent, clock);
  if ("invalid" in read) return read;
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

function readEvent(sent: unknown, clock: Clock): Read | { readonly invalid: string } {
  if (!isJsonObject(sent)) return { invalid: "event is not a JSON object: send a JSON object." };
  const { event } = sent;
  if (typeof event !== "string" || event.trim() === "") {
    return { invalid: "event is missing or not a name: send the event's name." };
  }
  const properties = isJsonObject(sent.properties) ? sent.properties : {};
  const distinctId = readDistinctId(sent.distinct_id ?? sent.$distinct_id ?? properties.distinct_id);
  if (typeof distinctId !== "string") return distinctId;
  const at = posthogTime({ ...sent, ignoreSentAt: properties.$ignore_sent_at === true }, clock);
  if (isInvalid(at)) return at;
  const account = isJsonObject(properties.$groups) ? accountOf(accountGroup(properties.$groups)) : undefined;
  return {
    ...{ event, distinctId, properties, account, atMs: at },
    person: isVisitor(distinctId, properties) ? { anonymousId: distinctId } : { userId: distinctId },
    messageId: text(sent.uuid) ?? text(properties.$insert_id) ?? null,
    said: personProperties(sent, properties),
  };
}

function readDistinctId(value: unknown): string | { readonly invalid: string } {
  if (typeof value === "number" && !Number.isInteger(value)) return String(value);
  if (typeof value === "number" && !Number.isSafeInteger(value)) {
    return { invalid: "distinct_id is a number that its digits do not say exactly: send it as a string." };
  }
  const id = typeof value === "number" ? String(value) : value;
  if (typeof id !== "string" || id === "") {
    return { invalid: "distinct_id is missing or not valid: send the user's id, a non-empty string." };
  }
  return isNobody(id)
    ? { invalid: `distinct_id ${JSON.stringify(id)} is what programs send for nobody: send the user's id.` }
    : id;
}

/** Whether the client says that it made this id up: a browser's distinct id is its device's until somebody signs in. That
 * no profile is to be made (`$process_person_profile`) says nothing: servers say it of users to save money. */
function isVisitor(distinctId: string, properties: JsonObject): boolean {
  return properties.$is_identified === false || properties.$device_id === distinctId;
}

interface PersonProperties {
  readonly email: string | undefined;
  readonly traits: JsonObject;
}

function personProperties(sent: JsonObject, properties: JsonObject): PersonProperties {
  const traits: Record<string, unknown> = {};
  const unset = [sent.$unset, properties.$unset].filter(Array.isArray).flat();
  for (const key of unset) if (typeof key === "string" && !key.startsWith("$")) traits[key] = null;
  let email: string | undefined;
  for (const set of [properties.$set, sent.$set].filter(isJsonObject)) {
    for (const [key, value] of Object.entries(set)) {
      if (isAddress(value) && (key === "email" || key === "$email")) email = value;
      else if (!key.startsWith("$") && key !== "email") traits[key] = value;
    }
  }
  return { email, traits };
}

function identify(read: Read): Translated {
  const { person, said, atMs, messageId, account, distinctId, properties } = read;
  const traits = said.traits;
  if (read.event !== "$identify")
    return { items: [{ type: "identify", ...person, ...{ ...said, traits, account, atMs, messageId } }] };
  // Who is identified is no visitor, though a browser that was told the id at its start says so.
  const user = { userId: distinctId, email: said.email ?? (isAddress(distinctId) ? distinctId : undefined) };
  const before = text(properties.$anon_distinct_id);
  const isLinked = before !== undefined && before !== distinctId && !isNobody(before);
  const item = { type: "identify", ...user, traits, account, atMs, messageId } as const;
  return { items: [isLinked ? { ...item, anonymousId: before } : item] };
}

/** Both ids are one person's. PostHog's own clients disagree on which of them is the user's (posthog-node's example has
 * it as `alias`, posthog.com's as `distinct_id`, and it is `distinct_id` that PostHog keeps). */
function alias({ properties, distinctId, person, atMs, messageId }: Read): Translated {
  const other = readDistinctId(properties.alias);
  if (typeof other !== "string") return { invalid: other.invalid.replace("distinct_id", "alias") };
  if (other === distinctId) return { ignored: "alias says that an id is itself." };
  const [previousId, userId] = person.userId === undefined ? [distinctId, other] : [other, distinctId];
  return { items: [{ type: "alias", previousId, userId, atMs, messageId }] };
}

function group({ properties, distinctId, person, atMs, messageId }: Read): Translated {
  const { $group_type: type, $group_key: key, $group_set: set } = properties;
  if (!isAccountGroup(type))
    return { ignored: `groups of the type ${JSON.stringify(type)} are no accounts.` };
  const account = accountOf(key);
  if (account === undefined) return { invalid: "$group_key is missing or not valid: send the account's id." };
  // What posthog-node writes for a group that is told without a user.
  if (distinctId === `$${type}_${key}`)
    return { ignored: "a group without a user: an account begins with its first user." };
  const name = isJsonObject(set) ? text(set.name) : undefined;
  const item = { type: "identify", ...person, traits: {}, atMs, messageId } as const;
  return { items: [{ ...item, account: { ...account, name } }] };
}

function track(read: Read, event: string, isActivity: boolean): Translated {
  const { person, said, atMs, messageId, account } = read;
  const items: SourcedItem[] = [];
  if (said.email !== undefined || Object.keys(said.traits).length > 0) {
    items.push({ type: "identify", ...person, ...said, account, atMs, messageId: null });
  }
  const properties = propertiesOf(read.properties);
  items.push({ type: "track", ...person, event, properties, isActivity, account, atMs, messageId });
  return { items };
}

function accountOf(key: unknown): SourcedAccount | undefined {
  const id = typeof key === "number" && Number.isSafeInteger(key) ? String(key) : text(key);
  return id === undefined ? undefined : { id };
}

function text(value: unknown): string | undefined {
  return typeof value === "string" && value !== "" ? value : undefined;
}

/** Whether a text can be an e-mail address; what PostHog takes for one may be anything. */
function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^[^\s@]+@[^\s@]+\.[^\s@]+$/.test(value);
}
