/** Groups of track rows as intake hands them to a ledger: real rows with message ids that are UUIDs, one commit a group. */
import { readdirSync, readFileSync } from "node:fs";
import type { Ledger } from "../server/ledger/ports/ledger.ts";
import type { Sql } from "../server/ledger/postgres/client/connect.ts";
import { currentSchema, eventRow } from "../server/ledger/rules/warehouse-rows.ts";
import { inboxRows, messageOf, needs, writes } from "../test/ledger/writes.ts";

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

/** Stores so many events in one commit. @returns the bytes of their rows */
export async function storeEvents(node: Node, organization: number, events: number): Promise<number> {
  const keys = Array.from({ length: events }, () => ({
    ...{ organization, kind: "track" as const, messageId: crypto.randomUUID() },
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

/** Processor time of PostgreSQL's processes so far, those that have ended included, in milliseconds. */
export async function databaseCpuMs(sql: Sql): Promise<number> {
  const [own] = await sql<{ pid: number }[]>`SELECT pg_backend_pid() AS pid`;
  const server = statOf(own?.pid ?? 0)?.parent ?? 0;
  const running = readdirSync("/proc")
    .map((name) => statOf(Number(name)))
    .filter((stat) => stat?.parent === server);
  const ended = statOf(server);
  return running.reduce((sum, stat) => sum + (stat?.ownMs ?? 0), (ended?.ownMs ?? 0) + (ended?.endedMs ?? 0));
}

/** Linux counts processor time in hundredths of a second. */
const tickMs = 10;

function statOf(pid: number) {
  if (!Number.isInteger(pid) || pid <= 0) return undefined;
  try {
    const text = readFileSync(`/proc/${pid}/stat`, "utf8");
    // The name stands in brackets and may hold anything.
    const fields = text
      .slice(text.lastIndexOf(")") + 2)
      .split(" ")
      .map(Number);
    const [user = 0, system = 0, endedUser = 0, endedSystem = 0] = fields.slice(11, 15);
    return {
      parent: fields[1] ?? 0,
      ownMs: (user + system) * tickMs,
      endedMs: (endedUser + endedSystem) * tickMs,
    };
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}
