/**
 * Text as PostgreSQL can store it. It stores every character but U+0000, which ids and names of senders may hold:
 * that one is written as `\0`, and so that nothing else reads as that, a backslash is written twice.
 */

/** As it is stored. */
export function storable(text: string): string {
  return text.includes("\\") || text.includes("\0")
    ? text.replaceAll("\\", "\\\\").replaceAll("\0", "\\0")
    : text;
}

/** What `storable` was given. */
export function restored(text: string): string {
  return text.includes("\\") ? text.replace(/\\([\\0])/g, (_, next) => (next === "0" ? "\0" : "\\")) : text;
}
