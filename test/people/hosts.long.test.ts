/** The host names under which pages and sessions answer, and the headers for frames and https. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { head, RawConnection } from "../specification/raw.ts";
import { expectError, expectSuccess, user } from "../specification/support.ts";
import { joined, password } from "./support.ts";

let named: Server;
let local: Server;
beforeAll(async () => {
  named = await Server.start({ env: { PUBLIC_URL: "https://rekindle.example.com" } });
  local = await Server.start();
});
afterAll(async () => {
  await named.stop();
  await local.stop();
});

const pagePaths = ["/", "/sign-in", "/o/1/overview", "/reference"];

function at(server: Server, path: string, Host: string, more: RequestInit = {}): Promise<Response> {
  return fetch(server.url + path, { redirect: "manual", ...more, headers: { ...more.headers, Host } });
}

test("pages and sessions answer by the name in PUBLIC_URL, with any port, and say it to others", async () => {
  for (const path of [...pagePaths, "/api/installation"]) {
    for (const host of ["rekindle.example.com", "Rekindle.Example.com:8443", "rekindle.example.com."]) {
      expect([path, host, (await at(named, path, host)).status]).toEqual([path, host, 200]);
    }
    for (const host of [
      "evil.test",
      "127.0.0.1",
      "rekindle.example.com.evil.test",
      "evil.test@rekindle.example.com",
    ]) {
      const refused = await at(named, path, host);
      await expectError(refused, "forbidden", "https://rekindle.example.com", "PUBLIC_URL");
    }
  }
  const body = JSON.stringify({ email: "a@example.com", password });
  const headers = { "Content-Type": "application/json" };
  const signIn = (host: string) => at(named, "/api/session", host, { method: "POST", body, headers });
  await expectError(await signIn("evil.test"), "forbidden");
  await expectError(await signIn("rekindle.example.com"), "invalid_write_key");
});

test("without PUBLIC_URL a service on the loopback address answers by loopback names", async () => {
  for (const path of [...pagePaths, "/api/installation"]) {
    for (const host of ["localhost", "localhost:8080", "127.0.0.1:1", "[::1]:8080", "rekindle.localhost"]) {
      expect([path, host, (await at(local, path, host)).status]).toEqual([path, host, 200]);
    }
    await expectError(await at(local, path, "evil.test"), "forbidden", "127.0.0.1", "PUBLIC_URL");
  }
  const addressed = await Server.start({ role: "intake", env: { HOST: "0.0.0.0" } });
  try {
    // Other machines reach it by names that only they know.
    expect((await at(addressed, "/api/installation", "rekindle.intern")).status).toBe(200);
  } finally {
    await addressed.stop();
  }
});

test("figures by a session answer by that name only; by a read key, and writes, by any", async () => {
  const token = await named.organization("Hosts");
  const viewer = await joined(named, "Hosts", "viewer", "Hosts viewer");
  const path = `/api/settings?organization=${viewer.organization}`;
  await named.ready();
  expect((await viewer.ask("GET", path)).status).toBe(200);
  await expectError(await viewer.ask("GET", path, undefined, { Host: "evil.test" }), "forbidden");
  const key = (await named.command("key", "create", "--organization", "Hosts")).trim();
  const keyed = { headers: { Authorization: `Bearer ${key}` } };
  expect((await at(named, "/api/settings", "intern.test", keyed)).status).toBe(200);
  await expectSuccess(await named.post("/identify", token, user("u"), { Host: "intern.test" }));
  for (const probe of ["/healthz", "/openapi.json"])
    expect((await at(named, probe, "10.0.0.9")).status).toBe(200);
});

test("two Host headers are refused everywhere, also two that are the same", async () => {
  for (const path of ["/identify", "/reference", "/api/installation", "/healthz"]) {
    for (const second of ["b.test", "127.0.0.1"]) {
      const raw = await RawConnection.open(local);
      raw.write(head(`GET ${path} HTTP/1.1`, "Host: 127.0.0.1", `Host: ${second}`));
      await raw.answered(1);
      const [answer] = raw.answers;
      expect([path, answer?.status, answer?.body]).toEqual([path, 400, expect.stringContaining("Host")]);
      raw.leave();
    }
  }
});

test("no page is shown in another's frame, and by https browsers keep to https", async () => {
  for (const [server, host, transport] of [
    [named, "rekindle.example.com", "max-age=31536000"],
    [local, "localhost", null],
  ] as const) {
    for (const path of pagePaths) {
      const { headers } = await at(server, path, host);
      expect([path, headers.get("strict-transport-security")]).toEqual([path, transport]);
      expect([path, headers.get("content-security-policy")]).toEqual([
        path,
        expect.stringContaining("frame-ancestors 'none'"),
      ]);
      expect([path, headers.get("x-content-type-options")]).toEqual([path, "nosniff"]);
    }
  }
});

test("behind a proxy without https of its own, Origin and cookie still fit together", async () => {
  const viewer = await joined(named, "Hosts", "viewer", "Proxied viewer");
  expect(viewer.lastSetCookie).toStartWith("__Host-rekindle_session=");
  const change = (Origin: string) => viewer.ask("PATCH", "/api/person", { name: "Proxied" }, { Origin });
  expect((await change("https://rekindle.example.com")).status).toBe(200);
  await expectError(await change(named.url), "forbidden");
});
