/** Copies of an installation: none sends what the first one sends. */

import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Browser, company } from "../people/support.ts";
import { quick } from "../served-as.ts";
import { rekindle, Server } from "../server.ts";
import { type Receiver, startReceiver } from "./receiver.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-copies-"));
const folder = (name: string) => join(base, name);
const because = "This installation was restored, copied or moved.";

let receiver: Receiver;
beforeAll(async () => {
  receiver = await startReceiver();
});
afterAll(() => {
  receiver.stop();
  rmSync(base, { recursive: true, force: true });
});

const start = (dataDir: string) =>
  Server.start({
    role: "intake",
    dataDir,
    time: quick,
    env: { ALLOW_PRIVATE_DESTINATIONS: receiver.allowed },
  });

async function succeeds(dataDir: string, ...words: string[]): Promise<void> {
  const { exitCode, stderr } = await rekindle(dataDir, ...words);
  expect([exitCode, stderr]).toEqual([0, expect.anything()]);
}

test("a copied folder and a restored backup pause their destinations, and the first installation sends on", async () => {
  const first = await start(folder("first"));
  const { owner, at } = await company(first, "Copied");
  const body = { kind: "webhook", name: "Hooks", address: receiver.address("/500") };
  const { destination } = await owner.json<{ destination: { id: number } }>(
    "POST",
    at("/api/destinations"),
    body,
    201,
  );
  await owner.json("POST", at(`/api/destinations/${destination.id}/test`), undefined, 201);
  await first.stop();
  cpSync(folder("first"), folder("copy"), { recursive: true });
  await succeeds(folder("first"), "backup", folder("backup"));
  await succeeds(folder("restored"), "restore", folder("backup"));

  const members = ["member", "invite", "eve@example.com", "--organization", "Copied", "--role", "owner"];
  for (const [name, expected] of [
    ["copy", { state: "paused", stoppedBecause: because, held: 1, pending: 0 }],
    ["restored", { state: "paused", stoppedBecause: because, held: 1, pending: 0 }],
    ["first", { state: "active", stoppedBecause: null, held: 0, pending: 1 }],
  ] as const) {
    const server = await start(folder(name));
    try {
      const link = await server.command(...members);
      const eve = new Browser(server);
      const code = /#([A-Za-z0-9_-]{43})/.exec(link)?.[1] ?? "";
      const accepted = { code, name: "Eve", password: "correct horse battery" };
      await eve.json("POST", "/api/invitations/accept", accepted, 201);
      const answer = await eve.json<{ destinations: object[] }>("GET", at("/api/destinations"));
      expect([name, answer.destinations]).toEqual([name, [expect.objectContaining(expected)]]);
    } finally {
      await server.stop();
    }
  }
});
