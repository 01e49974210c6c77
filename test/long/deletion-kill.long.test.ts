/** Kills the service with SIGKILL at each step of an organization's deletion, while the loader is behind:
 * nothing of it comes back, and the other organizations are whole. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import type { HoldPoint } from "../durability/hold-points.ts";
import { heldServer, killAtEach } from "../durability/holds.ts";
import { ownPort, restart } from "../durability/killing.ts";
import { identify, sendAll, track } from "../erasure/support.ts";
import { ownServer } from "../own-server.ts";
import { quick } from "../served-as.ts";
import { Server, startRekindle } from "../server.ts";
import { until } from "../until.ts";

const as = { entry: heldServer, time: quick };
let server: Server = await ownServer(() => server, { ...as, env: await ownPort() });

const items = (userId: string, count: number) => [
  identify(userId, { account: { id: "a", name: "A" } }),
  ...Array.from({ length: count }, (_, index) =>
    track(userId, `e${index % 5}`, new Date(Date.UTC(2026, 3, 1) + index * 60_000).toISOString()),
  ),
];

/** The organizations that are being deleted, read from the ledger's file beside the running server. */
function beingDeleted(): number[] {
  const db = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  db.run("PRAGMA busy_timeout = 5000");
  const rows = db
    .query<{ id: number }, []>("SELECT id FROM organizations WHERE deletion_upto_inbox_id IS NOT NULL")
    .all();
  db.close();
  return rows.map(({ id }) => id);
}

const points: readonly HoldPoint[] = [
  // Rows still wait for the loader, and are being loaded.
  { step: "within", of: "INSERT INTO events" },
  { step: "before", of: "inbox.finish" },
  // The first table loses its rows, and some have lost them.
  { step: "within", of: "ALTER TABLE" },
  { step: "after", of: "ALTER TABLE", count: 5 },
  { step: "before", of: "deletions.finish" },
  { step: "arrived", of: "deletions.finish" },
  { step: "after", of: "deletions.finish" },
];
const [name, kept] = ["Gone", "Kept"];
const ids: number[] = [];

test("kills at each step of a deletion, first while rows still wait, bring nothing back", async () => {
  const [token, keptToken] = [await server.organization(name), await server.organization(kept)];
  await server.command("organization", "set", name, "--item-rate-limit", "1000000");
  await sendAll(server, keptToken, items("bob", 500));
  await server.exported("events", kept);
  server = await killAtEach(
    server,
    {
      points,
      begin: async () => {
        // The loader is held at the first of them, so the others wait when the deletion begins.
        await sendAll(server, token, items("ada", 5_000));
        await startRekindle(server.dataDir, "organization", "delete", name, "--confirm", name).result;
      },
      begun: async () => {
        if (ids.length > 0) return;
        ids.push(...(await until("the deletion has begun", beingDeleted, (found) => found.length > 0)));
        const late = await server.post("/track", token, { userId: "ada", event: "late" });
        expect(late.status).toBe(401);
      },
      afterKill: async (running) => {
        expect((await running.post("/track", token, { userId: "ada", event: "late" })).status).toBe(401);
      },
    },
    (before) => restart(before, as),
  );
  await server.ready();
  await until("the deletion is done", () => beingDeleted().length === 0);
  expect(await server.exported("events", kept)).toHaveLength(500);
  expect(await server.command("doctor")).toContain(`${kept}: ledger, events and rollups agree`);
});

test("no table of the warehouse has a row of it, after all that", async () => {
  await server.kill("SIGTERM");
  const warehouse = await openChdbWarehouse({ folder: join(server.dataDir, "warehouse") });
  const tables = await warehouse.rows<{ table: string }>(
    "SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND name = 'organization'",
  );
  const rows: unknown[] = [];
  for (const { table } of tables) {
    const [found] = await warehouse.rows<{ rows: number }>(
      `SELECT count() AS rows FROM ${table} WHERE organization IN {ids:Array(UInt32)}`,
      { ids },
    );
    if (found?.rows !== 0) rows.push([table, found?.rows]);
  }
  await warehouse.close();
  expect([ids.length, rows]).toEqual([1, []]);
  server = await Server.start({ dataDir: server.dataDir });
});
