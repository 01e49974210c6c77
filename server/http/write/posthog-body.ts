/**
 * The forms in which PostHog's clients send their JSON, beside a plain body with Content-Encoding: compressed
 * without a header (`compression=gzip-js`), in base64, and as the field `data` of a form, or any of these in
 * another. Pure.
 */
import { type Invalid, isInvalid } from "../../intake/admission/json.ts";
import { inflate } from "../port/inflate.ts";

/** The form of a body by its address and headers. */
export interface PosthogBodyOptions {
  readonly query: URLSearchParams;
  readonly contentType: string | null;
}

/** A form around base64 around gzip around base64 is the most that any client was seen to send. */
const maxWrappings = 4;

/** The bytes of the JSON object; an array of events becomes a batch. `maxBytes` bounds them, and what is
 * around them. */
export function readPosthogBody(
  bytes: Uint8Array,
  options: PosthogBodyOptions,
  maxBytes: number,
): Uint8Array | Invalid {
  const form = formOf(bytes, options.contentType);
  if (isInvalid(form)) return form;
  const compression = form?.compression ?? options.query.get("compression");
  if (compression === "lz64" || compression === "lz-string") {
    return { invalid: "lz64 compression is not known: set the client to gzip-js, base64 or none." };
  }
  let body = form === undefined ? bytes : form.data;
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

/** The fields of a form that say anything here. */
interface Form {
  readonly data: Uint8Array;
  readonly compression: string | undefined;
}

/** Clients send up to ten. */
const maxFormFields = 300;

function formOf(bytes: Uint8Array, contentType: string | null): Form | Invalid | undefined {
  const isForm = contentType?.toLowerCase().startsWith("application/x-www-form-urlencoded") ?? false;
  const isData = Buffer.from(bytes.subarray(0, 5)).toString("latin1") === "data=";
  if (!isData && (!isForm || looksLikeJson(textStart(bytes)) || isGzip(bytes))) return undefined;
  const fields = formFields(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  if (fields === undefined) {
    return { invalid: `body is a form of more than ${maxFormFields} fields: send the field data.` };
  }
  const data = fields.get("data");
  if (data === undefined) return undefined;
  return { data: decodedData(data), compression: fields.get("compression")?.toString("latin1") };
}

/** The fields `data` and `compression` as they were sent, the first of each; undefined when there are too
 * many fields. A form of 8 MiB may have 4 million, which took 0.6 s to parse. */
function formFields(form: Buffer): ReadonlyMap<string, Buffer> | undefined {
  const fields = new Map<string, Buffer>();
  let start = 0;
  for (let count = 0; start < form.length; count += 1) {
    if (count === maxFormFields) return undefined;
    const next = form.indexOf("&", start);
    const end = next < 0 ? form.length : next;
    for (const name of ["data", "compression"]) {
      const value = start + name.length + 1;
      const isThis = form.toString("latin1", start, value) === `${name}=`;
      if (isThis && !fields.has(name)) fields.set(name, form.subarray(value, end));
    }
    start = end + 1;
  }
  return fields;
}

/** The bytes of a field that is JSON or base64: of base64 a plus sign may stand for itself, elsewhere it is a
 * space. */
function decodedData(sent: Buffer): Buffer {
  const start = percentDecoded(sent.subarray(0, 64), byte.space).toString("latin1");
  return percentDecoded(sent, looksLikeJson(start) ? byte.space : byte.plus);
}

const byte = { space: 0x20, percent: 0x25, plus: 0x2b } as const;

function percentDecoded(sent: Buffer, plus: number): Buffer {
  const decoded = Buffer.allocUnsafe(sent.length);
  let length = 0;
  for (let at = 0; at < sent.length; at += 1) {
    let code = sent[at] ?? 0;
    if (code === byte.plus) code = plus;
    else if (code === byte.percent) {
      const [high, low] = [hexDigit(sent[at + 1]), hexDigit(sent[at + 2])];
      // A per cent sign that begins no code stands for itself.
      if (high >= 0 && low >= 0) {
        code = high * 16 + low;
        at += 2;
      }
    }
    decoded[length] = code;
    length += 1;
  }
  return decoded.subarray(0, length);
}

/** -1 for what is none. */
function hexDigit(code = 0): number {
  if (code >= 0x30 && code <= 0x39) return code - 0x30;
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x66 ? lower - 0x61 + 10 : -1;
}

/** The contents of gzip or base64; undefined when the body is neither. */
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
