/** A JSON object, as parsed. */
export type JsonObject = { readonly [key: string]: unknown };

/** Whether a parsed value is a JSON object: no array, no null. */
export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
