/** Reads fields of billing tools' payloads. A value of another kind counts as absent. */
import { isJsonObject, type JsonObject } from "../../../contract/json.ts";
import { isPlausibleNumber } from "../../calendar/event-time.ts";
import { isInvalid } from "../../intake/admission/json.ts";
import { isGenericId, parseId, readTime } from "../parse.ts";

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

/** The id in a field: a text, or a whole number in digits. */
export function idOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const id = parseId(fieldOf(value, ...keys), "id");
  return isInvalid(id) ? undefined : id;
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

/** A time as tools write it, as an instant: Unix seconds or milliseconds, or ISO 8601. */
export function instantOf(value: unknown, ...keys: readonly string[]): string | undefined {
  const ms = msOf(value, ...keys);
  return ms === undefined ? undefined : new Date(ms).toISOString();
}

/** As `instantOf`, in Unix milliseconds. */
export function msOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const ms = readTime(fieldOf(value, ...keys), "time");
  return isInvalid(ms) ? undefined : ms;
}

/** A number that can be a time in Unix seconds. */
export function secondsOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const seconds = numberOf(value, ...keys);
  return seconds !== undefined && isPlausibleNumber(seconds * 1_000) ? seconds : undefined;
}

/** A time of ISO 8601 in Unix microseconds: it orders changes of one millisecond. */
export function microsecondsOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const ms = msOf(value, ...keys);
  const [, micros = "0"] = /\.\d{3}(\d{1,3})/.exec(textOf(value, ...keys) ?? "") ?? [];
  return ms === undefined ? undefined : ms * 1_000 + Number(micros.padEnd(3, "0"));
}

/** An amount in minor units: an integer, or a text of digits. */
export function amountOf(value: unknown, ...keys: readonly string[]): number | undefined {
  const text = textOf(value, ...keys);
  if (text !== undefined && /^-?\d{1,15}$/.test(text)) return Number(text);
  const number = numberOf(value, ...keys);
  return Number.isInteger(number) ? number : undefined;
}

/** The first id of a user or an account under one of the keys. Ids in custom data are often numbers, and
 * often placeholders. */
export function namedIn(holders: readonly unknown[], keys: readonly string[]): string | undefined {
  for (const holder of holders) {
    for (const key of keys) {
      const id = parseId(fieldOf(holder, key), key);
      if (id !== undefined && !isInvalid(id) && !isGenericId(id)) return id;
    }
  }
  return undefined;
}

/** `month`, or `3 months`. Undefined for a count that is no whole number from 1. */
export function intervalText(unit: string | undefined, count = 1): string | undefined {
  if (unit === undefined || count === 1) return unit;
  return Number.isInteger(count) && count > 0 ? `${count} ${unit}s` : undefined;
}

/** Without undefined values. */
export function defined(properties: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(properties).filter(([, value]) => value !== undefined));
}
