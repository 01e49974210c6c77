/** Proof with a tool's own client: whatever happens on the way, every event arrives, and none twice. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Server } from "../server.ts";
import { until } from "../until.ts";
import { BadProxy, type Fate } from "./proxy.ts";

type Values = Record<string, string | number>;

/** A tool's client, for one address and one token. It retries as it likes and is used once. */
export interface Client {
  identify(userId: string, traits: Values): void;
  track(userId: string, event: string, properties: Values): void;
  /** The user joins an account with this name, where the client can say so. */
  join?(userId: string, accountId: string, name: string): void;
  /** Resolves when everything is delivered, or given up. */
  flush(): Promise<void>;
}

export type Connect = (url: string, token: string) => Client;

const roads: readonly (readonly [string, readonly Fate[]])[] = [
  ["on the straight way", []],
  ["after answers of 429 and 500", [429, 500]],
  ["after a connection that was cut when all was stored", ["cut"]],
];

/** Registers the tests of a client. @param method of its requests */
export function provesDelivery(tool: string, connect: Connect, method: "POST" | "GET" = "POST"): void {
  let server: Server;
  let dataDir: string;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), "rekindle-sources-"));
    server = await Server.start({ dataDir });
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(dataDir, { recursive: true, force: true });
  });

  test.each(roads)(`${tool}: every event arrives once, %s`, async (road, fates) => {
    const token = await server.organization(road);
    const proxy = await BadProxy.start(server.url, fates, method);
    const client = connect(proxy.url, token);
    const beganMs = Date.now();
    client.identify("ada", { email: "ada@example.com", plan: "pro" });
    client.join?.("ada", "engines", "Analytical Engines");
    const sent = send(client, 0, 30);
    await client.flush();
    proxy.stop();
    expect(proxy.happened.slice(0, fates.length)).toEqual([...fates]);
    expect(proxy.happened.length).toBeGreaterThan(fates.length);
    expect(await stored(server, road)).toEqual(sent);
    const account = client.join === undefined ? null : { id: "engines", name: "Analytical Engines" };
    expect(await server.exported("users", road)).toMatchObject([
      { userId: "ada", email: "ada@example.com", properties: { plan: "pro" }, account },
    ]);
    for (const { timestamp } of await server.exported("events", road)) {
      // Some clients write whole seconds.
      expect(Date.parse(String(timestamp))).toBeGreaterThanOrEqual(beganMs - 1_000);
      expect(Date.parse(String(timestamp))).toBeLessThanOrEqual(Date.now());
    }
  });

  test(`${tool}: every event arrives once, over a restart of the server`, async () => {
    const token = await server.organization("Restart");
    // An address that stays, whichever port is the server's.
    const proxy = await BadProxy.start(server.url, [], method);
    const client = connect(proxy.url, token);
    client.identify("ada", { email: "ada@example.com" });
    const sent = send(client, 0, 10);
    await until("a request has come", () => proxy.happened.length);
    await server.kill("SIGTERM");
    proxy.target = undefined;
    sent.push(...send(client, 10, 20));
    server = await Server.start({ dataDir });
    proxy.target = server.url;
    sent.push(...send(client, 20, 30));
    await client.flush();
    proxy.stop();
    expect(await stored(server, "Restart")).toEqual(sent);
  });
}

/** Sends events with these numbers. Returns the data that has to be stored of them. */
function send(client: Client, from: number, end: number): [string, unknown][] {
  return Array.from({ length: end - from }, (_, index) => {
    const number = from + index;
    client.track("ada", `Report Opened ${number % 3}`, { number });
    return [`Report_Opened_${number % 3}`, number];
  });
}

async function stored(server: Server, organization: string): Promise<[string, unknown][]> {
  await server.ready();
  const events = await server.exported("events", organization);
  return events
    .map(({ event, properties }): [string, unknown] => [
      String(event),
      (properties as Record<string, unknown>).number,
    ])
    .sort((a, b) => Number(a[1]) - Number(b[1]));
}
