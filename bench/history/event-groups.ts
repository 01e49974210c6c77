/** Groups of track rows as intake hands them to a ledger: real rows with message ids that are UUIDs, one
 * commit a group. */
import type { Ledger } from "../../server/ledger/ledger.ts";
import { currentSchema, eventRow } from "../../server/ledger/rules/warehouse-rows.ts";
import { inboxRows, messageOf, needs, writes } from "../../test/ledger/writes.ts";

/** A ledger as far as groups need it. */
export type Node = Pick<Ledger, "transact" | "organizations" | "close">;

/** One row of 144 bytes: two small properties, an id. */
function lineOf(organization: number, messageId: string, n: number, nowMs: number): string {
  return eventRow({
    organization,
    user: 1 + ((n * 7_919) % 100_000),
    account: 1 + ((n * 7_919) % 12_500),
    event: `event_${n % 60}`,
    timeMs: nowMs - (n % 1_000),
    day: Math.floor(nowMs / 86_400_000),
    receivedAtMs: nowMs,
    id: messageId,
    messageId,
    properties: `{"page":"home","n":${n % 1_000}}`,
  });
}

/** Stores this many events in one commit. @returns the bytes of their rows */
export async function storeEvents(node: Node, organization: number, events: number): Promise<number> {
  const keys = Array.from({ length: events }, () => ({
    organization,
    kind: "track" as const,
    messageId: crypto.randomUUID(),
  }));
  const nowMs = Date.now();
  const lines = keys.map(({ messageId }) =>
    lineOf(organization, messageId, Math.floor(Math.random() * 1e6), nowMs),
  );
  const body = lines.map((line) => `${line}\n`).join("");
  await node.transact(needs({ messageIds: keys }), (stored) =>
    writes(nowMs, {
      messages: keys.map((key) => messageOf(stored, key)),
      inbox: [{ ...inboxRows([]), rows: events, body, schema: currentSchema.events }],
      dayCounts: [{ organization, utcDay: Math.floor(nowMs / 86_400_000), events, checksum: 1 }],
    }),
  );
  return Buffer.byteLength(body);
}
