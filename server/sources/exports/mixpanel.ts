/**
 * Mixpanel's raw export of events, `{"event", "properties"}`, and of profiles, `{"$distinct_id",
 * "$properties"}`.
 *
 *   $user_id, $device_id    the user and the device, since the simplified merging of ids
 *   $device:…               a distinct id that is a device's
 *   distinct_id             otherwise a user's; its events are held until a profile or `$identify` names the user
 */

import { isJsonObject, type JsonObject, objectOf } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import type { SourcedItem, SourcedPerson } from "../../intake/admission/sourced.ts";
import { isGenericId, parseId, parseMessageId, parseVisitorId, readTime } from "../parse.ts";
import { propertiesOf } from "../posthog-events.ts";
import { accountOf, userTraits } from "../segment-traits.ts";
import type { Translated } from "../source.ts";
import { type ExportContext, idIn, requiredTime } from "./export.ts";

const devicePrefix = "$device:";

/** Reserved properties of profiles, and the traits that they become. Others that begin with `$` describe the
 * browser. */
const reservedTraits: Readonly<Record<string, string>> = {
  $email: "email",
  $name: "name",
  $first_name: "firstName",
  $last_name: "lastName",
  $avatar: "avatar",
  $phone: "phone",
  $created: "created",
};

/** The parts that all events share. */
interface Read {
  readonly event: string;
  readonly properties: JsonObject;
  readonly at: { readonly atMs: number; readonly messageId: string | null };
}

/** Translates an event or a profile. */
export function translateMixpanelRow(row: JsonObject, context: ExportContext): Translated {
  if (row.$distinct_id !== undefined && row.event === undefined) return profile(row, context);
  const { event } = row;
  if (typeof event !== "string" || event.trim() === "") {
    return { invalid: "event is missing: send the event's name, a string." };
  }
  if (!isJsonObject(row.properties)) {
    return { invalid: "properties is not a JSON object: send a JSON object." };
  }
  const at = atOf(event, row.properties, context);
  if (isInvalid(at)) return at;
  const read = { event, properties: row.properties, at };
  switch (event) {
    case "$identify":
      return identify(read);
    case "$create_alias":
      return alias(read, [read.properties.distinct_id, read.properties.alias]);
    case "$merge": {
      const { $distinct_ids: ids } = read.properties;
      return alias(read, Array.isArray(ids) ? [ids[0], ids[1]] : []);
    }
    default:
      return track(read, context);
  }
}

function atOf(event: string, properties: JsonObject, { zone }: ExportContext): Read["at"] | Invalid {
  // Projects from before 2023 export times of their timezone as if they were UTC.
  const sentMs = requiredTime(["time", properties.time]);
  if (isInvalid(sentMs)) return sentMs;
  const insertId = parseMessageId(properties.$insert_id, "$insert_id");
  if (isInvalid(insertId)) return insertId;
  // For Mixpanel, events with one $insert_id and two names are two events: an order that is placed and paid.
  const both = `${insertId}:${event}`;
  const messageId = insertId === null || both.length > limits.messageIdCharacters ? insertId : both;
  return { atMs: zone === undefined ? sentMs : zone.instantOf(sentMs), messageId };
}

/** The user and the device of an event. */
function personOf(properties: JsonObject): SourcedPerson | Invalid {
  const userId = parseId(properties.$user_id, "$user_id");
  if (isInvalid(userId)) return userId;
  const device = parseVisitorId(withoutPrefix(properties.$device_id), "$device_id");
  if (isInvalid(device)) return device;
  if (userId !== undefined && !isGenericId(userId)) return { userId, anonymousId: device };
  const sent = properties.distinct_id;
  const distinctId = parseId(sent, "distinct_id");
  if (isInvalid(distinctId)) return distinctId;
  if (distinctId === undefined || isGenericId(distinctId)) {
    return device === undefined
      ? { invalid: "distinct_id is missing: send the user's id." }
      : { anonymousId: device };
  }
  const isDevice = distinctId.startsWith(devicePrefix) || distinctId === device;
  return isDevice
    ? { anonymousId: String(withoutPrefix(distinctId)) }
    : { userId: distinctId, anonymousId: device };
}

