/**
 * A real log through the API: the CDNOW purchases of 1997 and 1998. Every customer is identified and every
 * transaction tracked with its date, and all of it is sent twice. Prints the warehouse's contents after each
 * pass (they are equal), and compares the weekly retention table from bitmaps with one from raw events.
 *
 *   cli/with-bun bench/cdnow.ts [path of CDNOW_master.txt]
 */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { retention } from "../server/analytics/retention/retention.ts";
import { msPerDay } from "../server/calendar/zone.ts";
import { openChdbWarehouse } from "../server/warehouse/engine/chdb.ts";
import { Server } from "../test/server.ts";
import { weeklyRetention } from "./history/history.ts";
import { type Facts, RetentionRecount } from "./history/retention-recount.ts";

const organization = "cdnow";
const connections = 64;

interface Purchase {
  readonly customer: string;
  readonly date: string;
  readonly discs: number;
  readonly dollars: number;
}

function readPurchases(file: string): Purchase[] {
  return readFileSync(file, "utf8")
    .split("\n")
    .map((line) => line.trim().split(/\s+/))
    .filter((fields) => /^\d{8}$/.test(fields[1] ?? ""))
    .map(([customer = "", date = "", discs, dollars]) => ({
      customer,
      date: `${date.slice(0, 4)}-${date.slice(4, 6)}-${date.slice(6, 8)}`,
      discs: Number(discs),
      dollars: Number(dollars),
    }));
}

/** Sends every body, `connections` at a time; all must be answered 201. */
async function sendAll(
  server: Server,
  token: string,
  path: string,
  bodies: readonly object[],
): Promise<void> {
  const remaining = bodies.values();
  const send = async () => {
    for (const body of remaining) {
      const response = await server.post(path, token, body);
      if (response.status !== 201)
        throw new Error(`${path} answered ${response.status}: ${await response.text()}`);
      await response.arrayBuffer();
    }
  };
  await Promise.all(Array.from({ length: connections }, send));
}

async function sendLog(server: Server, token: string, purchases: readonly Purchase[]): Promise<number> {
  const startedMs = performance.now();
  const customers = [...new Set(purchases.map(({ customer }) => customer))];
  const users = customers.map((userId) => ({ userId, email: `customer-${userId}@example.com` }));
  await sendAll(server, token, "/identify", users);
  // Equal lines are different purchases: each has an id of its own.
  const events = purchases.map(({ customer, date, discs, dollars }, line) => ({
    userId: customer,
    event: "purchase",
    timestamp: date,
    properties: { discs, dollars },
    messageId: `cdnow-${line + 1}`,
  }));
  await sendAll(server, token, "/track", events);
  return (performance.now() - startedMs) / 1_000;
}

async function counts(server: Server): Promise<string> {
  const [users, events] = await Promise.all([
    server.exported("users", organization),
    server.exported("events", organization),
  ]);
  return `${users.length} users, ${events.length} events`;
}

async function timed<Result>(work: () => Promise<Result>): Promise<{ result: Result; ms: number }> {
  const startedMs = performance.now();
  const result = await work();
  return { result, ms: performance.now() - startedMs };
}

const file = process.argv[2] ?? join(import.meta.dir, "..", "..", "shared", "data", "CDNOW_master.txt");
const purchases = readPurchases(file);
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-cdnow-"));
const server = await Server.start({ dataDir });
const token = await server.organization(organization);
await server.command("organization", "set", organization, "--rate-limit", "1000000");
for (const pass of [1, 2]) {
  const seconds = await sendLog(server, token, purchases);
  console.log(`pass ${pass}: sent in ${seconds.toFixed(1)} s; stored: ${await counts(server)}`);
}
const id = Number(
  (await server.command("organization", "list"))
    .split("\n")
    .find((row) => row.includes(organization))
    ?.split(" ")[0],
);
await server.stop();

const warehouse = await openChdbWarehouse({ folder: join(dataDir, "warehouse") });
const [firstDay, lastDay] = [Date.UTC(1997, 0, 1) / msPerDay, Date.UTC(1998, 5, 30) / msPerDay];
const question = weeklyRetention(id, { fromDay: firstDay, toDay: lastDay, periods: 120 });
await retention(warehouse, question);
const bitmaps = await timed(() => retention(warehouse, question));
const recount = await timed(async () => {
  const events = await warehouse.rows<Facts["events"][number]>(
    "SELECT user, event, toUnixTimestamp64Milli(time) AS timeMs FROM events WHERE organization = {id:UInt32}",
    { id },
  );
  const users = [...new Set(events.map(({ user }) => user))];
  const facts = { timezone: "UTC", users, events, words: [], owners: new Set<number>(), accounts: new Map() };
  return new RetentionRecount(facts, question).cells();
});
const cells = bitmaps.result.cells.map(({ share: _share, low: _low, high: _high, ...cell }) => cell);
const same = Bun.deepEquals(cells, recount.result);
console.log(
  `weekly retention, ${cells.length} cells: ${bitmaps.ms.toFixed(1)} ms from bitmaps, ${recount.ms.toFixed(1)} ms from events, ${same ? "equal" : "DIFFERENT"}`,
);
await warehouse.close();
rmSync(dataDir, { recursive: true, force: true });
process.exit(same ? 0 : 1);
