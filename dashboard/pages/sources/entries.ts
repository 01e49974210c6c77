/** The entries of the list of sources: each sender, and each billing tool that sends by a preset of
 * webhooks. */
import type { WebhookPreset } from "../../../contract/source-settings.ts";
import type { SenderName } from "../../../contract/sources.ts";
import { sourceName } from "../../text/source-names.ts";
import { presetTexts } from "./presets.ts";

export type Entry = SenderName | WebhookPreset;

/** The presets, in the order of the list. */
export const presetEntries = Object.values(presetTexts).map(({ preset }) => preset);

/** Whether an entry is a preset of webhooks. */
export function isPreset(entry: Entry): entry is WebhookPreset {
  return Object.hasOwn(presetTexts, entry);
}

/** The name of an entry as people call the tool. */
export function entryName(entry: Entry): string {
  return isPreset(entry) ? presetTexts[entry].tool : sourceName(entry);
}
