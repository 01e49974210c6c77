/** Whether a webhook's request comes from the tool: by its signature, or by its Authorization header. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { WebhookPreset, WebhookSignature } from "../../contract/source-settings.ts";
import {
  headerScheme,
  lemonsqueezyScheme,
  paddleScheme,
  polarScheme,
  type Scheme,
  standardScheme,
  whyNotSigned,
} from "./billing/signature.ts";

interface Request {
  readonly headers: Headers;
  readonly bytes: Uint8Array;
}

/** The verification of a webhook's settings. */
type Verified =
  | { readonly preset: WebhookPreset; readonly secret?: string }
  | { readonly mapping: object; readonly secret?: string; readonly signature?: WebhookSignature };

/** The signature of a preset's tool, or the Authorization header that it sends for a secret. */
const ofPresets: Readonly<Record<WebhookPreset, Scheme | ((secret: string) => string)>> = {
  paddle: paddleScheme,
  lemonsqueezy: lemonsqueezyScheme,
  polar: polarScheme,
  chargebee: (secret) => `Basic ${Buffer.from(secret).toString("base64")}`,
  revenuecat: (secret) => secret,
};

/** Why a request is not the tool's; undefined when it is, or when the webhook has no secret. */
export function whyNotVerified(
  webhook: Verified,
  { headers, bytes }: Request,
  nowMs: number,
): string | undefined {
  const { secret } = webhook;
  const scheme = schemeOf(webhook);
  if (secret === undefined || scheme === undefined) return undefined;
  if (typeof scheme !== "function") return whyNotSigned(scheme, headers, bytes, [secret], nowMs);
  const authorization = headers.get("authorization");
  if (authorization === null)
    return "Authorization is missing: this webhook accepts only requests that have it.";
  return areEqual(authorization, scheme(secret))
    ? undefined
    : "Authorization is not valid: check the secret of this webhook.";
}

function schemeOf(webhook: Verified) {
  if ("preset" in webhook) return ofPresets[webhook.preset];
  const { signature } = webhook;
  if (signature === undefined) return undefined;
  const tool = "the tool";
  return signature === "standard-webhooks" ? standardScheme(tool) : headerScheme(tool, signature);
}

/** Compares hashes in constant time, so that the duration reveals neither content nor length. */
function areEqual(one: string, other: string): boolean {
  const [first, second] = [one, other].map((text) => createHash("sha256").update(text).digest());
  return first !== undefined && second !== undefined && timingSafeEqual(first, second);
}
