/** The headers of every answer under /api for browsers and proxies: no caching, and no guessing of the
 * type. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { Server } from "../server.ts";
import { Browser, joined } from "./support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server.stop());

function expectSealed(status: number, response: Response): void {
  const { headers } = response;
  const said = [response.status, headers.get("cache-control"), headers.get("x-content-type-options")];
  expect([response.url, ...said]).toEqual([response.url, status, "no-store", "nosniff"]);
}

test("failures and answers, of people and of read keys, from either process", async () => {
  await server.organization("Sealed");
  const owner = await joined(server, "Sealed", "owner", "Sealed owner");
  const key = (await server.command("key", "create", "--organization", "Sealed")).trim();
  const at = `organization=${owner.organization}`;
  const nobody = new Browser(server);
  const ask = (path: string, headers: Record<string, string> = {}) =>
    nobody.ask("GET", path, undefined, headers);
  const reading = { Authorization: `Bearer ${key}` };
  expectSealed(401, await ask("/api/session"));
  expectSealed(401, await ask("/api/users"));
  expectSealed(404, await ask("/api/nothing/at/all", reading));
  expectSealed(404, await owner.ask("GET", `/api/users/nobody?${at}`));
  expectSealed(400, await ask("/api/users?limit=many", reading));
  expectSealed(400, await nobody.ask("POST", "/api/session", { email: 1 }));
  expectSealed(404, await owner.ask("GET", "/api/members?organization=999999"));
  expectSealed(200, await ask("/api/users", reading));
  expectSealed(200, await ask("/api/users?format=csv", reading));
  expectSealed(200, await owner.ask("GET", `/api/users?${at}`));
  expectSealed(200, await owner.ask("GET", `/api/members?${at}`));
  expectSealed(204, await owner.ask("DELETE", "/api/session"));
  let limited: Response | undefined;
  while (limited === undefined) {
    const answers = await Promise.all(Array.from({ length: 40 }, () => ask("/api/session")));
    limited = answers.find(({ status }) => status === 429);
  }
  expectSealed(429, limited);
});
