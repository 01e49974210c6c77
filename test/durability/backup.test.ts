/**
 * Backups under load: whatever was acknowledged before the command is in the restored installation, once, and
 * nothing is doubled afterwards. Whoever of the command, analysis and the restore is killed, or has no room left
 * on the disk: what is half is never taken for whole, and loading goes on.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { rekindle, Server, startRekindle } from "../server.ts";
import { differences, Workload } from "./workload.ts";

const base = mkdtempSync(join(tmpdir(), "rekindle-backup-load-"));
const disk = join(base, "disk");
let server: Server;
let token: string;

beforeAll(async () => {
  server = await Server.start({ dataDir: join(base, "data") });
  await server.ready();
  token = await server.organization("load");
  await server.command("organization", "set", "load", "--rate-limit", "1000000");
}, 180_000);

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

async function until(what: string, condition: () => boolean): Promise<void> {
  const deadlineMs = performance.now() + 30_000;
  while (!condition()) {
    if (performance.now() > deadlineMs) throw new Error(`never came: ${what}`);
    await Bun.sleep(1);
  }
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
  for (let attempt = 0; attempt < 20; attempt++) {
    const folder = newPath("caught");
    const command = startRekindle(server.dataDir, "backup", folder);
    await until("the backup's folder", () => existsSync(`${folder}.unfinished`) || existsSync(folder));
    strike({ kill: () => command.process.kill("SIGKILL") });
    const { exitCode, stderr } = await command.result;
    await until("an end of the backup", () => !existsSync(`${folder}.unfinished`));
    if (!existsSync(folder)) return { folder, exitCode, stderr };
  }
  throw new Error("every backup was quicker");
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

test("what was acknowledged before the command is restored once, and further load doubles nothing", async () => {
  const name = "written";
  const written = await server.organization(name);
  await server.command("organization", "set", name, "--rate-limit", "1000000");
  const workload = new Workload(() => server, written);
  await workload.start();
  await Bun.sleep(1_500);
  const acknowledged = workload.acknowledgedIds();
  expect(acknowledged.length).toBeGreaterThan(100);
  const folder = newPath("backup");
  await expectDone(server.dataDir, "backup", folder);
  const after = await workload.stop();
  expect(workload.unexpected).toEqual([]);
  expect(await differences(server, name, after)).toEqual([]);

  const target = newPath("target");
  await expectDone(target, "restore", folder);
  let restored = await Server.start({ dataDir: target });
  const ids = (await restored.exported("events", name)).map(({ messageId }) => String(messageId));
  const stored = new Set(ids);
  expect(ids).toHaveLength(stored.size);
  expect(acknowledged.filter((id) => !stored.has(id))).toEqual([]);
  expect(ids.filter((id) => !after.messageIds.has(id))).toEqual([]);
  expect(await restored.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);

  const further = new Workload(() => restored, written);
  await further.start();
  await Bun.sleep(1_000);
  await restored.crash();
  restored = await Server.start({ dataDir: target, env: { PORT: new URL(restored.url).port } });
  const sent = await further.stop();
  expect(further.unexpected).toEqual([]);
  const all = (await restored.exported("events", name)).map(({ messageId }) => String(messageId));
  expect(all).toHaveLength(stored.size + sent.messageIds.size);
  expect(new Set(all)).toEqual(new Set([...stored, ...sent.messageIds]));
  expect(await restored.command("doctor")).toContain(`${name}: ledger, events and rollups agree`);
  await restored.kill("SIGTERM");
});

test("a killed command leaves no backup, and loading goes on", async () => {
  const analysis = server.analysisPid() ?? 0;
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
  await until("the backup's folder", () => existsSync(`${interrupted}.unfinished`));
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
  const { exitCode, stderr } = await catchBackup(() => process.kill(server.analysisPid() ?? 0, "SIGKILL"));
  expect(exitCode).toBe(1);
  expect(stderr).toContain("analysis ended while it");
  await expectWell();
});

test("a killed restore is never taken for an installation, and can be run again", async () => {
  const folder = newPath("backup");
  await expectDone(server.dataDir, "backup", folder);
  const target = newPath("killed");
  mkdirSync(target);
  const command = startRekindle(target, "restore", folder);
  await until("the restore's mark", () => existsSync(join(target, "restoring")));
  command.process.kill("SIGKILL");
  await command.result;
  expect(existsSync(join(target, "restoring"))).toBe(true);
  const start = Server.start({ dataDir: target });
  expect(start).rejects.toThrow(/did not come to its end: run rekindle restore again/);
  await start.catch(() => undefined);
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
