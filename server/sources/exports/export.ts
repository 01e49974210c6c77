/** Translates rows of other tools' exports. The same translations as those of live messages are used where
 * there are any. */
import { type JsonObject, objectOf } from "../../../contract/json.ts";
import type { Zone } from "../../calendar/zone.ts";
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import { parseKeptBody } from "../../intake/admission/kept-values.ts";
import { parseId, readTime } from "../parse.ts";
import type { Translated } from "../source.ts";

/** Facts about an export beside its rows. */
export interface ExportContext {
  /** When the import began. */
  readonly nowMs: number;
  /** The timezone in which the export's times are written, if not UTC. Only Mixpanel's may be. */
  readonly zone: Zone | undefined;
  /** The property, or the type of group, that is the account. */
  readonly accountProperty: string | undefined;
  /** Ids of customers that become users. Only of Stripe. */
  readonly createdCustomers: ReadonlySet<string>;
}

/** Translates a row. */
export type ExportTranslation = (row: JsonObject, context: ExportContext) => Translated;

/** The first of several times that is there. A row without a time is rejected: the time of the import is not
 * its time. */
export function requiredTime(
  ...times: readonly (readonly [field: string, value: unknown])[]
): number | Invalid {
  for (const [field, value] of times) {
    const ms = readTime(value, field);
    if (ms !== undefined) return ms;
  }
  const [[field] = ["timestamp"]] = times;
  return { invalid: `${field} is missing: an imported row needs the time at which it happened.` };
}

/** An id that may be an array of one, as group keys are. */
export function idIn(value: unknown, field: string): string | undefined {
  const id = parseId(Array.isArray(value) ? value[0] : value, field);
  return isInvalid(id) ? undefined : id;
}

/** An object, or the object whose JSON a text is: engines export nested objects as text. Other values are no
 * object, and empty.
 * @returns invalid for a text that is cut off, or that cannot be stored as it is. Such a text may be nested
 * too deep to be walked */
export function objectIn(value: unknown, field: string): { readonly object: JsonObject } | Invalid {
  if (typeof value !== "string" || !value.trimStart().startsWith("{")) return { object: objectOf(value) };
  const parsed = parseKeptBody(Buffer.from(value));
  return isInvalid(parsed)
    ? { invalid: `${field} cannot be read: ${parsed.invalid}` }
    : { object: parsed.value };
}
