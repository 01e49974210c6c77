/** Values in a JSON column of the warehouse, properties or traits, as texts that can be grouped and
 * compared. */

/** Longer values are cut off here: they are shown, not kept. */
export const maxValueCharacters = 256;

/** The parameters that `jsonText` needs: the key, and how it looks in the column's text. */
export function jsonKey(key: string, name = "key"): Readonly<Record<string, string>> {
  return { [name]: key, [`${name}Text`]: `${JSON.stringify(key)}:` };
}

/**
 * The value of the bound key as text: a string as it is, anything else as its JSON; null when the key is
 * absent or null. The text is searched for the key first, as JSON.stringify writes it, so that most rows need
 * no parsing. Queries need `jsonSettings`.
 * @param name of the parameters, where a query has more than one key
 */
export function jsonText(column: string, name = "key"): string {
  return `
    if(position(${column}, {${name}Text:String}) = 0, NULL,
      substringUTF8(JSONExtract(${column}, {${name}:String}, 'Nullable(String)'), 1, ${maxValueCharacters}))`;
}

/** The quick parser, simdjson, takes no integer beyond 2^64: a row with one would have no value at all. */
export const jsonSettings = "SETTINGS allow_simdjson = 0";

/** The text of the trait `name` in a column of traits; empty without one. Queries need `jsonSettings`. */
export function traitName(column: string): string {
  return `if(position(${column}, '"name":') > 0, JSONExtractString(${column}, 'name'), '')`;
}
