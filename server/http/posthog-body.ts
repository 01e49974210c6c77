/**
 * The forms in which PostHog's clients send their JSON, beside a plain body with Content-Encoding: compressed without
 * a header (`compression=gzip-js`), in base64, and as the field `data` of a form, or any of these in another. Pure.
 */
import { type Invalid, isInvalid } from "../intake/json.ts";
import { inflate } from "./inflate.ts";

/** What the address and the headers say of a body. */
export interface PosthogBodySaid {
  readonly query: URLSearchParams;
  readonly contentType: string | null;
}

/** A form around base64 around gzip around base64 is the most that any client was seen to send. */
const maxWrappings = 4;

/** The bytes of the JSON object; an array of events becomes a batch. `maxBytes` bounds them, and what is around them. */
export function readPosthogBody(
  bytes: Uint8Array,
  said: PosthogBodySaid,
  maxBytes: number,
): Uint8Array | Invalid {
  const form = formOf(bytes, said.contentType);
  const compression = form?.get("compression") ?? said.query.get("compression");
  if (compression === "lz64" || compression === "lz-string") {
    return { invalid: "lz64 compression is not known: set the client to gzip-js, base64 or none." };
  }
  // `+` of base64 is white space once a form is decoded.
  const data = form?.get("data");
  let body =
    typeof data === "string" ? Buffer.from(looksLikeJson(data) ? data : data.replace(/ /g, "+")) : bytes;
  for (let wrapping = 0; wrapping < maxWrappings; wrapping += 1) {
    const inner = unwrap(body, maxBytes);
    if (inner === undefined) return asObject(body);
    if (isInvalid(inner)) return inner;
    body = inner;
  }
  return { invalid: `body is wrapped more than ${maxWrappings} times: send JSON, or JSON in gzip.` };
}

function asObject(json: Uint8Array): Uint8Array {
  if (!/^\s*\[/.test(textStart(json))) return json;
  return Buffer.concat([Buffer.from('{"batch":'), json, Buffer.from("}")]);
}

function formOf(bytes: Uint8Array, contentType: string | null): URLSearchParams | undefined {
  const isForm = contentType?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
  const isData = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "data=";
  if (!isData && (!isForm || looksLikeJson(textStart(bytes)) || isGzip(bytes))) return undefined;
  const form = new URLSearchParams(new TextDecoder().decode(bytes));
  return form.has("data") ? form : undefined;
}

/** What is inside gzip or base64; undefined when the body is neither. */
function unwrap(body: Uint8Array, maxBytes: number): Uint8Array | Invalid | undefined {
  if (isGzip(body)) return inflate(body, "gzip", maxBytes);
  if (looksLikeJson(textStart(body))) return undefined;
  const text = Buffer.from(body).toString("latin1").trim();
  const isBase64 = text.length > 0 && /^[A-Za-z0-9+/_-]+={0,2}$/.test(text);
  return isBase64 ? Buffer.from(text, "base64") : undefined;
}

function isGzip(bytes: Uint8Array): boolean {
  return bytes[0] === 0x1f && bytes[1] === 0x8b && bytes[2] === 8;
}

function textStart(bytes: Uint8Array): string {
  return Buffer.from(bytes.subarray(0, 16)).toString("latin1");
}

function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}
