/** Signatures of webhooks, by Standard Webhooks 1.0.0 (github.com/standard-webhooks/standard-webhooks). */
import { createHmac } from "node:crypto";

/** The parts of a message that a receiver verifies. */
export interface SignedMessage {
  /** One id for all attempts to deliver the message. It has no dot. */
  readonly id: string;
  /** In whole seconds since 1970. */
  readonly sentAtS: number;
  readonly body: string;
}

const prefix = "whsec_";
const keyBytes = 32;

/** A new secret, as receivers are given it. @param random as many random bytes as it is asked for */
export function newSecret(random: (bytes: number) => Uint8Array): string {
  return prefix + Buffer.from(random(keyBytes)).toString("base64");
}

/** The headers of a message. @param secrets one, or two while a secret is being replaced: a receiver may know
 * either */
export function signedHeaders(message: SignedMessage, secrets: readonly string[]): Record<string, string> {
  const { id, sentAtS, body } = message;
  const content = `${id}.${sentAtS}.${body}`;
  return {
    "content-type": "application/json",
    "webhook-id": id,
    "webhook-timestamp": String(sentAtS),
    "webhook-signature": secrets.map((secret) => `v1,${signature(secret, content)}`).join(" "),
  };
}

function signature(secret: string, content: string): string {
  const key = Buffer.from(secret.slice(prefix.length), "base64");
  return createHmac("sha256", key).update(content).digest("base64");
}
