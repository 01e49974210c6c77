/**
 * Admission decides whether a request may be stored, and in which form. It is pure: no clock, no engine, no
 * socket. All other facts about the request come in as `Arrival`. This file has the functions that identify
 * and track share.
 */
import type { TSchema } from "typebox";
import { Compile, type Validator } from "typebox/compile";
import Format from "typebox/format";
import { explainInvalid, wrongField } from "../../../contract/explain.ts";
import type { JsonObject } from "../../../contract/json.ts";
import { limits } from "../../../contract/limits.ts";
import { IdentifyBody } from "../../../contract/write-api.ts";
import type { Zone } from "../../calendar/zone.ts";
import type { Invalid, ParsedBody } from "./json.ts";

/** All that admission knows about a request except its body. */
export interface Arrival {
  readonly organization: number;
  readonly zone: Zone;
  readonly receivedAtMs: number;
  /** The Idempotency-Key header, when one was sent. */
  readonly idempotencyKey: string | null;
  /** Sent with a browser token, which is public. For an existing user, the request changes neither the e-mail
   * nor `isAccountOwner` nor the account. */
  readonly isBrowser?: boolean;
  /** Of a browser token: whether an owner lets pages give users accounts that exist. */
  readonly mayJoin?: boolean;
}

/** Whether an event of a day is dated before the day of its arrival, and was not sent with a browser token,
 * which is public.
 * @param day since 1970-01-01, in the organization's timezone */
export function isOfPast(
  day: number,
  {
    zone,
    receivedAtMs,
    isBrowser = false,
  }: Pick<Arrival, "zone" | "receivedAtMs"> & { readonly isBrowser?: boolean | undefined },
): boolean {
  return !isBrowser && day < zone.dayOf(receivedAtMs);
}

// In this API a `uri` is something that a browser can show as a picture.
Format.Set("uri", isPictureUrl);

// TypeBox's format rejects combining marks in a domain. डाटामेल.भारत contains them.
Format.Set("idn-email", isInternationalEmail);

function isInternationalEmail(text: string): boolean {
  const domain = text.slice(text.lastIndexOf("@"));
  if (/[@.-]\p{M}/u.test(domain)) return false;
  return Format.IsIdnEmail(text.slice(0, text.length - domain.length) + domain.replace(/\p{M}/gu, ""));
}

/** Whether a browser can show this address as a picture. */
export function isPictureUrl(text: string): boolean {
  if (!/^(https?:\/\/|data:image\/)/i.test(text)) return false;
  return URL.canParse(text);
}

/** Compiles a schema of the contract. A compiled schema checks a body in 50 ns, an interpreted one in 2,200
 * ns. */
export function compile<Schema extends TSchema>(schema: Schema): Validator<Record<never, never>, Schema> {
  return Compile(schema);
}

const email = compile(IdentifyBody.properties.email);

/** Whether a text is an e-mail address that /identify takes. */
export function isEmailAddress(text: string): boolean {
  return email.Check(text);
}

/** The message for an invalid body: the wrong field, the problem, and a valid value. */
export function explain(schema: TSchema, validator: Validator, body: JsonObject): Invalid {
  return { invalid: explainInvalid(schema, validator, body) };
}

/** The message for a wrong field. It ends with the values that the schema allows. */
export function wrong(schema: TSchema, path: readonly string[], problem: string): Invalid {
  return { invalid: wrongField(schema, path, problem) };
}

/**
 * An id as the string that is stored. A number is accepted when its text in the body is its decimal string,
 * so 42 and "42" are one user. The numbers 1e21, 1.50 and 9007199254740993 are rejected: JavaScript would
 * write the id of another user.
 */
export function identifier(
  value: string | number,
  body: ParsedBody,
  path: readonly string[],
): string | Invalid {
  if (typeof value === "string") return value;
  const text = String(value);
  if (body.unusualDigits(path) === undefined && !text.includes("e")) return text;
  return {
    invalid: `${path.join(".")} is a number whose digits would change: send it as a string.`,
  };
}

/** The message's own id: from the body, else from the header. An empty header counts as no header. */
export function messageIdOf(sent: string | null | undefined, arrival: Arrival): string | null | Invalid {
  if (typeof sent === "string") return sent;
  const key = arrival.idempotencyKey;
  if (key === null || key === "") return null;
  if (key.length > limits.messageIdCharacters) {
    return {
      invalid: `Idempotency-Key is not valid: send a string of 1 to ${limits.messageIdCharacters} characters.`,
    };
  }
  return key;
}
