/**
 * Text in a form that PostgreSQL can store. It stores every character except U+0000, which ids and names of
 * senders may contain. U+0000 is written as `\0`. A backslash is written twice, so that the code is unique.
 */

/** The stored form of a text. */
export function storable(text: string): string {
  return text.includes("\\") || text.includes("\0")
    ? text.replaceAll("\\", "\\\\").replaceAll("\0", "\\0")
    : text;
}

/** The original text of a stored one. */
export function restored(text: string): string {
  return text.includes("\\") ? text.replace(/\\([\\0])/g, (_, next) => (next === "0" ? "\0" : "\\")) : text;
}
