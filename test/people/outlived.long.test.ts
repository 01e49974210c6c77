/** Invitations of a former owner end with the role. A session cookie of doubtful origin is no session. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { Browser, codeIn, joined, password } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ role: "intake" });
  await server.organization("Outlived");
});
afterAll(() => server.stop());

test("a former owner cannot return by an invitation to their own address", async () => {
  const stays = await joined(server, "Outlived", "owner", "Stays");
  for (const [index, end] of (["removed", "demoted"] as const).entries()) {
    const goes = await joined(server, "Outlived", "owner", `Goes${index}`);
    const at = (path: string) => `${path}?organization=${goes.organization}`;
    const invitation = { email: `again${index}@example.com`, role: "owner" };
    const { link } = await goes.json<{ link: string }>("POST", at("/api/invitations"), invitation, 201);
    const { members } = await stays.json<{ members: { id: number; name: string }[] }>(
      "GET",
      at("/api/members"),
    );
    const id = members.find(({ name }) => name === `Goes${index}`)?.id;
    if (end === "removed") expect((await stays.ask("DELETE", at(`/api/members/${id}`))).status).toBe(204);
    else await stays.json("PATCH", at(`/api/members/${id}`), { role: "viewer" });
    const accept = { code: codeIn(link, "invitation"), name: "Again", password };
    const { status } = await new Browser(server).ask("POST", "/api/invitations/accept", accept);
    expect([end, status]).toEqual([end, 404]);
  }
});

test("a read key does what its maker may do now, and no more", async () => {
  const stays = await joined(server, "Outlived", "owner", "Remains");
  const maker = await joined(server, "Outlived", "owner", "Maker");
  const at = (path: string) => `${path}?organization=${maker.organization}`;
  const wanted = { name: "warehouse", rights: ["erase", "manage"] };
  const { readKey: key } = await maker.json<{ readKey: string }>("POST", at("/api/read-keys"), wanted, 201);
  const Authorization = `Bearer ${key}`;
  const statuses = async () => {
    const headers = { Authorization, "Content-Type": "application/json" };
    const segment = { kind: "users", name: crypto.randomUUID(), filter: { state: "active" } };
    const read = await fetch(`${server.url}/api/segments`, { headers });
    const made = await fetch(`${server.url}/api/segments`, {
      method: "POST",
      headers,
      body: JSON.stringify(segment),
    });
    return [read.status, made.status];
  };
  expect(await statuses()).toEqual([200, 201]);
  await stays.json("PATCH", at(`/api/members/${maker.id}`), { role: "viewer" });
  expect(await statuses()).toEqual([200, 403]);
  await stays.json("PATCH", at(`/api/members/${maker.id}`), { role: "member" });
  expect(await statuses()).toEqual([200, 201]);
  expect((await stays.ask("DELETE", at(`/api/members/${maker.id}`))).status).toBe(204);
  expect(await statuses()).toEqual([401, 401]);
});

test("a request with two session cookies has none: another host of the domain may have set one", async () => {
  const sessionOf = (cookie: string) => fetch(`${server.url}/api/session`, { headers: { Cookie: cookie } });
  const accepted = { email: "both@example.com", role: "viewer" };
  const owner = await joined(server, "Outlived", "owner", "Two");
  const at = `/api/invitations?organization=${owner.organization}`;
  const { link } = await owner.json<{ link: string }>("POST", at, accepted, 201);
  const response = await fetch(`${server.url}/api/invitations/accept`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ code: codeIn(link, "invitation"), name: "Two", password }),
  });
  const cookie = response.headers.get("set-cookie")?.split(";")[0] ?? "";
  expect((await sessionOf(cookie)).status).toBe(200);
  expect((await sessionOf(`theme=dark; ${cookie}`)).status).toBe(200);
  expect((await sessionOf(`rekindle_session=stranger; ${cookie}`)).status).toBe(401);
  expect((await sessionOf(`${cookie}; rekindle_session=stranger`)).status).toBe(401);
});
