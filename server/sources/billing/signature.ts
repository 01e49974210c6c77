/**
 * Verifies signatures of webhooks: an HMAC over the body, and in most schemes over the time before it.
 * https://docs.stripe.com/webhooks/signature,
 * https://developer.paddle.com/webhooks/about/signature-verification,
 * https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
 */
import { createHmac, timingSafeEqual } from "node:crypto";
import type { HeaderSignature } from "../../../contract/source-settings.ts";

/** How a tool signs. */
export interface Scheme {
  readonly tool: string;
  /** The header with the signatures. */
  readonly header: string;
  readonly algorithm: HeaderSignature["algorithm"];
  /** Keys that a secret may stand for. */
  readonly keysOf: (secret: string) => readonly (string | Buffer)[];
  /** Reads the headers. Undefined: they have no time, or no signature of the scheme. */
  readonly read: (header: string, headers: Headers) => Sent | undefined;
  /** What such headers lack, for the error. */
  readonly lacks: string;
}

/** What headers say. */
interface Sent {
  /** Unix seconds; undefined in a scheme without a time, where a replay is told by its message id alone. */
  readonly seconds?: string;
  /** The signed text before the body. */
  readonly before: string;
  readonly signatures: readonly Buffer[];
}

const asText = (secret: string) => [secret];

/** A header of fields, e.g. `t=<seconds>,v1=<hex>,v1=<hex>,v0=…`. */
function fieldsScheme(
  tool: string,
  [timeName, signatureName]: readonly [string, string],
  [separator, joint]: readonly [string, string],
): Scheme {
  return {
    tool,
    header: `${tool}-Signature`,
    algorithm: "sha256",
    keysOf: asText,
    lacks: `it has no time, or no signature of the scheme ${signatureName}`,
    read: (header) => {
      const fields = header.split(separator).map((field) => field.trim().split("="));
      const of = (wanted: string) => fields.flatMap(([name, value = ""]) => (name === wanted ? [value] : []));
      const seconds = of(timeName).find((text) => unixSeconds.test(text));
      const signatures = decoded(of(signatureName), "hex", hashBytes.sha256);
      return seconds === undefined ? undefined : { seconds, before: `${seconds}${joint}`, signatures };
    },
  };
}

const unixSeconds = /^\d{1,12}$/;

/** `t=<seconds>,v1=<hex>,v1=<hex>,v0=…` */
export const stripeScheme = fieldsScheme("Stripe", ["t", "v1"], [",", "."]);

/** `ts=<seconds>;h1=<hex>;h1=<hex>` */
export const paddleScheme = fieldsScheme("Paddle", ["ts", "h1"], [";", ":"]);

/** Standard Webhooks: the headers `webhook-id`, `webhook-timestamp`, and `webhook-signature: v1,<base64>
 * v1,<base64>`. */
export function standardScheme(tool: string, keysOf: Scheme["keysOf"] = standardKeys): Scheme {
  return {
    tool,
    header: "webhook-signature",
    algorithm: "sha256",
    keysOf,
    lacks: "webhook-id or webhook-timestamp is missing, or it has no signature of the version v1",
    read: (header, headers) => {
      const [id, seconds] = [headers.get("webhook-id"), headers.get("webhook-timestamp")];
      if (id === null || seconds === null || !unixSeconds.test(seconds)) return undefined;
      const versioned = header.split(" ").flatMap((text) => (text.startsWith("v1,") ? [text.slice(3)] : []));
      const signatures = decoded(versioned, "base64", hashBytes.sha256);
      return { seconds, before: `${id}.${seconds}.`, signatures };
    },
  };
}

const standardPrefix = "whsec_";

