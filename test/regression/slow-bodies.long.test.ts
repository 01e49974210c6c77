/** A token, a key or a timezone that changes while a body is on its way: the request is judged by what holds
 * when it is there. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Route } from "../../contract/api/route.ts";
import { routes } from "../../contract/api/routes.ts";
import { Server } from "../server.ts";
import { head, RawConnection } from "../specification/raw.ts";
import { send, user } from "../specification/support.ts";
import { until } from "../until.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
});
afterAll(() => server?.stop());

interface Slow {
  readonly line: string;
  readonly secret: string;
  readonly body: string;
}

/** Sends a head and half of the body, and waits until the sender is authorized. It sends the rest after a
 * change. */
async function interrupted({ line, secret, body }: Slow, change: () => Promise<unknown>): Promise<number[]> {
  const connection = await RawConnection.open(server);
  try {
    const half = Math.floor(body.length / 2);
    const lines = ["Host: a", `Authorization: Bearer ${secret}`, "Content-Type: application/json"];
    connection.write(head(`${line} HTTP/1.1`, ...lines, `Content-Length: ${body.length}`));
    connection.write(body.slice(0, half));
    await until("half of the body is held", heldBytes);
    await change();
    connection.write(body.slice(half));
    await connection.answered(1);
    return [...connection.statuses];
  } finally {
    connection.leave();
  }
}

async function heldBytes(): Promise<number> {
  const metrics = await (await fetch(`${server.url}/metrics`)).text();
  return Number(/^rekindle_body_bytes (\d+)/m.exec(metrics)?.[1]);
}

/** The id that a list of the command line shows beside the end of a secret. */
async function idOf(list: "token" | "key", organization: string, secret: string): Promise<string> {
  const lines = (await server.command(list, "list", "--organization", organization)).split("\n");
  return lines.find((line) => line.includes(secret.slice(-4)))?.split(/\s+/)[0] ?? "";
}

/** The same event by each API. A date alone is the start of that day in the organization's timezone. */
const ways: Readonly<Record<string, { readonly line: string; readonly body: object }>> = {
  "the write API": {
    line: "POST /track",
    body: { userId: "u", event: "slow", timestamp: "2026-03-01" },
  },
  "a batch": {
    line: "POST /batch",
    body: { batch: [{ type: "track", userId: "u", event: "slow", timestamp: "2026-03-01" }] },
  },
  "a connected source": {
    line: "POST /v1/track",
    body: { userId: "u", event: "slow", timestamp: "2026-03-01" },
  },
};

describe.each(Object.entries(ways))("by %s", (name, { line, body }) => {
  const sent = JSON.stringify(body);

  test("a token that is revoked meanwhile is refused, and nothing is stored", async () => {
    const organization = `Revoked by ${name}`;
    const secret = await server.organization(organization);
    await send(server, "/identify", secret, user("u"));
    const id = await idOf("token", organization, secret);
    const revoke = () => server.command("token", "revoke", id);
    expect(await interrupted({ line, secret, body: sent }, revoke)).toEqual([401]);
    expect(await server.exported("events", organization)).toEqual([]);
  });
});

test.each(["the write API", "a batch"])(
  "by %s a date is the day of the timezone that holds when it is there",
  async (name) => {
    const { line, body } = ways[name] ?? { line: "", body: {} };
    const organization = `Moved by ${name}`;
    const secret = await server.organization(organization, "--timezone", "America/New_York");
    await send(server, "/identify", secret, user("u"));
    const move = () => server.command("organization", "set", organization, "--timezone", "Asia/Tokyo");
    expect(await interrupted({ line, secret, body: JSON.stringify(body) }, move)).toEqual([201]);
    const [event] = await server.exported("events", organization);
    expect(event).toMatchObject({ event: "slow", timestamp: "2026-02-28T15:00:00.000Z" });
  },
);

test("a read key that is revoked meanwhile changes nothing", async () => {
  const organization = "Revoked key";
  await server.organization(organization);
  const options = ["--organization", organization, "--right", "manage"];
  const secret = (await server.command("key", "create", ...options)).trim();
  const settings = () => server.command("settings", "show", "--organization", organization);
  const before = await settings();
  const id = await idOf("key", organization, secret);
  const body = JSON.stringify({ churnHorizonDays: 61 });
  const revoke = () => server.command("key", "revoke", id);
  expect(await interrupted({ line: "PATCH /api/settings", secret, body }, revoke)).toEqual([401]);
  expect(await settings()).toBe(before);
});

test("no route that needs a session or a key reads the body of a stranger", async () => {
  const names = Object.entries<Route>(routes).flatMap(([name, { access }]) =>
    access !== "anybody" && /^(POST|PUT|PATCH) /.test(name) ? [name] : [],
  );
  expect(names.length).toBeGreaterThan(40);
  const lines = ["Host: 127.0.0.1", "Content-Type: application/json", `Content-Length: ${8 * 1024 * 1024}`];
  const seen: unknown[] = [];
  for (const name of names) {
    await until("the address may ask again", async () => {
      const connection = await RawConnection.open(server);
      connection.write(head(`${name.replaceAll(/:\w+/g, "1")} HTTP/1.1`, ...lines));
      connection.write(" ".repeat(64 * 1024));
      await connection.answered(1);
      const [status] = connection.statuses;
      const held = await heldBytes();
      connection.leave();
      if (status === 429) return false;
      seen.push([name, status, held]);
      return true;
    });
  }
  expect(seen).toEqual(names.map((name) => [name, 401, 0]));
});
