/** Texts of messages: names may have any characters, and be long. Pure. */
import { controlCharacter } from "../../contract/names.ts";

/** The beginning of a text, with an ellipsis if it is longer. It ends at a whole character. @param most
 * UTF-16 units: services and bodies count them */
export function cutText(text: string, most: number): string {
  if (text.length <= most) return text;
  // Do not cut between the two units of a character.
  const beginning = text.slice(0, most - 1).replace(/[\ud800-\udbff]$/, "");
  return `${beginning}…`;
}

/** A text in one line: a line feed in a name must not begin a line of a mail. */
export function inOneLine(text: string): string {
  return text.replace(controlCharacter, " ").replace(/\s+/g, " ").trim();
}

/** A space without width. */
export const noWidth = "\u200b";

/** A text that programs do not turn into a link, because users choose their names and readers trust a link in
 * our messages. The text looks unchanged. */
export function unlinked(text: string): string {
  return text.replaceAll("://", `:${noWidth}//`).replace(/\bwww(?=\.)/gi, (found) => found + noWidth);
}
