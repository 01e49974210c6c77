/**
 * Backups under load. Every event that was acknowledged before the command is in the restored installation
 * once, and nothing is doubled afterwards. The command, analysis or the restore is killed, or has no room
 * left on the disk. Half a backup is then never taken for a whole one, and loading goes on.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ownPort } from "../durability/killing.ts";
import { differences, Workload } from "../durability/workload.ts";
import { rekindle, Server, startRekindle } from "../server.ts";
import { until } from "../until.ts";

/** Of each of 24 senders: up to 1,200 requests a second. */
const pauseMs = 20;
const base = mkdtempSync(join(tmpdir(), "rekindle-backup-load-"));
const disk = join(base, "disk");
let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.start({ dataDir: join(base, "data") });
  await server.ready();
  token = await server.organization("load");
  await server.command("organization", "set", "load", "--rate-limit", "1000000");
});

afterAll(async () => {
  await server.kill("SIGTERM");
  Bun.spawnSync(["umount", "-l", disk]);
  rmSync(base, { recursive: true, force: true });
});

let made = 0;

/** A name under which nothing is yet. */
function newPath(what: string): string {
  made += 1;
  return join(base, `${what}-${made}`);
}

function analysisPid(): number {
  const pid = server.analysisPid();
  // As a process id nothing would be this process and all that it started.
  if (pid === undefined) throw new Error("there is no analysis process");
  return pid;
}

async function expectDone(dataDir: string, ...parameters: string[]): Promise<string> {
  const { exitCode, stdout, stderr } = await rekindle(dataDir, ...parameters);
  expect([parameters, exitCode, stderr]).toEqual([parameters, 0, stderr]);
  return stdout;
}

/** Begins backups until one is caught before its end, in which `strike` is called. */
async function catchBackup(strike: (command: { kill(): void }) => void): Promise<{
  readonly folder: string;
  readonly exitCode: number;
  readonly stderr: string;
}> {
  while (true) {
    const folder = newPath("caught");
    const command = startRekindle(server.dataDir, "backup", folder);
    await until(
      "the backup has begun",
      () => existsSync(`${folder}.unfinished`) || existsSync(folder),
      Boolean,
      { everyMs: 1 },
    );
    strike({ kill: () => command.process.kill("SIGKILL") });
    const { exitCode, stderr } = await command.result;
    await until("nothing unfinished is left", () => !existsSync(`${folder}.unfinished`));
    if (!existsSync(folder)) return { folder, exitCode, stderr };
    // That one was quicker.
    await server.ready();
  }
}

/** Loading goes on: what is sent now is in the figures, and the next backup is made. */
async function expectWell(): Promise<void> {
  await server.ready();
  await server.post("/identify", token, { userId: "user-0", email: "user-0@example.com" });
  const count = (await server.exported("events", "load")).length;
  const response = await server.post("/track", token, { userId: "user-0", event: "after" });
  expect(response.status).toBe(201);
  expect(await server.exported("events", "load")).toHaveLength(count + 1);
  await expectDone(server.dataDir, "backup", newPath("well"));
}

