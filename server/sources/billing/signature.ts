/**
 * Verifies signatures of webhooks: HMAC-SHA256 over the time and the body.
 * https://docs.stripe.com/webhooks/signature, https://developer.paddle.com/webhooks/about/signature-verification
 */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The signature header of a tool. */
interface Scheme {
  readonly tool: string;
  readonly header: string;
  /** Between the header's fields. */
  readonly separator: string;
  readonly time: RegExp;
  readonly signature: RegExp;
  readonly signatureName: string;
  /** Between the time and the body in the signed text. */
  readonly joint: string;
}

/** `t=<seconds>,v1=<hex>,v1=<hex>,v0=…` */
export const stripeScheme: Scheme = {
  ...{ tool: "Stripe", header: "Stripe-Signature", separator: ",", joint: "." },
  ...{ time: /^t=(\d{1,12})$/, signature: /^v1=([0-9a-f]{64})$/, signatureName: "v1" },
};

/** `ts=<seconds>;h1=<hex>;h1=<hex>` */
export const paddleScheme: Scheme = {
  ...{ tool: "Paddle", header: "Paddle-Signature", separator: ";", joint: ":" },
  ...{ time: /^ts=(\d{1,12})$/, signature: /^h1=([0-9a-f]{64})$/, signatureName: "h1" },
};

/** The limit of Stripe's libraries. An older request may be a replay, and one of the future could be replayed until then. Paddle's libraries allow 5 seconds, which a slow network
 * exceeds. */
const toleranceMs = 5 * 60_000;
/** The tools send one for each valid secret of an endpoint: two while a secret is replaced. */
const maxSignatures = 10;

/**
 * Why a signature is not valid; undefined when it is.
 * @param body the bytes as they were sent
 * @param secrets any of them may have signed
 */
export function whyNotSigned(
  { tool, header: name, separator, time, signature, signatureName, joint }: Scheme,
  headers: Headers,
  body: Uint8Array,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  const header = headers.get(name);
  if (header === null) {
    return `${name} is missing: this endpoint accepts only requests that ${tool} signed.`;
  }
  const fields = header.split(separator).map((field) => field.trim());
  const matches = (pattern: RegExp) => fields.flatMap((field) => pattern.exec(field)?.[1] ?? []);
  const [seconds] = matches(time);
  const signatures = matches(signature).slice(0, maxSignatures);
  if (seconds === undefined || signatures.length === 0) {
    return `${name} is not valid: it has no time, or no signature of the scheme ${signatureName}.`;
  }
  const sent = signatures.map((hex) => Buffer.from(hex, "hex"));
  const isSigned = secrets
    .map((secret) => createHmac("sha256", secret).update(`${seconds}${joint}`).update(body).digest())
    // Every pair is compared, each in constant time, so that the duration reveals nothing.
    .map((expected) => sent.filter((one) => timingSafeEqual(one, expected)).length)
    .some((found) => found > 0);
  if (!isSigned) return `${name} is not valid: check the signing secret of this endpoint.`;
  // Only a sender with the secret learns about the age.
  const ageMs = nowMs - Number(seconds) * 1_000;
  if (Math.abs(ageMs) <= toleranceMs) return undefined;
  const why = ageMs > 0 ? "older than 5 minutes" : "more than 5 minutes in the future";
  return `${name} is ${why}: check the clock of this machine.`;
}
