/** A data folder that has lost one of its stores is refused, and serves all again when it is back. */
import { expect, test } from "bun:test";
import { existsSync, readdirSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";
import { Server } from "../server.ts";
import { send, user } from "../specification/support.ts";

const track = { userId: "ada", event: "saved" };

test("neither a ledger nor a warehouse is replaced by an empty one", async () => {
  const first = await Server.start();
  const { dataDir } = first;
  const token = await first.organization("Lost");
  await send(first, "/identify", token, user("ada"));
  await send(first, "/track", token, track);
  expect(await first.exported("events", "Lost")).toHaveLength(1);
  await first.kill("SIGTERM");

  const lost: readonly (readonly [path: string, message: RegExp])[] = [
    ["ledger.sqlite", /ledger\.sqlite is missing, and \S+warehouse has users/],
    ["warehouse", /warehouse has no tables, and the ledger has loaded \d+ rows/],
    ["warehouse/metadata", /warehouse has no tables, and the ledger has loaded \d+ rows/],
  ];
  for (const [path, message] of lost) {
    const away = join(dataDir, "..", `${path.replaceAll("/", "-")}-of-${dataDir.split("/").at(-1)}`);
    renameSync(join(dataDir, path), away);
    await expect(Server.start({ dataDir })).rejects.toThrow(message);
    // What a refused start has made is no store.
    if (existsSync(join(dataDir, path))) rmSync(join(dataDir, path), { recursive: true });
    renameSync(away, join(dataDir, path));
  }

  const second = await Server.start({ dataDir });
  await send(second, "/track", token, track);
  expect(await second.exported("events", "Lost")).toHaveLength(2);
  expect(await second.exported("users", "Lost")).toHaveLength(1);
  await second.stop();
});

test("a part that the engine cannot read is named in the log, at each start", async () => {
  const first = await Server.start();
  const { dataDir } = first;
  const token = await first.organization("Damaged");
  await send(first, "/identify", token, user("ada"));
  await send(first, "/track", token, track);
  expect(await first.exported("events", "Damaged")).toHaveLength(1);
  await first.kill("SIGTERM");

  const table = join(dataDir, "warehouse/data/default/events");
  const [part = ""] = readdirSync(table).filter((name) => /_\d+_\d+_\d+$/.test(name));
  rmSync(join(table, part, "data.bin"));
  for (const _ of ["found", "found again"]) {
    const server = await Server.start({ dataDir });
    await server.ready();
    expect(server.output()).toMatch(/"parts":\["events\/broken-on-start_\S+"\]/);
    expect(await server.exported("events", "Damaged")).toHaveLength(0);
    await server.kill("SIGTERM");
  }
});
