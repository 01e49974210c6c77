/** Sources as people call them. */
import { senderTitles } from "../../contract/digest/sender-titles.ts";
import type { SenderName } from "../../contract/sources.ts";

/** Whether this is a connected source, and no path of the write API. */
export function isConnectedSource(name: string): boolean {
  return name !== "api" && Object.hasOwn(senderTitles, name);
}

/** Everything that can send, the write API last. */
export const senders = Object.keys(senderTitles) as readonly SenderName[];

/** The sender of an item: a connected source, or the write API by one of its paths. */
export function senderOf(endpoint: string): string {
  return isConnectedSource(endpoint) ? endpoint : "api";
}

/** The name of a source, as the API names it. An unknown source keeps its own name. */
export function sourceName(source: string): string {
  return (senderTitles as Readonly<Record<string, string>>)[source] ?? source;
}
