/** Kills the service with SIGKILL in the middle of an organization's deletion, while the loader is behind: nothing of it comes
 * back, and the other organizations are whole. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { join } from "node:path";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { ownPort, restart } from "../durability/killing.ts";
import { identify, sendAll, track } from "../erasure/support.ts";
import { ownServer } from "../own-server.ts";
import { Server, startRekindle } from "../server.ts";

export const runsOn = { disk: true };

let server: Server = await ownServer(() => server, { env: await ownPort() });

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

async function until(isTrue: () => boolean): Promise<void> {
  while (!isTrue()) await Bun.sleep(5);
}

/** After the deletion was begun. */
const moments = [0, 200, 600, 1_200] as const;

test.each(moments)(
  "a kill after %d ms, while rows still wait, brings nothing back",
  async (extraMs) => {
    const [name, kept] = [`Gone ${extraMs}`, `Kept ${extraMs}`];
    const [token, keptToken] = [await server.organization(name), await server.organization(kept)];
    await server.command("organization", "set", name, "--item-rate-limit", "1000000");
    await sendAll(server, keptToken, items("bob", 500));
    // 20,000 events: the loader is behind when the deletion begins.
    await sendAll(server, token, items("ada", 20_000));
    const deleting = startRekindle(server.dataDir, "organization", "delete", name, "--confirm", name);
    await until(() => beingDeleted().length > 0);
    const [id = 0] = beingDeleted();
    const late = await server.post("/track", token, { userId: "ada", event: "late" });
    expect(late.status).toBe(401);
    await Bun.sleep(extraMs);
    await server.crash();
    await deleting.result;
    server = await restart(server);
    expect((await server.post("/track", token, { userId: "ada", event: "late" })).status).toBe(401);
    await server.ready();
    await until(() => beingDeleted().length === 0);
    expect(await server.exported("events", kept)).toHaveLength(500);
    expect(await server.command("doctor")).toContain(`${kept}: ledger, events and rollups agree`);
    ids.push(id);
  },
  180_000,
);

const ids: number[] = [];

test("no table of the warehouse has a row of them, after all that", async () => {
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
  expect([ids.length, rows]).toEqual([moments.length, []]);
  server = await Server.start({ dataDir: server.dataDir });
});
