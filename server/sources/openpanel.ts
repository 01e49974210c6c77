/**
 * Translates the messages of OpenPanel's clients into Segment's calls. The mapping:
 *
 *   track             an event; screen_view is page_viewed. profileId is the user, the first of groups the account
 *   identify          a user's e-mail address, names, picture and traits
 *   assign_group      the user joins the account
 *   group             an account with its name and attributes
 *   increment, decrement, replay    ignored: they need what OpenPanel has
 *
 *   __timestamp       the event's time, where the client has queued it
 *   __messageId       an id of the event. OpenPanel's clients have none, so that one they send twice is stored twice
 */
import { type JsonObject, objectOf } from "../../contract/json.ts";
import { type SegmentCall, translateSegment } from "./segment.ts";
import { accountOf } from "./segment-traits.ts";
import type { Delivery, Translated, TranslatedItem } from "./source.ts";

/** Translates a body: one message. */
export function translateOpenpanel(body: unknown, delivery: Delivery): TranslatedItem[] {
  const { type, payload } = objectOf(body);
  const translation =
    typeof type === "string" && Object.hasOwn(translations, type) ? translations[type] : undefined;
  const translated = translation?.(objectOf(payload), delivery) ?? {
    invalid: `type is not known: send one of ${Object.keys(translations).join(", ")}.`,
  };
  return [{ sent: body, translated }];
}

type Translation = (payload: JsonObject, delivery: Delivery) => Translated;

const notKept: Translation = () => ({ ignored: "Counts of a profile and replays are not kept." });

const translations: Readonly<Record<string, Translation>> = {
  track: ({ name, profileId, groups, properties }, delivery) => {
    const { __timestamp: timestamp, __messageId: messageId, ...others } = objectOf(properties);
    const groupId: unknown = Array.isArray(groups) ? groups[0] : undefined;
    const message = { userId: profileId, timestamp, messageId, context: { groupId } };
    return name === "screen_view"
      ? segment({ ...message, properties: { ...pageOf(others), ...own(others) } }, delivery, "page")
      : segment({ ...message, event: name, properties: own(others) }, delivery, "track");
  },
  identify: ({ profileId, properties, ...traits }, delivery) =>
    segment({ userId: profileId, traits: { ...own(objectOf(properties)), ...traits } }, delivery, "identify"),
  assign_group: ({ profileId, groupIds }, delivery) => {
    const groupId: unknown = Array.isArray(groupIds) ? groupIds[0] : undefined;
    return segment({ userId: profileId, groupId }, delivery, "group");
  },
  group: ({ id, name, properties }, { receivedAtMs }) => {
    const account = accountOf(id, { ...own(objectOf(properties)), name });
    if (account === undefined) return { invalid: "id is missing: send the account's id." };
    return { items: [{ type: "account", atMs: receivedAtMs, messageId: null, account }] };
  },
  increment: notKept,
  decrement: notKept,
  replay: notKept,
};

function segment(message: JsonObject, delivery: Delivery, call: SegmentCall): Translated {
  if (message.userId === undefined || message.userId === null || message.userId === "") {
    return {
      invalid:
        "profileId is missing: call identify first, or set waitForProfile. OpenPanel's clients send no id of a visitor.",
    };
  }
  const [one] = translateSegment(message, delivery, call);
  return one?.translated ?? { invalid: "message is empty." };
}

/** Without properties that begin with two underscores: OpenPanel's clients add those. */
function own(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([key]) => !key.startsWith("__")));
}

/** Where a page was viewed. `__path` is the whole address. */
function pageOf({ __path: url, __title: title, __referrer: referrer }: JsonObject): JsonObject {
  const path = typeof url === "string" && URL.canParse(url) ? new URL(url).pathname : undefined;
  const page = { url, path, title, referrer };
  return Object.fromEntries(Object.entries(page).filter(([, value]) => value !== undefined && value !== ""));
}
