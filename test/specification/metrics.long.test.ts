/** /metrics is for this machine and for requests with METRICS_TOKEN. /healthz and /readyz are for every
 * client. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { request } from "node:http";
import { mayReadMetrics } from "../../server/http/port/metrics-access.ts";
import { rekindleWith, Server } from "../server.ts";

const metricsToken = "metrics-token-0123456789";

let server: Server;
beforeAll(async () => {
  server = await Server.start({ env: { METRICS_TOKEN: metricsToken } });
});
afterAll(() => server?.stop());

/** The status of a GET with these headers, Host among them. */
function statusOf(path: string, headers: Record<string, string> = {}): Promise<number> {
  const { hostname, port } = new URL(server.url);
  return new Promise((resolve, reject) => {
    const sent = request({ hostname, port, path, headers }, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    sent.on("error", reject);
    sent.end();
  });
}

const paths = ["/metrics", "/metrics/", "/metrics?a=b", "/metrics/?a=b"];

const forwarded: readonly Record<string, string>[] = [
  { "X-Forwarded-For": "203.0.113.7" },
  { "X-Forwarded-Host": "rekindle.example.com" },
  { "X-Forwarded-Proto": "https" },
  { Forwarded: "for=203.0.113.7" },
  { "X-Real-IP": "127.0.0.1" },
  { Via: "1.1 proxy" },
  { "CF-Connecting-IP": "203.0.113.7" },
  { "True-Client-IP": "203.0.113.7" },
  { Host: "rekindle.example.com" },
  { Host: "evil.test:8080" },
];

describe("/metrics", () => {
  test.each(paths)("is read from this machine by %s", async (path) => {
    expect(await statusOf(path)).toBe(200);
  });

  test("names its methods to this machine", async () => {
    const { status, headers } = await fetch(`${server.url}/metrics`, { method: "OPTIONS" });
    expect([status, headers.get("allow")]).toEqual([204, "GET, HEAD, OPTIONS"]);
  });

  test.each(forwarded)("is not there for a request that came through a proxy, with %j", async (headers) => {
    for (const path of paths) expect([path, await statusOf(path, headers)]).toEqual([path, 404]);
  });

  test.each(forwarded)("is read with the token, also with %j", async (headers) => {
    const withToken = { ...headers, Authorization: `Bearer ${metricsToken}` };
    for (const path of paths) expect([path, await statusOf(path, withToken)]).toEqual([path, 200]);
  });

  test("is not read with anything else as a token", async () => {
    const via = { Via: "1.1 proxy" };
    for (const authorization of [
      `Basic ${metricsToken}`,
      "Bearer",
      `Bearer ${metricsToken}x`,
      `Bearer ${metricsToken.slice(1)}`,
      metricsToken,
      `Bearer ${server.firstToken}`,
    ]) {
      const status = await statusOf("/metrics", { ...via, Authorization: authorization });
      expect([authorization, status]).toEqual([authorization, 404]);
    }
  });

  test.each(["GET", "OPTIONS", "POST"])("is answered as a path that is not there to %s", async (method) => {
    const headers = { Via: "1.1 proxy" };
    const [hidden, absent] = await Promise.all(
      ["/metrics", "/absent"].map((path) => fetch(server.url + path, { method, headers })),
    );
    expect(absent?.status).toBe(404);
    expect([hidden?.status, await hidden?.text()]).toEqual([absent?.status, await absent?.text()]);
  });

  test.each([
    ["127.0.0.1", true],
    ["127.8.9.1", true],
    ["::1", true],
    ["::ffff:127.0.0.1", true],
    ["10.0.0.1", false],
    ["::ffff:10.0.0.1", false],
    ["172.17.0.1", false],
    ["2001:db8::1", false],
    ["", false],
  ] as const)("asked from %j it is there: %p", (address, isThere) => {
    const asked = new Request("http://127.0.0.1:8080/metrics", { headers: { Host: "127.0.0.1:8080" } });
    const connection = { requestIP: () => ({ address }), timeout: () => undefined };
    expect(mayReadMetrics(asked, connection, null)).toBe(isThere);
    const withToken = new Request(asked, { headers: { Authorization: `bearer ${metricsToken}` } });
    expect(mayReadMetrics(withToken, connection, null)).toBe(false);
    expect(mayReadMetrics(withToken, connection, metricsToken)).toBe(true);
  });
});

test("/healthz and /readyz are there for everybody", async () => {
  await server.ready();
  for (const headers of forwarded) {
    expect([await statusOf("/healthz", headers), await statusOf("/readyz", headers)]).toEqual([200, 200]);
  }
});

test.each(["short", "fifteen-charact", `${"x".repeat(16)} y`, "x".repeat(201), 'quoted"0123456789'])(
  "METRICS_TOKEN %j stops the start without being shown",
  async (token) => {
    const { exitCode, stderr } = await rekindleWith(server.dataDir, { METRICS_TOKEN: token }, "doctor");
    expect(exitCode).not.toBe(0);
    expect(stderr).toContain("METRICS_TOKEN is not usable: set it to 16 to 200");
    expect(stderr).not.toContain(token);
  },
);
