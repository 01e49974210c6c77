/**
 * Translates the messages of Mixpanel's clients: events, people (`engage`) and groups. Events and profiles
 * are read as rows of Mixpanel's export are (exports/mixpanel.ts).
 *
 *   $set, $unset      traits; $set_once traits of a user who lacks them
 *   company: [id]     a key of a group that is an account, in $set, $union or an event: the user's account, or the event's
 *   $add, $append, $remove, $union of other keys, $delete    ignored: they need the profile that Mixpanel has
 */
import { isJsonObject, type JsonObject, objectOf } from "../../contract/json.ts";
import type { Invalid } from "../intake/admission/json.ts";
import type { SourcedItem } from "../intake/admission/sourced.ts";
import { translateMixpanelRow } from "./exports/mixpanel.ts";
import { parseVisitorId } from "./parse.ts";
import { isAccountGroup } from "./posthog-events.ts";
import { accountOf } from "./segment-traits.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";

/** What Mixpanel's paths stand for. */
export type MixpanelCall = "track" | "engage" | "groups";

/** Translates a body: one message, or a batch of some. */
export function translateMixpanel(
  body: unknown,
  delivery: Delivery,
  call: MixpanelCall,
): TranslatedItem[] | Invalid {
  const messages = messagesOf(body);
  if (messages === undefined)
    return { invalid: "body has no messages: send an event, or an array of events." };
  return messages.map((sent) => ({
    sent,
    translated: isJsonObject(sent)
      ? translations[call](sent, delivery)
      : { invalid: "message is not a JSON object: send a JSON object." },
  }));
}

/** The token that all messages of a body have; undefined when they have none, or several. */
export function mixpanelToken(body: unknown): string | undefined {
  const tokens = new Set(
    (messagesOf(body) ?? []).map((message) => {
      const { $token, properties } = objectOf(message);
      return $token ?? objectOf(properties).token;
    }),
  );
  const [token] = tokens;
  return tokens.size === 1 && typeof token === "string" ? token : undefined;
}

function messagesOf(body: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(body)) return undefined;
  return Array.isArray(body.batch) ? body.batch : [body];
}

const translations: Readonly<Record<MixpanelCall, (message: JsonObject, delivery: Delivery) => Translated>> =
  {
    track: (message, delivery) => {
      const { time = delivery.receivedAtMs, ...properties } = objectOf(message.properties);
      return row({ ...message, properties: { ...properties, time } }, properties, delivery);
    },
    engage: (message, delivery) => {
      const { $distinct_id, $set, $set_once, $unset, $union } = message;
      if ([$set, $set_once, $unset].every((one) => one === undefined) && !hasAccount(objectOf($union))) {
        return { ignored: "Only $set, $set_once and $unset of people are kept, and $union of a group." };
      }
      const removed = Array.isArray($unset) ? $unset.map((name) => [String(name), null]) : [];
      const groups = onlyAccounts(objectOf($union));
      const properties = { ...Object.fromEntries(removed), ...objectOf($set), ...groups };
      const said = row({ $distinct_id, $properties: properties }, properties, delivery);
      const once = row({ $distinct_id, $properties: objectOf($set_once) }, {}, delivery);
      if (!("items" in said) || !("items" in once)) return said;
      return { items: said.items.map((item) => ofPeople(item, once.items[0], message)) };
    },
    groups: ({ $group_key, $group_id, $set, $set_once }, { receivedAtMs }) => {
      if (!isAccountGroup($group_key))
        return { ignored: `groups of the key ${JSON.stringify($group_key)} are no accounts.` };
      const { $name, $avatar, ...others } = { ...objectOf($set_once), ...objectOf($set) };
      const own = Object.entries(others).filter(([key]) => !key.startsWith("$"));
      const account = accountOf(
        $group_id,
        Object.fromEntries(named({ name: $name, avatar: $avatar }).concat(own)),
      );
      if (account === undefined) return { invalid: "$group_id is missing: send the account's id." };
      return { items: [{ type: "account", atMs: receivedAtMs, messageId: null, account }] };
    },
  };

function row(message: JsonObject, holder: JsonObject, { receivedAtMs }: Delivery): Translated {
  const accountProperty = Object.keys(onlyAccounts(holder))[0];
  return translateMixpanelRow(message, {
    nowMs: receivedAtMs,
    zone: undefined,
    accountProperty,
    createdCustomers: new Set<string>(),
  });
}

/** Keys of groups that are accounts. Mixpanel's clients write the ids of groups as an array; a text is a
 * property of the company's own. */
function onlyAccounts(properties: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(properties).filter(([key, value]) => isAccountGroup(key) && Array.isArray(value)),
  );
}

function hasAccount(properties: JsonObject): boolean {
  return Object.keys(onlyAccounts(properties)).length > 0;
}

/** The identify of people, with the device that it was said on, and what holds only where nothing is
 * stored. */
function ofPeople(item: SourcedItem, once: SourcedItem | undefined, { $device_id }: JsonObject): SourcedItem {
  if (item.type !== "identify") return item;
  const device = parseVisitorId($device_id, "$device_id");
  const traitsOnce = once?.type === "identify" ? once.traits : {};
  return {
    ...item,
    ...(typeof device === "string" && { anonymousId: device }),
    ...(Object.keys(traitsOnce).length > 0 && { traitsOnce }),
  };
}

function named(properties: JsonObject): [string, unknown][] {
  return Object.entries(properties).filter(([, value]) => value !== undefined);
}
