/** The parts that tests of webhooks through HTTP share. */
import { expect } from "bun:test";
import type Stripe from "stripe";
import { joined } from "../people/support.ts";
import type { Server } from "../server.ts";
import { startSeconds, stripeEvent } from "./stripe-objects.ts";

/** Sends a body without any header of ours, as webhooks come. */
export function deliver(
  server: Server,
  path: string,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<Response> {
  return server.post(path, undefined, body, headers);
}

/** Delivers events of Stripe's, one after another, each of which must be taken. */
export async function delivered(server: Server, token: string, ...events: readonly object[]): Promise<void> {
  for (const event of events) {
    const response = await deliver(server, `/v1/webhooks/stripe/${token}`, event);
    expect([response.status, await response.json()]).toEqual([200, { received: true }]);
  }
}

/** Events in the order in which they happened. */
export async function eventsOf(server: Server, name: string): Promise<readonly Record<string, unknown>[]> {
  const rows = await server.exported("events", name);
  return rows.sort((one, other) => String(one.timestamp).localeCompare(String(other.timestamp)));
}

/** An event of Stripe's, so many days after the beginning. */
export function at(type: Stripe.Event["type"], day: number, object: object, before?: object) {
  return stripeEvent(type, object, { created: startSeconds + day * 86_400, ...(before && { before }) });
}

/** An organization with settings of Stripe's, and its owner. */
export async function withStripe(server: Server, name: string, settings: object = {}) {
  const token = await server.organization(name);
  const browser = await joined(server, name, "owner", `${name} owner`);
  if (Object.keys(settings).length > 0) {
    await browser.json("PATCH", `/api/stripe?organization=${browser.organization}`, settings);
  }
  return { token, browser };
}