function withoutPrefix(id: unknown): unknown {
  return typeof id === "string" && id.startsWith(devicePrefix) ? id.slice(devicePrefix.length) : id;
}

function identify({ properties, at }: Read): Translated {
  const userId = parseId(
    properties.$identified_id ?? properties.$user_id ?? properties.distinct_id,
    "distinct_id",
  );
  if (isInvalid(userId)) return userId;
  if (userId === undefined || userId.startsWith(devicePrefix)) {
    return { invalid: "$identified_id is missing: send the user's id." };
  }
  const before = properties.$anon_id ?? properties.$anon_distinct_id ?? properties.$device_id;
  const anonymousId = parseVisitorId(withoutPrefix(before), "$anon_id");
  if (isInvalid(anonymousId)) return anonymousId;
  return { items: [{ type: "identify", userId, anonymousId, ...at, traits: {} }] };
}

function alias({ at }: Read, ids: readonly unknown[]): Translated {
  const [previousId, userId] = ids.map((id) => parseVisitorId(withoutPrefix(id), "alias"));
  if (isInvalid(previousId)) return previousId;
  if (isInvalid(userId)) return userId;
  if (previousId === undefined || userId === undefined) {
    return { invalid: "alias is missing: send the two ids of one person." };
  }
  if (previousId === userId) return { ignored: "alias and distinct_id are the same id." };
  return { items: [{ type: "alias", previousId, userId, ...at }] };
}

function track({ event, properties, at }: Read, { accountProperty }: ExportContext): Translated {
  const person = personOf(properties);
  if (isInvalid(person)) return person;
  const account =
    accountProperty === undefined ? undefined : idIn(properties[accountProperty], accountProperty);
  const isPage = event === "$mp_web_page_view";
  const item: SourcedItem = {
    type: "track",
    ...person,
    ...at,
    ...(account !== undefined && { account: { id: account } }),
    event: isPage ? "page_viewed" : event,
    properties: withoutEnvelope(propertiesOf(properties)),
    // Events whose names begin with $ are recorded by Mixpanel's clients: sessions, clicks, first starts.
    isActivity: isPage || !event.startsWith("$"),
  };
  if (typeof properties.$user_id === "undefined" || person.userId === undefined) return { items: [item] };
  const named: SourcedItem = { type: "identify", ...person, atMs: at.atMs, messageId: null, traits: {} };
  return { items: [named, item] };
}

function withoutEnvelope(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).filter(([key]) => key !== "time" && !key.startsWith("mp_")),
  );
}

function profile(row: JsonObject, { nowMs, accountProperty }: ExportContext): Translated {
  const userId = parseId(row.$distinct_id, "$distinct_id");
  if (isInvalid(userId)) return userId;
  if (userId === undefined || isGenericId(userId)) {
    return { invalid: "$distinct_id is missing: send the user's id." };
  }
  if (userId.startsWith(devicePrefix)) return { ignored: "The profile is of a device, not of a user." };
  const properties = objectOf(row.$properties);
  const traits = Object.fromEntries(
    Object.entries(properties).flatMap(([key, value]) => {
      const name = key.startsWith("$") ? reservedTraits[key] : key;
      return name === undefined ? [] : [[name, value]];
    }),
  );
  const lastSeenMs = readTime(properties.$last_seen, "$last_seen");
  const atMs = typeof lastSeenMs === "number" ? Math.min(lastSeenMs, nowMs) : nowMs;
  const { account: ofCompany, ...read } = userTraits(traits, userId);
  const sent = accountProperty === undefined ? undefined : idIn(properties[accountProperty], accountProperty);
  const account = accountOf(sent, {}) ?? ofCompany;
  const item: SourcedItem = {
    type: "identify",
    userId,
    atMs,
    messageId: null,
    ...read,
    ...(account && { account }),
  };
  return { items: [item] };
}
