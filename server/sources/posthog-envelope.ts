/** Reads the envelope of PostHog's events, one or a batch, and finds the token in it. */

import { isJsonObject, type JsonObject } from "../../contract/json.ts";
import { type Invalid, isInvalid } from "../intake/admission/json.ts";

/** The events of a body, and the fields that hold for all of them. */
export interface PosthogEnvelope {
  readonly events: readonly unknown[];
  /** The sender's clock when it sent this. */
  readonly sentAt: unknown;
  /** The times come from an older system, not from the sender's clock. */
  readonly isHistorical: boolean;
}

/** Reads the forms `{batch}` and `{event}`. The newest form, of /i/v1/analytics/events, has `created_at` for
 * `sent_at`. */
export function posthogEnvelope(body: unknown): PosthogEnvelope | Invalid {
  if (!isJsonObject(body)) return { invalid: "body is not an event: send an event, or a batch of them." };
  const { sent_at, created_at, historical_migration: historical } = body;
  const sentAt = sent_at ?? created_at;
  if (body.batch === undefined) return { events: [body], sentAt: sent_at, isHistorical: false };
  if (!Array.isArray(body.batch)) return { invalid: "batch is not an array: send an array of events." };
  return { events: body.batch, sentAt, isHistorical: historical === true };
}

const tokenKeys = ["api_key", "token", "$token"] as const;

function tokenIn(object: JsonObject): string | undefined {
  for (const key of tokenKeys) {
    const value = object[key];
    if (typeof value === "string" && value !== "") return value;
  }
  return undefined;
}

/** The token of an event that is sent without an envelope. */
function tokenOf(event: unknown): string | undefined {
  if (!isJsonObject(event)) return undefined;
  return tokenIn(event) ?? (isJsonObject(event.properties) ? tokenIn(event.properties) : undefined);
}

/** The project token of a body: the envelope's, else that of its events. Undefined when there is none, or
 * more than one. */
export function posthogToken(body: unknown): string | undefined {
  const own = tokenOf(body);
  if (own !== undefined) return own;
  const envelope = posthogEnvelope(body);
  if (isInvalid(envelope)) return undefined;
  const tokens = new Set(envelope.events.map(tokenOf).filter((token) => token !== undefined));
  return tokens.size === 1 ? tokens.values().next().value : undefined;
}
