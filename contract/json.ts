/** A JSON object, as parsed. */
export type JsonObject = { readonly [key: string]: unknown };

/** The object; an empty one for any other value. */
export function objectOf(value: unknown): JsonObject {
  return isJsonObject(value) ? value : {};
}

/** Whether a parsed value is a JSON object: no array, no null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
