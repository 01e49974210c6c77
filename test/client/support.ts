/** What tests of the client share. */
import type { DropReason, Failure, Item, Options } from "../../client/rekindle.ts";
import { Rekindle } from "../../client/rekindle.ts";
import type { Server } from "../server.ts";

/** A client, and what it told the application. */
export class Told {
  readonly client: Rekindle;
  readonly failures: (Failure & { readonly item: Item | undefined })[] = [];
  readonly drops: { readonly item: Item; readonly reason: DropReason }[] = [];

  constructor(options: Options) {
    this.client = new Rekindle({
      maxWaitMs: 20,
      onError: (failure, item) => void this.failures.push({ ...failure, item }),
      onDrop: (item, reason) => void this.drops.push({ item, reason }),
      ...options,
    });
  }
}

/** A user whom nobody doubts. */
export const ada = (userId: string | number = "ada") => ({ userId, email: "ada@example.com" });

/** The events that an organization has, in the order of their time. */
export async function storedEvents(server: Server, organization: string) {
  const rows = await server.exported("events", organization);
  return rows.sort((a, b) => String(a.timestamp).localeCompare(String(b.timestamp)));
}

/** Waits until something holds. */
export async function until(what: string, holds: () => boolean, limitMs = 20_000): Promise<void> {
  const deadlineMs = performance.now() + limitMs;
  while (!holds()) {
    if (performance.now() > deadlineMs) throw new Error(`it did not happen: ${what}`);
    await Bun.sleep(5);
  }
}
