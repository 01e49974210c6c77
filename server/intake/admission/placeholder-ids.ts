/** Ids that programs send when they have none. As a user's or an account's id one would join many into
 * one. */

const placeholders: ReadonlySet<string> = new Set(["undefined", "null", "None", "NaN", "[object Object]"]);
const longest = Math.max(...[...placeholders].map(({ length }) => length));

/** Whether programs send this id when they have none: white space, or the text of an absent value as programs
 * write it. An application may have a user called none. Every path asks this. */
export function isPlaceholderId(id: string): boolean {
  const trimmed = id.trim();
  if (trimmed === "") return id !== "";
  return trimmed.length <= longest && placeholders.has(trimmed);
}

/** The error of such an id. @param what the field */
export function placeholderProblem(what: string, id: string): string {
  return `${what} ${JSON.stringify(id.slice(0, 50))} is a placeholder for no id: send the id, or nothing.`;
}
