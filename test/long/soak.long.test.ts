/**
 * Five minutes of everything at once: single requests, compressed batches, an import, erasures, a new
 * timezone, exports, figures and backups. A restart and a kill come early on. In the end memory has not
 * grown, and every acknowledged event is stored once. SOAK_SECONDS makes it shorter or longer.
 */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownPort, restart } from "../durability/killing.ts";
import { differences, Workload } from "../durability/workload.ts";
import { Server } from "../server.ts";
import { Batches, Errands, identifyImported, importedRows, importHasBegun, MemoryWatch } from "./soak.ts";

export const runsOn = { disk: true };

/** A minute where CI runs what a change reaches. */
const seconds = Number(process.env.SOAK_SECONDS ?? (process.env.TEST_SAMPLE === undefined ? 300 : 60));
/** Of each of the 24 senders. With half of it they kept more than half a core busy, which other files could
 * have. */
const pauseMs = 50;
const base = mkdtempSync(join(tmpdir(), "rekindle-soak-"));
// Here memory is given back as a user's installation gives it back.
delete process.env.MIMALLOC_PURGE_DELAY;

test("after minutes of everything, with a restart and a kill, memory is flat and nothing is lost", async () => {
  let server = await Server.start({ dataDir: join(base, "data"), env: await ownPort() });
  await server.ready();
  const tokens = new Map<string, string>();
  for (const organization of ["single", "batches", "imported", "erased"]) {
    tokens.set(organization, await server.organization(organization));
    await server.command("organization", "set", organization, "--rate-limit", "100000");
  }
  const file = join(base, "events.jsonl");
  writeFileSync(file, importedRows(200_000));
  const now = () => server;
  const single = new Workload(now, tokens.get("single") ?? "", pauseMs);
  const batches = new Batches(now, tokens.get("batches") ?? "");
  const errands = new Errands(now, tokens.get("erased") ?? "", base);
  await single.start();
  await batches.start();
  await identifyImported(server, tokens.get("imported") ?? "");
  const endMs = performance.now() + seconds * 1_000;

  // The stop comes after a twentieth of the time.
  await Bun.sleep(seconds * 50);
  expect(await server.stop()).toBe(0);
  server = await restart(server);
  const importing = server.command("import", file, "--organization", "imported", "--type", "events");
  await importHasBegun(server);
  // The crash comes in the middle of the import.
  await Bun.sleep(seconds * 10);
  await server.crash();
  server = await restart(server);
  await server.ready();
  await importing;

  const memory = new MemoryWatch(server);
  await errands.run(endMs, () => memory.look());
  const expected = await single.stop();
  const batched = await batches.stop();
  const events = expected.messageIds.size + batched;
  console.log(`${events} events, ${errands.summary()}; ${memory.summary()}`);
  expect([single.unexpected, batches.unexpected, errands.failures]).toEqual([[], [], []]);
  expect(await differences(server, "single", expected)).toEqual([]);
  expect(await batches.stored()).toBe(batched);
  expect(await server.exported("events", "imported")).toHaveLength(200_000);
  expect(await errands.erasedLeft()).toEqual([]);
  expect(await server.command("doctor")).not.toContain("differ");
  memory.expectFlat();
  await server.stop();
  rmSync(base, { recursive: true, force: true });
});
