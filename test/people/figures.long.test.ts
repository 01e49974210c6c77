/** Figures are answered to a session as to a read key: of the person's organizations, by the rights of their
 * role. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { OpenApi } from "../specification/document.ts";
import { expectError, send, user } from "../specification/support.ts";
import { auditLog, Browser, joined } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server.stop());

test("of the organization that is named, and of no other", async () => {
  const token = await server.organization("Figures");
  await server.organization("Other figures");
  await send(server, "/identify", token, user("u1"));
  const viewer = await joined(server, "Figures", "viewer", "Figures viewer");
  const stranger = await joined(server, "Other figures", "owner", "Stranger");
  await server.exported("users", "Figures");
  const path = `/api/users?organization=${viewer.organization}&limit=5`;
  const answer = await viewer.ask("GET", path);
  expect(answer.headers.get("cache-control")).toBe("no-store");
  expect(await answer.json()).toMatchObject({ total: 1, users: [{ userId: "u1" }] });
  expect((await viewer.ask("GET", `${path}&format=csv`)).headers.get("content-type")).toStartWith("text/csv");
  await expectError(await stranger.ask("GET", path), "not_found", "no such organization");
  const twice = `${path}&organization=${stranger.organization}`;
  await expectError(await viewer.ask("GET", twice), "validation_error", "organization");
  await expectError(await viewer.ask("GET", "/api/users"), "validation_error", "organization");
  await expectError(await new Browser(server).ask("GET", path), "invalid_write_key");
  const key = (await server.command("key", "create", "--organization", "Figures")).trim();
  const asked = await fetch(server.url + path, { headers: { Authorization: `Bearer ${key}` } });
  await expectError(asked, "validation_error", "organization is no parameter");
  // Only intake may set the headers that name the caller to analysis.
  const headers = { "rekindle-rights": "read manage erase", "rekindle-organization": "1" };
  await expectError(
    await viewer.ask("DELETE", `/api/users/u1?organization=${viewer.organization}`, undefined, headers),
    "forbidden",
    "role",
  );
});

test("and what is changed there is noted with the person", async () => {
  const token = await server.organization("Changing");
  await send(server, "/identify", token, user("marker-user"));
  const owner = await joined(server, "Changing", "owner", "Zoë Changing");
  const member = await joined(server, "Changing", "member", "Member Changing");
  const viewer = await joined(server, "Changing", "viewer", "Viewer Changing");
  const at = (path: string) => `${path}organization=${owner.organization}`;
  const change = { churnHorizonDays: 7 };
  await expectError(await viewer.ask("PATCH", at("/api/settings?"), change), "forbidden", "manage");
  await owner.json("PATCH", at("/api/settings?"), change);
  const { versions } = await viewer.json<{ versions: object[] }>("GET", at("/api/settings/history?"));
  expect(versions).toEqual([expect.objectContaining({ changedBy: `Zoë Changing (person ${owner.id})` })]);
  const rule = await member.json<{ id: number }>(
    "POST",
    at("/api/exclusions?kind=email_domain&value=example.org&"),
  );
  await member.json("DELETE", at(`/api/exclusions/${rule.id}?`));
  await expectError(await member.ask("DELETE", at("/api/users/marker-user?")), "forbidden", "erase");
  await owner.json("DELETE", at("/api/users/marker-user?"));
  const log = await auditLog(owner);
  expect(log.slice(0, 4).map(({ action, person }) => [action, person?.name])).toEqual([
    ["user.erased", "Zoë Changing"],
    ["exclusion.removed", "Member Changing"],
    ["exclusion.added", "Member Changing"],
    ["settings.changed", "Zoë Changing"],
  ]);
  expect(log[3]?.detail).toMatchObject({ from: { churnHorizonDays: 28 }, to: { churnHorizonDays: 7 } });
  expect(JSON.stringify(log)).not.toContain("marker-user");
});

test("a change with a read key is noted with the key", async () => {
  await server.organization("Keyed");
  const owner = await joined(server, "Keyed", "owner", "Keyed owner");
  const key = (await server.command("key", "create", "--organization", "Keyed", "--right", "manage")).trim();
  const response = await fetch(`${server.url}/api/settings`, {
    method: "PATCH",
    headers: { Authorization: `Bearer ${key}`, "Content-Type": "application/json" },
    body: JSON.stringify({ weekStart: 7 }),
  });
  expect(response.status).toBe(200);
  const [entry] = await auditLog(owner);
  expect(entry).toMatchObject({ action: "settings.changed", person: null });
  expect(entry?.detail.by).toMatch(/^read key \d+$/);
});

test("people are served while analysis is away", async () => {
  await server.organization("Away");
  const owner = await joined(server, "Away", "owner", "Away owner");
  const pid = server.analysisPid();
  if (pid === undefined) throw new Error("analysis does not run");
  process.kill(pid, "SIGKILL");
  await owner.json("GET", "/api/session");
  const at = `?organization=${owner.organization}`;
  await owner.json("GET", `/api/organization${at}`);
  await owner.json("POST", `/api/tokens${at}`, { name: "while it is away" }, 201);
  await server.ready();
  await owner.json("GET", `/api/users${at}`);
});

test("every route of people is in the OpenAPI document, with the session's cookie", async () => {
  const { document } = await OpenApi.of(server);
  const text = JSON.stringify(document);
  expect(text).toContain('"in":"cookie","name":"rekindle_session"');
  const described = (path: string, method: string): unknown =>
    (document.paths as Record<string, Record<string, unknown>>)[path]?.[method];
  for (const [method, path] of [
    ["post", "/api/claim"],
    ["get", "/api/session"],
    ["delete", "/api/sessions"],
    ["patch", "/api/members/{id}"],
    ["get", "/api/audit-log"],
    ["delete", "/api/read-keys/{id}"],
  ] as const) {
    expect([path, described(path, method)]).toEqual([
      path,
      expect.objectContaining({ responses: expect.anything() }),
    ]);
  }
  expect(described("/api/users", "get")).toMatchObject({ security: [{ readKey: [] }, { session: [] }] });
});
