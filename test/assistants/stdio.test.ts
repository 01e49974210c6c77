/** `rekindle mcp`: the official client over standard input and output, in both versions of the protocol. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { programEntry } from "../program.ts";
import { environment, rekindleWith, Server } from "../server.ts";
import { answered, clientOver, factsIn, protocols } from "./support.ts";

const name = "Over stdio";
let server: Server;
let key = "";

beforeAll(async () => {
  server = await Server.shared();
  await server.organization(name);
  key = (await server.command("key", "create", "--organization", name, "--right", "assist")).trim();
  await server.ready();
});
afterAll(() => server.stop());

function bridged(more: Record<string, string> = {}) {
  return new StdioClientTransport({
    command: process.execPath,
    args: [programEntry("main"), "mcp"],
    env: environment(server.dataDir, { REKINDLE_KEY: key, REKINDLE_URL: server.url, ...more }),
    stderr: "ignore",
  });
}

test.each(protocols)("an assistant of the protocol %s lists and calls tools", async (protocol) => {
  const client = await clientOver(bridged(), protocol);
  const { tools } = await client.listTools();
  expect(tools.map((tool) => tool.name)).toContain("handle_alert");
  expect(factsIn(await answered(client, "get_workspace"))).toMatchObject({ "organization.name": name });
  const { resources } = await client.listResources();
  expect(resources.length).toBe(4);
  await client.close();
});

test("it says when the key is refused, and when nobody answers", async () => {
  const refused = clientOver(bridged({ REKINDLE_KEY: `rr-${"x".repeat(32)}` }), "2025-11-25");
  await expect(refused).rejects.toThrow("Rekindle refused the read key");
  const nobody = clientOver(bridged({ REKINDLE_URL: "http://127.0.0.1:9" }), "2025-11-25");
  await expect(nobody).rejects.toThrow("Rekindle does not answer at http://127.0.0.1:9.");
});

test("it refuses to start without a key, and with an address that is none", async () => {
  const without = await rekindleWith(server.dataDir, { REKINDLE_URL: server.url }, "mcp");
  expect([without.exitCode, without.stderr]).toEqual([1, expect.stringContaining("REKINDLE_KEY is missing")]);
  const wrong = await rekindleWith(server.dataDir, { REKINDLE_KEY: key }, "mcp", "--url", "rekindle");
  expect([wrong.exitCode, wrong.stderr]).toEqual([1, expect.stringContaining("REKINDLE_URL is not valid")]);
});
