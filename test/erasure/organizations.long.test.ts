/** Deleting an organization through HTTP: none of its data is left, and none comes back. */
import { Database } from "bun:sqlite";
import { expect, test } from "bun:test";
import { createConnection } from "node:net";
import { join } from "node:path";
import { openChdbWarehouse } from "../../server/warehouse/engine/chdb.ts";
import { ownServer } from "../own-server.ts";
import { joined } from "../people/support.ts";
import { rekindle, Server } from "../server.ts";
import { expectError } from "../specification/support.ts";
import { until } from "../until.ts";
import { api, erasingKey, filesWith, identify, removeOldParts, sendAll, track } from "./support.ts";

let server: Server = await ownServer(() => server);

const account = { id: "MARKER-account", name: "MARKER-name" };

function items(): readonly object[] {
  return ["MARKER-ada", "MARKER-bob"].flatMap((userId) => [
    identify(userId, { account, properties: { secret: "MARKER-trait" } }),
    ...["2026-05-04", "2026-05-05"].map((day) => track(userId, "MARKER_event", `${day}T10:00:00Z`)),
  ]);
}

/** Rows of every table of the ledger that has a column of organizations. */
function ledgerRows(id: number): Record<string, number> {
  const ledger = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  ledger.run("PRAGMA busy_timeout = 5000");
  const tables = ledger
    .query<{ name: string; column: string }, []>(
      `SELECT m.name AS name, c.name AS column FROM sqlite_schema AS m, pragma_table_info(m.name) AS c
       WHERE m.type = 'table' AND (c.name = 'organization' OR m.name = 'organizations' AND c.name = 'id')`,
    )
    .all();
  expect(tables.length).toBeGreaterThan(25);
  const found = tables.flatMap(({ name, column }) => {
    const { rows } = ledger
      .query<{ rows: number }, [number]>(`SELECT count(*) AS rows FROM ${name} WHERE ${column} = ?`)
      .get(id) ?? { rows: 0 };
    return rows === 0 ? [] : [[name, rows] as const];
  });
  ledger.close();
  return Object.fromEntries(found);
}

function idOf(name: string): number {
  const ledger = new Database(join(server.dataDir, "ledger.sqlite"), { readonly: true });
  const row = ledger.query<{ id: number }, [string]>("SELECT id FROM organizations WHERE name = ?").get(name);
  ledger.close();
  return row?.id ?? 0;
}

test("by command: no row and no byte of it is left, others stay, and its id is not used again", async () => {
  const name = "MARKER organization";
  const [token, key] = [await server.organization(name), await erasingKey(server, name)];
  const kept = await server.organization("Kept");
  for (const each of [token, kept]) await sendAll(server, each, items());
  await server.command("exclude", "add", "--organization", name, "--user", "MARKER-ada");
  await server.exported("events", name);
  await server.command("score", "--organization", name);
  await expectError(await server.post("/track", token, { userId: "MARKER-x", event: "a" }), "not_found");
  await server.command("warnings", "--organization", name);
  const id = idOf(name);
  expect(Object.keys(ledgerRows(id)).length).toBeGreaterThan(8);

  const wrong = await rekindle(server.dataDir, "organization", "delete", name, "--confirm", "another");
  expect([wrong.exitCode, idOf(name)]).toEqual([1, id]);
  await server.command("organization", "delete", name, "--confirm", name);

  await expectError(
    await server.post("/track", token, { userId: "MARKER-ada", event: "a" }),
    "invalid_write_key",
  );
  await expectError(await api(server, key, "/api/users"), "invalid_write_key");
  expect(ledgerRows(id)).toEqual({});
  expect(await server.command("organization", "list")).not.toContain("MARKER");
  const gone = await rekindle(server.dataDir, "organization", "delete", name, "--confirm", name);
  expect(gone.exitCode).toBe(1);
  const before = await server.exported("events", "Kept");
  expect(before).toHaveLength(4);
  await server.organization(name);
  expect(idOf(name)).toBeGreaterThan(id);
  expect(await server.command("doctor")).toContain("Kept: ledger, events and rollups agree");

  await server.command("organization", "delete", name, "--confirm", name);
  await server.command("organization", "delete", "Kept", "--confirm", "Kept");
  await server.kill("SIGTERM");
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER")).toEqual([]);
  const warehouse = await openChdbWarehouse({ folder: join(server.dataDir, "warehouse") });
  const tables = await warehouse.rows<{ table: string }>(
    "SELECT DISTINCT table FROM system.columns WHERE database = currentDatabase() AND name = 'organization'",
  );
  expect(tables.length).toBeGreaterThan(10);
  for (const { table } of tables) {
    const [row] = await warehouse.rows<{ rows: number }>(
      `SELECT count() AS rows FROM ${table} WHERE organization = {organization:UInt32}`,
      { organization: id },
    );
    expect([table, row?.rows]).toEqual([table, 0]);
  }
  await warehouse.close();
  server = await Server.start({ dataDir: server.dataDir });
  await server.ready();
});

test("by its owner, who names it, and keeps a sign-in; nobody else may", async () => {
  const name = "Deleted by page";
  const token = await server.organization(name);
  await sendAll(server, token, items());
  const owner = await joined(server, name, "owner", "Olga Owner");
  const member = await joined(server, name, "member", "Mia Member");
  const path = `/api/organization?organization=${owner.organization}`;
  const named = `${path}&name=${encodeURIComponent(name)}`;
  expect((await member.ask("DELETE", named)).status).toBe(403);
  expect((await owner.ask("DELETE", `${path}&name=Deleted`)).status).toBe(400);
  const deleted = await owner.ask("DELETE", named);
  expect([deleted.status, await deleted.text()]).toEqual([204, ""]);
  await expectError(
    await server.post("/track", token, { userId: "MARKER-ada", event: "a" }),
    "invalid_write_key",
  );
  expect((await owner.ask("GET", path)).status).toBe(404);
  const session = (await (await owner.ask("GET", "/api/session")).json()) as { organizations: unknown[] };
  expect(session.organizations).toEqual([]);
  await until(
    "no row is left",
    () => Object.keys(ledgerRows(owner.organization)),
    ({ length }) => length === 0,
  );
});

test("a request that was under way is answered 401, and writes nothing", async () => {
  const name = "Under way";
  const token = await server.organization(name);
  await sendAll(server, token, items());
  const { hostname, port } = new URL(server.url);
  const body = JSON.stringify({ userId: "MARKER-late", email: "late@example.com" });
  const socket = createConnection({ host: hostname, port: Number(port) });
  const head = `POST /identify HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Basic ${token}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n`;
  let answer = "";
  socket.on("data", (data) => {
    answer += data.toString();
  });
  const closed = new Promise((resolve) => socket.on("close", resolve));
  socket.write(head + body.slice(0, 10));
  // The token was accepted by now.
  await server.post("/track", token, { userId: "MARKER-ada", event: "a" });
  const id = idOf(name);
  await server.command("organization", "delete", name, "--confirm", name);
  socket.write(body.slice(10));
  await closed;
  expect(answer).toStartWith("HTTP/1.1 401");
  expect(ledgerRows(id)).toEqual({});
});

test("the demonstration goes, and can be made again", async () => {
  await server.demo("--users", "40", "--weeks", "4");
  await server.command("organization", "delete", "Demo", "--confirm", "Demo");
  expect(await server.command("organization", "list")).not.toContain("Demo");
  await server.demo("--users", "40", "--weeks", "4");
  expect(await server.command("doctor")).toContain("Demo: ledger, events and rollups agree");
});
