/** Values in a JSON column of the warehouse, properties or traits, as texts that can be grouped and compared. */

/** Longer values are cut off here: they are shown, not kept. */
export const maxValueCharacters = 256;

/** What `jsonText` needs bound: the key, and how it looks in the column's text. */
export interface JsonKey {
  readonly key: string;
  readonly keyText: string;
}

/** The parameters for a key. */
export function jsonKey(key: string): JsonKey {
  return { key, keyText: `${JSON.stringify(key)}:` };
}

/**
 * The text of the value of the key that is bound: a string as it is, anything else as its JSON; null when the key is
 * absent or null. The key is looked for in the text first, as JSON.stringify wrote it: most rows need no parsing.
 * Queries need `jsonSettings`.
 */
export function jsonText(column: string): string {
  return `
    if(position(${column}, {keyText:String}) = 0, NULL,
      substringUTF8(JSONExtract(${column}, {key:String}, 'Nullable(String)'), 1, ${maxValueCharacters}))`;
}

/** The quick parser, simdjson, takes no integer beyond 2^64: a row with one would have no value at all. */
export const jsonSettings = "SETTINGS allow_simdjson = 0";