/** The key is what the secret encodes in base64. Some tools sign with the secret as it stands. */
function standardKeys(secret: string): readonly (string | Buffer)[] {
  const isPrefixed = secret.startsWith(standardPrefix);
  const encoded = isPrefixed ? secret.slice(standardPrefix.length) : secret;
  const isBase64 = /^[A-Za-z0-9+/]+={0,2}$/.test(encoded) && encoded.length % 4 === 0;
  return [...(isBase64 ? [Buffer.from(encoded, "base64")] : []), ...(isPrefixed && isBase64 ? [] : [secret])];
}

/** Polar signs by Standard Webhooks, with the secret as it stands. */
export const polarScheme = standardScheme("Polar", asText);

/** A header with nothing but signatures of the body, as GitHub's `X-Hub-Signature-256: sha256=<hex>`. */
export function headerScheme(
  tool: string,
  { header, algorithm, encoding, prefix = "" }: HeaderSignature,
): Scheme {
  return {
    tool,
    header,
    algorithm,
    keysOf: asText,
    lacks: `it has no ${algorithm} in ${encoding}${prefix === "" ? "" : ` after ${prefix}`}`,
    read: (sent) => {
      const texts = sent.split(/[\s,]+/).filter((text) => text.startsWith(prefix));
      const own = texts.map((text) => text.slice(prefix.length));
      return { before: "", signatures: decoded(own, encoding, hashBytes[algorithm]) };
    },
  };
}

/** `X-Signature: <hex>` */
export const lemonsqueezyScheme = headerScheme("LemonSqueezy", {
  header: "X-Signature",
  algorithm: "sha256",
  encoding: "hex",
});

const hashBytes = { sha1: 20, sha256: 32, sha512: 64 } as const;

/** The tools send one for each valid secret of an endpoint: two while a secret is replaced. */
const maxSignatures = 10;

/** Texts of whole hashes as bytes. */
function decoded(texts: readonly string[], encoding: "hex" | "base64", bytes: number): readonly Buffer[] {
  const isEncoded = encoding === "hex" ? /^[0-9a-f]+$/i : /^[A-Za-z0-9+/]+={0,2}$/;
  const characters = encoding === "hex" ? bytes * 2 : Math.ceil(bytes / 3) * 4;
  return texts
    .filter((text) => text.length === characters && isEncoded.test(text))
    .slice(0, maxSignatures)
    .map((text) => Buffer.from(text, encoding))
    .filter(({ length }) => length === bytes);
}

/** The limit of Stripe's libraries. An older request may be a replay, and one of the future could be replayed
 * until then. Paddle's libraries allow 5 seconds, which a slow network exceeds. */
const toleranceMs = 5 * 60_000;

/**
 * Why a signature is not valid; undefined when it is.
 * @param body the bytes as they were sent
 * @param secrets any of them may have signed
 */
export function whyNotSigned(
  { tool, header: name, algorithm, keysOf, read, lacks }: Scheme,
  headers: Headers,
  body: Uint8Array,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  const header = headers.get(name);
  if (header === null) {
    return `${name} is missing: this endpoint accepts only requests that ${tool} signed.`;
  }
  const sent = read(header, headers);
  if (sent === undefined || sent.signatures.length === 0) return `${name} is not valid: ${lacks}.`;
  const { seconds, before, signatures } = sent;
  const isSigned = secrets
    .flatMap(keysOf)
    .map((key) => createHmac(algorithm, key).update(before).update(body).digest())
    // Every pair is compared, each in constant time, so that the duration reveals nothing.
    .map((expected) => signatures.filter((one) => timingSafeEqual(one, expected)).length)
    .some((found) => found > 0);
  if (!isSigned) return `${name} is not valid: check the signing secret of this endpoint.`;
  // Only a sender with the secret learns about the age.
  const ageMs = seconds === undefined ? 0 : nowMs - Number(seconds) * 1_000;
  if (Math.abs(ageMs) <= toleranceMs) return undefined;
  const why = ageMs > 0 ? "older than 5 minutes" : "more than 5 minutes in the future";
  return `${name} is ${why}: check the clock of this machine.`;
}
