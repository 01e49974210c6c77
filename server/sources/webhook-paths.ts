/**
 * Paths into JSON in mappings: keys with dots between, places of an array in brackets. A path starts at the
 * item.
 *
 *   `user.id`, `items[0].name`, `data["first name"]`: below the item
 *   `$`, `$.account.id`: from the whole body
 */
import { isJsonObject } from "../../contract/json.ts";

export interface JsonPath {
  readonly isFromBody: boolean;
  /** Keys of objects, and places of arrays. */
  readonly steps: readonly (string | number)[];
}

/** The values that paths start at. */
export interface PathRoots {
  readonly body: unknown;
  readonly item: unknown;
}

const step = /\.?([^.[\]"\s]+)|\[(?:(\d{1,4})|("(?:[^"\\]|\\.)*"))\]/y;

/** Reads a path; undefined when it is none. */
export function parsePath(text: string): JsonPath | undefined {
  const isFromBody = /^\$(?=$|[.[])/.test(text);
  const steps: (string | number)[] = [];
  let at = isFromBody ? 1 : 0;
  if (text.length === 0) return undefined;
  while (at < text.length) {
    step.lastIndex = at;
    const match = step.exec(text);
    if (match === null) return undefined;
    const [whole, key, place, quoted] = match;
    const isFirst = at === 0;
    // A dot is allowed only before a key that is not the first.
    if (key !== undefined && whole.startsWith(".") === isFirst) return undefined;
    const name = key ?? (quoted === undefined ? undefined : unquoted(quoted));
    if (name === undefined && place === undefined) return undefined;
    steps.push(name ?? Number(place));
    at += whole.length;
  }
  return { isFromBody, steps };
}

/** The value at a path; undefined if there is none. Inherited properties are not read. */
export function readPath({ isFromBody, steps }: JsonPath, { body, item }: PathRoots): unknown {
  let value = isFromBody ? body : item;
  for (const next of steps) {
    if (typeof next === "number") value = Array.isArray(value) ? value[next] : undefined;
    else value = isJsonObject(value) && Object.hasOwn(value, next) ? value[next] : undefined;
    if (value === undefined) return undefined;
  }
  return value;
}

function unquoted(text: string): string | undefined {
  try {
    return String(JSON.parse(text));
  } catch {
    return undefined;
  }
}
