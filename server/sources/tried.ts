/** Shows a translation to the user who tries a mapping. */

import type { JsonObject } from "../../contract/json.ts";
import type { TriedItem } from "../../contract/source-settings.ts";
import type { SourcedItem } from "../intake/admission/sourced.ts";
import type { TranslatedItem } from "./source.ts";

/** One item with its translation. Every field is present, null if it has no value. */
export function triedItem({ sent, translated }: TranslatedItem): TriedItem {
  return {
    sent,
    invalid: "invalid" in translated ? translated.invalid : null,
    ignored: "ignored" in translated ? translated.ignored : null,
    items: "items" in translated ? translated.items.map(shown) : [],
  };
}

function shown(item: SourcedItem): TriedItem["items"][number] {
  const identify = item.type === "identify" ? item : undefined;
  const track = item.type === "track" ? item : undefined;
  const alias = item.type === "alias" ? item : undefined;
  const account = item.type === "alias" ? undefined : item.account;
  return {
    type: item.type,
    at: new Date(item.atMs).toISOString(),
    messageId: item.messageId,
    userId: (identify ?? track ?? alias)?.userId ?? null,
    anonymousId: (identify ?? track)?.anonymousId ?? alias?.previousId ?? null,
    email: identify?.email ?? null,
    event: track?.event ?? null,
    isActivity: track?.isActivity ?? null,
    account: account
      ? { id: account.id, name: account.name ?? null, properties: copyOf(account.properties) }
      : null,
    traits: copyOf(identify?.traits),
    properties: copyOf(track?.properties),
  };
}

function copyOf(object: JsonObject | undefined): Record<string, unknown> | null {
  return object === undefined ? null : { ...object };
}
