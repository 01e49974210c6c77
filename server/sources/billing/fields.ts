/** Reads fields of billing tools' payloads. A value of another kind counts as absent. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";

/** A field of an object; undefined for null, for an absent field, and without an object. */
export function fieldOf(value: unknown, ...keys: readonly string[]): unknown {
  let found = value;
  for (const key of keys) {
    if (!isJsonObject(found) || !Object.hasOwn(found, key)) return undefined;
    found = found[key];
  }
  return found ?? undefined;
}

/** As `fieldOf`, if it is a non-empty string. */
export function textOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const found = fieldOf(value, ...keys);
  return typeof found === "string" && found !== "" ? found : undefined;
}

/** As `fieldOf`, if it is a number that JSON represents exactly. */
export function numberOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const found = fieldOf(value, ...keys);
  return typeof found === "number" && Math.abs(found) <= Number.MAX_SAFE_INTEGER ? found : undefined;
}

/** The objects of an array. */
export function objectsOf(value: unknown, ...keys: readonly string[]): readonly JsonObject[] {
  const found = fieldOf(value, ...keys);
  return Array.isArray(found) ? found.filter(isJsonObject) : [];
}

/** The last second that a Date holds. */
const maxSeconds = 8.64e12;

/** Unix seconds as an instant. */
export function instantOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const seconds = numberOf(value, ...keys);
  if (seconds === undefined || Math.abs(seconds) > maxSeconds) return undefined;
  return new Date(seconds * 1_000).toISOString();
}

/** `month`, or `3 months`. */
export function intervalText(unit: string | undefined, count = 1): string | undefined {
  return unit === undefined || count === 1 ? unit : `${count} ${unit}s`;
}

/** Without undefined values. */
export function defined(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
