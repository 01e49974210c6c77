/** Amplitude's export: one event a line, with the user's properties and groups at that time. Times are in UTC
 * without saying so. */

import { type JsonObject, objectOf } from "../../../contract/json.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import type { SourcedAccount, SourcedItem } from "../../intake/admission/sourced.ts";
import { isGenericId, parseId, parseMessageId, parseVisitorId } from "../parse.ts";
import { accountGroup } from "../posthog-events.ts";
import { accountOf, userTraits } from "../segment-traits.ts";
import type { Translated } from "../source.ts";
import { type ExportContext, idIn, requiredTime } from "./export.ts";

/** Amplitude's own events are named after this, and so are their properties. */
const ownPrefix = "[Amplitude] ";
const sessionEvents: ReadonlySet<string> = new Set(["session_start", "session_end"]);

/** Fields beside the event's properties that say something about it, and their names here. */
const describedBy: Readonly<Record<string, string>> = {
  platform: "platform",
  version_name: "version",
  country: "country",
};

/** Properties of viewed pages, and their names here. */
const pageProperties: Readonly<Record<string, string>> = {
  "Page URL": "url",
  "Page Path": "path",
  "Page Title": "title",
};

/** Translates an event. */
export function translateAmplitudeRow(row: JsonObject, context: ExportContext): Translated {
  const { event_type: event } = row;
  if (typeof event !== "string" || event.trim() === "") {
    return { invalid: "event_type is missing: send the event's name, a string." };
  }
  const atMs = requiredTime(["event_time", row.event_time], ["client_event_time", row.client_event_time]);
  if (isInvalid(atMs)) return atMs;
  const messageId = parseMessageId(row.uuid || row.$insert_id || row.insert_id, "uuid");
  if (isInvalid(messageId)) return messageId;
  const sentId = parseId(row.user_id, "user_id");
  if (isInvalid(sentId)) return sentId;
  const userId = sentId === undefined || isGenericId(sentId) ? undefined : sentId;
  const anonymousId = parseVisitorId(row.device_id, "device_id");
  if (isInvalid(anonymousId)) return anonymousId;
  const account = accountIn(row, context);
  if (event === "$groupidentify") {
    if (account === undefined) return { ignored: "The group is no account." };
    return { items: [{ type: "account", atMs, messageId, account }] };
  }
  if (userId === undefined && anonymousId === undefined) {
    return { invalid: "user_id and device_id are missing: send one of them." };
  }
  const person = { userId, anonymousId };
  const { account: _ofCompany, ...traits } = userTraits(traitsOf(row), userId);
  const named = { type: "identify" as const, ...person, atMs, ...traits, ...(account && { account }) };
  if (event === "$identify") return { items: [{ ...named, messageId }] };
  const item: SourcedItem = {
    type: "track",
    ...person,
    atMs,
    messageId,
    ...(account && { account }),
    ...eventOf(event, row),
  };
  // A visitor's traits would fill the space for held items: they are on every event.
  return { items: userId === undefined ? [item] : [{ ...named, messageId: null }, item] };
}

function eventOf(sent: string, row: JsonObject) {
  const event = sent.startsWith(ownPrefix) ? sent.slice(ownPrefix.length) : sent;
  const isPage = sent === `${ownPrefix}Page Viewed`;
  const isOwn = sent.startsWith(ownPrefix) || sent.startsWith("$") || sessionEvents.has(sent);
  const described = Object.entries(describedBy)
    .map(([field, name]) => [name, row[field]] as const)
    .filter(([, value]) => value !== undefined && value !== null && value !== "");
  const sentProperties = Object.entries(objectOf(row.event_properties)).map(
    ([key, value]) => [propertyName(key), value] as const,
  );
  const properties = Object.fromEntries([...described, ...sentProperties]);
  return { event: isPage ? "page_viewed" : event, properties, isActivity: isPage || !isOwn };
}

function propertyName(key: string): string {
  const plain = key.startsWith(ownPrefix) ? key.slice(ownPrefix.length) : key;
  return (Object.hasOwn(pageProperties, plain) ? pageProperties[plain] : undefined) ?? plain;
}

/** The user's properties. The key of an address is written in several ways. */
function traitsOf(row: JsonObject): JsonObject {
  const { Email, Name, ...others } = objectOf(row.user_properties);
  return {
    ...(Email !== undefined && { email: Email }),
    ...(Name !== undefined && { name: Name }),
    ...others,
  };
}

/** `groups` has types with lists of names. */
function accountIn(row: JsonObject, { accountProperty }: ExportContext): SourcedAccount | undefined {
  const groups = objectOf(row.groups);
  const group = accountProperty === undefined ? accountGroup(groups) : groups[accountProperty];
  return accountOf(idIn(group, "groups"), {});
}