test("events that were acknowledged before the command are restored once, and further load doubles nothing", async () => {
  const name = "written";
  const written = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", "1000000");
  const workload = new Workload(() => server, written, pauseMs);
  await workload.start();
  await workload.untilAcknowledged(100);
  const acknowledged = workload.acknowledgedIds();
  const folder = newPath("backup");
  await expectDone(server.dataDir, "backup", folder);
  const after = await workload.stop();
  expect(workload.unexpected).toEqual([]);
  expect(await differences(server, name, after)).toEqual([]);

  const target = newPath("target");
  await expectDone(target, "restore", folder);
  const env = await ownPort();
  let restored = await Server.start({ dataDir: target, env });
  const ids = (await restored.exported("events", name)).map(({ messageId }) => String(messageId));
  const stored = new Set(ids);
  expect(ids).toHaveLength(stored.size);
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  expect(ids.filter((id) => !after.messageIds.has(id))).toEqual([]);
  expect(await restored.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);

  const further = new Workload(() => restored, written, pauseMs);
  await further.start();
  await further.untilAcknowledged(50);
  await restored.crash();
  restored = await Server.start({ dataDir: target, env });
  const sent = await further.stop();
  expect(further.unexpected).toEqual([]);
  const all = (await restored.exported("events", name)).map(({ messageId }) => String(messageId));
  expect(all).toHaveLength(stored.size + sent.messageIds.size);
  expect(new Set(all)).toEqual(new Set([...stored, ...sent.messageIds]));
  expect(await restored.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
  await restored.kill("SIGTERM");
});

test("a killed command leaves no backup, and loading goes on", async () => {
  const analysis = analysisPid();
  // Stopped, so that the backup cannot end between the look and the kill.
  await catchBackup((command) => {
    process.kill(analysis, "SIGSTOP");
    command.kill();
    process.kill(analysis, "SIGCONT");
  });
  await expectWell();
});

test("an interrupted command without a server leaves no backup", async () => {
  const target = newPath("served");
  const folder = newPath("backup");
  await expectDone(server.dataDir, "backup", folder);
  await expectDone(target, "restore", folder);
  const interrupted = newPath("interrupted");
  const command = startRekindle(target, "backup", interrupted);
  await until(
    "the backup has begun",
    () => existsSync(`${interrupted}.unfinished`) || existsSync(interrupted),
    Boolean,
    { everyMs: 1 },
  );
  command.process.kill("SIGSTOP");
  const isQuicker = existsSync(interrupted);
  command.process.kill("SIGINT");
  command.process.kill("SIGCONT");
  const { exitCode } = await command.result;
  expect(existsSync(`${interrupted}.unfinished`)).toBe(false);
  expect(existsSync(interrupted)).toBe(isQuicker || exitCode === 0);
  await expectDone(target, "doctor");
});

test("killed analysis fails the backup in clear words, and the next one is made", async () => {
  const { exitCode, stderr } = await catchBackup(() => process.kill(analysisPid(), "SIGKILL"));
  expect(exitCode).toBe(1);
  expect(stderr).toContain("analysis ended while it");
  await expectWell();
});

/** Restores into new folders until one is killed before its end. */
async function killedRestore(folder: string): Promise<string> {
  while (true) {
    const target = newPath("killed");
    mkdirSync(target);
    const { process: command, result } = startRekindle(target, "restore", folder);
    await until(
      "the restoring has begun",
      () => existsSync(join(target, "restoring")) || command.exitCode !== null,
      Boolean,
      { everyMs: 1 },
    );
    command.kill("SIGKILL");
    const { exitCode, stderr } = await result;
    if (existsSync(join(target, "restoring"))) return target;
    // That one was quicker.
    if (exitCode !== 0 && command.signalCode === null) throw new Error(stderr);
  }
}

test("a killed restore is never taken for an installation, and can be run again", async () => {
  const folder = newPath("backup");
  await expectDone(server.dataDir, "backup", folder);
  const target = await killedRestore(folder);
  const start = Server.start({ dataDir: target });
  await expect(start).rejects.toThrow(/did not come to its end: run rekindle restore again/);
  expect((await rekindle(target, "doctor")).exitCode).toBe(1);
  await expectDone(target, "restore", folder);
  expect(await expectDone(target, "doctor")).toContain("load: ledger, events and rollups agree");
});

test("a full disk fails the backup in clear words, leaves nothing, and loading goes on", async () => {
  mkdirSync(disk);
  const { exitCode, stderr } = Bun.spawnSync(["mount", "-t", "tmpfs", "-o", "size=64k", "tmpfs", disk]);
  expect([exitCode, stderr.toString()]).toEqual([0, ""]);
  const result = await rekindle(server.dataDir, "backup", join(disk, "backup"));
  expect(result.exitCode).toBe(1);
  expect(result.stderr).toMatch(/the backup was not made, and nothing of it is left: .*(full|no space)/);
  expect(readdirSync(disk)).toEqual([]);
  await expectWell();
});
