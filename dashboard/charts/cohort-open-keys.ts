/** The groups of a grid that are open, in the page's address: their keys with commas between. */

/** The keys in a text of the address. A text that is no key opens nothing. */
export function openKeysIn(text: string): ReadonlySet<string> {
  return new Set(text === "" ? [] : text.split(",").map(decoded));
}

/** Keys as the address has them: only commas and percent signs are escaped, so that a link can be read. */
export function openKeysText(keys: Iterable<string>): string {
  return [...keys].map((key) => key.replace(/[%,]/g, encodeURIComponent)).join(",");
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
