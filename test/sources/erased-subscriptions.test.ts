/** Erasing a user and an account takes their billing events, and leaves the subscriptions of others whole. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { filesWith, removeOldParts } from "../erasure/support.ts";
import { Server } from "../server.ts";
import { agreement, asTracked, expected, identify, sent } from "./subscription-support.ts";

let server: Server;
beforeAll(async () => {
  server = await Server.start();
  await server.ready();
}, 180_000);
afterAll(async () => {
  await server.stop();
  rmSync(server.dataDir, { recursive: true, force: true });
});

test("an erased user and account leave no billing event and no change, and the others are whole", async () => {
  await sent(
    server,
    "Erased",
    ...["ada", "MARKER-user"].map(identify),
    ...asTracked("sub_1", "ada", "MARKER-account"),
    ...asTracked("MARKER-sub", "MARKER-user", "acme"),
    ...asTracked("sub_3", "ada", "acme"),
  );
  const all = [
    expected("sub_1", "ada", "MARKER-account"),
    expected("sub_3"),
    expected("MARKER-sub", "MARKER-user"),
  ];
  const before = await server.exported("subscriptions", "Erased");
  expect(new Set(before.map((one) => JSON.stringify(one)))).toEqual(
    new Set(all.flat().map((one) => JSON.stringify(one))),
  );
  await server.command("erase", "user", "MARKER-user", "--organization", "Erased");
  await server.command("erase", "account", "MARKER-account", "--organization", "Erased");
  const left = [...expected("sub_1", "ada", null), ...expected("sub_3")];
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(JSON.stringify(await server.exported("events", "Erased"))).not.toContain("MARKER");
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("rebuild", "--organization", "Erased");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  expect(await server.command("doctor")).toContain(agreement("Erased"));
  await server.command("organization", "set", "Erased", "--timezone", "Asia/Tokyo");
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.crash();
  expect(await server.exported("subscriptions", "Erased")).toEqual(left);
  await server.kill("SIGTERM");
  await removeOldParts(server.dataDir);
  expect(await filesWith(server.dataDir, "MARKER")).toEqual([]);
}, 120_000);
