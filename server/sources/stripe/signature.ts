/** Verifies Stripe's signatures: https://docs.stripe.com/webhooks/signature. */
import { createHmac, timingSafeEqual } from "node:crypto";

/** The limit of Stripe's libraries. An older request may be a replay. */
const toleranceMs = 5 * 60_000;
/** Stripe sends one for each valid secret of an endpoint: two while a secret is replaced. */
const maxSignatures = 10;

/**
 * Why a signature is not valid; undefined when it is.
 * @param header `Stripe-Signature`: `t=<seconds>,v1=<hex>,v1=<hex>,v0=…`
 * @param body the bytes as they were sent
 * @param secrets any of them may have signed
 */
export function whyNotSigned(
  header: string | null,
  body: Uint8Array,
  secrets: readonly string[],
  nowMs: number,
): string | undefined {
  if (header === null)
    return "Stripe-Signature is missing: this endpoint accepts only requests that Stripe signed.";
  const fields = header.split(",").map((field) => field.trim());
  const seconds = fields.find((field) => /^t=\d{1,12}$/.test(field))?.slice(2);
  const signatures = fields.filter((field) => /^v1=[0-9a-f]{64}$/.test(field)).slice(0, maxSignatures);
  if (seconds === undefined || signatures.length === 0) {
    return "Stripe-Signature is not valid: it has no time, or no signature of the scheme v1.";
  }
  const sent = signatures.map((field) => Buffer.from(field.slice(3), "hex"));
  const isSigned = secrets
    .map((secret) => createHmac("sha256", secret).update(`${seconds}.`).update(body).digest())
    // Every pair is compared, each in constant time, so that the duration reveals nothing.
    .map((expected) => sent.filter((one) => timingSafeEqual(one, expected)).length)
    .some((matches) => matches > 0);
  if (!isSigned) return "Stripe-Signature is not valid: check the signing secret of this endpoint.";
  // Only a sender with the secret learns about the age.
  const isFresh = nowMs - Number(seconds) * 1_000 <= toleranceMs;
  return isFresh ? undefined : "Stripe-Signature is older than 5 minutes: check the clock of this machine.";
}
