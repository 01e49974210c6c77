/** A real disk of 64 MB, filled under load and freed again. It needs the right to mount one. Without it the
 * test fails with that reason, because it could not check anything. */
import { afterAll, expect, test } from "bun:test";
import { closeSync, mkdtempSync, openSync, rmSync, truncateSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { errorMessages } from "../../contract/errors.ts";
import { Server } from "../server.ts";
import { differences, Workload } from "./workload.ts";

export const runsOn = { disk: true };

const disk = mkdtempSync(join(tmpdir(), "rekindle-disk-"));

function run(...command: string[]): void {
  const { exitCode, stderr } = Bun.spawnSync(command);
  if (exitCode !== 0) throw new Error(`${command.join(" ")}: ${stderr.toString()}`);
}

afterAll(() => {
  Bun.spawnSync(["umount", "-l", disk]);
  rmSync(disk, { recursive: true, force: true });
});

/** Sends one event after another until one is answered with the status, and with this message if there is
 * one. At this rate answers of 429 for the rate limit come soon. Returns the answer. */
async function sendUntil(
  server: Server,
  token: string,
  isAwaited: (status: number, message?: string) => boolean,
): Promise<Response> {
  while (true) {
    const body = { userId: "user-1", event: "filling", properties: { text: "x".repeat(4_000) } };
    const response = await server.post("/track", token, body);
    const { message } = (await response.clone().json()) as { readonly message?: string };
    if (isAwaited(response.status, message)) return response;
  }
}

const isStored = (status: number) => status === 201;
const isFailed = (status: number) => status === 500;
const isClosed = (status: number, message?: string) =>
  status === 429 && message === errorMessages.diskNearlyFull;

/** Writes until nothing more fits. */
function fill(file: string): void {
  const descriptor = openSync(file, "w");
  try {
    for (const bytes of [1024 * 1024, 4096]) fillWith(descriptor, Buffer.alloc(bytes));
  } finally {
    closeSync(descriptor);
  }
}

function fillWith(descriptor: number, block: Buffer): void {
  try {
    while (true) writeSync(descriptor, block);
  } catch (error) {
    if (!(error instanceof Error && "code" in error && error.code === "ENOSPC")) throw error;
  }
}

test("a full disk is answered 500 or 429, loses nothing, and needs no restart when it is freed", async () => {
  run("mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", disk);
  const server = await Server.start({ dataDir: join(disk, "data") });
  await server.ready();
  const token = await server.organization("disk");
  const prober = await server.organization("prober");
  await server.post("/identify", prober, { userId: "user-1", email: "user-1@example.com" });
  const workload = new Workload(() => server, token);
  await workload.start();
  await workload.untilAcknowledged(100);
  const filling = join(disk, "filling");

  // Commits fail until the second's look at the disk turns senders away: where that is sooner, the disk is
  // filled again.
  while (true) {
    fill(filling);
    const first = await sendUntil(
      server,
      prober,
      (status, message) => isFailed(status) || isClosed(status, message),
    );
    if (first.status === 500) break;
    truncateSync(filling, 0);
    await sendUntil(server, prober, isStored);
  }
  const refused = await sendUntil(server, prober, isClosed);
  expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
  expect(await refused.json()).toMatchObject({ name: "rate_limit_exceeded", statusCode: 429 });

  truncateSync(filling, 0);
  await sendUntil(server, prober, isStored);
  await workload.untilAcknowledged(workload.acknowledged + 100);
  const expected = await workload.stop();
  expect(workload.unexpected).toEqual([]);
  expect(await differences(server, "disk", expected)).toEqual([]);
  expect(await server.command("doctor")).toContain("disk: ledger, events and rollups agree");
  expect(await server.stop()).toBe(0);
});
