/** The conformance suite of the Model Context Protocol against /mcp. It sends no key, so a proxy adds one. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { join } from "node:path";
import { run, Server } from "../server.ts";

const name = "Conformance";
const manyKeys = 20;
let server: Server;
let proxy: Bun.Server<undefined>;

beforeAll(async () => {
  server = await Server.shared();
  await server.organization(name);
  // The suite asks as fast as it can, and a key has a limit of calls a second: each request has the next key.
  const keys: string[] = [];
  for (let count = 0; count < manyKeys; count += 1)
    keys.push((await server.command("key", "create", "--organization", name)).trim());
  let requests = 0;
  await server.ready();
  proxy = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: async (request) => {
      const headers = new Headers(request.headers);
      headers.set("Authorization", `Bearer ${keys[requests++ % manyKeys]}`);
      const { pathname } = new URL(request.url, "http://localhost");
      const { method } = request;
      const body = method === "POST" ? await request.bytes() : null;
      const answer = await fetch(server.url + pathname, { method, headers, body });
      return new Response(answer.body, { status: answer.status, headers: answer.headers });
    },
  });
});
afterAll(async () => {
  await proxy?.stop(true);
  await server?.stop();
});

/** Scenarios that hold without exception. */
const scenarios = [
  ["2025-11-25", "server-initialize"],
  ["2025-11-25", "ping"],
  ["2025-11-25", "tools-list"],
  ["2026-07-28", "tools-list"],
  ["2025-11-25", "resources-list"],
  ["2026-07-28", "resources-list"],
  ["2025-11-25", "prompts-list"],
  ["2026-07-28", "prompts-list"],
  ["2025-11-25", "dns-rebinding-protection"],
  ["2026-07-28", "dns-rebinding-protection"],
  ["2026-07-28", "caching"],
  ["2026-07-28", "http-header-validation"],
] as const;

const program = join(import.meta.dir, "../../node_modules/@modelcontextprotocol/conformance/dist/index.js");

function suite(...parameters: string[]) {
  const url = `http://127.0.0.1:${proxy.port}/mcp`;
  return run([process.execPath, program, "server", "--url", url, ...parameters]);
}

test.each(scenarios)("of %s: %s", async (version, scenario) => {
  const { exitCode, stdout, stderr } = await suite("--scenario", scenario, "--spec-version", version);
  expect([exitCode, exitCode === 0 ? "" : stdout + stderr]).toEqual([0, ""]);
});

test.each(["2025-11-25", "2026-07-28"])(
  "of %s as a whole: what does not hold is in the baseline, with its reason",
  async (version) => {
    const baseline = join(import.meta.dir, `conformance-${version}.yml`);
    const { exitCode, stdout } = await suite(
      "--suite",
      "all",
      "--spec-version",
      version,
      "--expected-failures",
      baseline,
    );
    expect([exitCode, exitCode === 0 ? "" : stdout.slice(-4_000)]).toEqual([0, ""]);
  },
);
