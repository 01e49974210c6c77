/** The server is killed while the client sends: every event is stored exactly once. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { Gate } from "./gate.ts";
import { ada, Told } from "./support.ts";

const organization = "Killed";

test("killed three times, and away when the application starts: every event is there once", async () => {
  const dataDir = mkdtempSync(join(tmpdir(), "rekindle-client-"));
  let server = await Server.start({ dataDir });
  const token = await server.organization(organization);
  const gate = await Gate.before(() => server.url);
  await server.crash();

  const { client, failures, drops } = new Told({ token, host: gate.url, maxBatchItems: 40 });
  client.identify(ada());
  const sent: string[] = [];
  const sending = setInterval(() => {
    for (let n = 0; n < 7; n += 1) {
      const messageId = `event-${sent.length}`;
      sent.push(messageId);
      client.track({ userId: "ada", event: "worked", messageId });
    }
  }, 2);
  try {
    for (let kill = 0; kill < 3; kill += 1) {
      await until("an attempt without a server", () => failures.length > kill);
      const starting = Server.start({ dataDir });
      gate.opened = starting;
      server = await starting;
      const requests = gate.seen.length;
      await until("requests that are answered", () => gate.seen.length > requests + 10);
      // At no particular moment of a request: some are killed before their commit, some after it.
      await server.crash();
    }
  } finally {
    clearInterval(sending);
  }
  server = await Server.start({ dataDir });
  expect(await client.close()).toBe(true);
  expect(failures.filter(({ willRetry }) => !willRetry)).toEqual([]);

  const dropped = new Set(drops.map(({ item }) => item.messageId));
  const stored = (await server.exported("events", organization)).map(({ messageId }) => String(messageId));
  expect(new Set(stored).size).toBe(stored.length);
  expect(stored.sort()).toEqual(sent.filter((messageId) => !dropped.has(messageId)).sort());
  expect(new Set(drops.map(({ reason }) => reason)).difference(new Set(["full"])).size).toBe(0);
  gate.close();
  await server.stop();
  rmSync(dataDir, { recursive: true, force: true });
});
