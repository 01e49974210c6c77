/**
 * cli/install.mjs in a checkout without node_modules, with the real npm. The service runs there while the
 * development packages are added, and its analysis process is killed meanwhile.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Subprocess } from "bun";
import { freePort } from "../deploy/running.ts";
import { megabytesOf } from "../disk.ts";
import { run } from "../server.ts";
import { listPaths, root } from "../tidy/source-files.ts";
import { until } from "../until.ts";

export const runsOn = { disk: true };

const folder = mkdtempSync(join(tmpdir(), "rekindle-install-"));
const checkout = join(folder, "checkout");
const chdb = join(checkout, "node_modules/chdb/package.json");
const withBun = join(checkout, "cli/with-bun");
let server: Subprocess<"ignore", "ignore", "inherit"> | undefined;

beforeAll(() => {
  for (const path of listPaths()) {
    if (!existsSync(join(root, path))) continue;
    mkdirSync(dirname(join(checkout, path)), { recursive: true });
    cpSync(join(root, path), join(checkout, path));
  }
});

afterAll(async () => {
  server?.kill("SIGTERM");
  await server?.exited;
  rmSync(folder, { recursive: true, force: true });
});

test("a first start installs what it says: at most 860 MB", async () => {
  const { exitCode, stdout, stderr } = await run([withBun, "--version"], { cwd: checkout });
  expect({ exitCode, stdout: stdout.trim() }).toEqual({ exitCode: 0, stdout: Bun.version });
  const [, said] = /^rekindle: installing, about (\d+) MB/.exec(stderr) ?? [];
  const megabytes = megabytesOf(join(checkout, "node_modules"));
  expect(megabytes).toBeLessThanOrEqual(860);
  expect(Math.abs(megabytes - Number(said))).toBeLessThan(20);
});

test("development packages are added beside a service whose analysis is killed, and it comes back", async () => {
  const port = await freePort();
  const service = Bun.spawn([join(checkout, "cli/rekindle"), "serve"], {
    env: { ...process.env, PORT: String(port), DATA_DIR: join(folder, "data"), LOG_LEVEL: "error" },
    stdin: "ignore",
    stdout: "ignore",
    stderr: "inherit",
  });
  server = service;
  const isReady = async () => {
    expect(service.exitCode).toBeNull();
    return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
  };
  await until("the service is ready", isReady);
  const before = writtenAt(chdb);
  const packages = megabytesOf(join(checkout, "node_modules"));

  const adding = Bun.spawn([withBun, "test", "./test/disk.ts"], {
    cwd: checkout,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  const said = new Response(adding.stderr).text();
  let killed = 0;
  const killIfBack = async () => {
    if (adding.exitCode === null && (await isReady())) {
      killed += 1;
      process.kill(analysisOf(service.pid), "SIGKILL");
    }
    return adding.exitCode !== null;
  };
  await until("the packages are there", killIfBack, Boolean, { everyMs: 500 });
  const [, announced] = /adding the development packages, about (\d+) MB/.exec(await said) ?? [];
  const added = megabytesOf(join(checkout, "node_modules")) - packages;
  expect(Math.abs(added - Number(announced))).toBeLessThan(20);
  expect(killed).toBeGreaterThan(0);
  expect(existsSync(join(checkout, "node_modules/@biomejs/biome"))).toBe(true);
  expect(writtenAt(chdb)).toEqual(before);
  await until("the service is ready", isReady);
});

/** Both change when a file is written again. */
function writtenAt(path: string) {
  const { ino, mtimeMs } = statSync(path);
  return { ino, mtimeMs };
}

/** The process that answers questions, a child of the service. */
function analysisOf(service: number): number {
  const lines = Bun.spawnSync(["ps", "-A", "-o", "pid=,ppid="]).stdout.toString().trim().split("\n");
  const children = lines
    .map((line) => line.trim().split(/\s+/).map(Number))
    .filter(([, of]) => of === service);
  const [[id = 0] = [], ...more] = children;
  if (id === 0 || more.length > 0) throw new Error(`One child of ${service} was expected: ${children}`);
  return id;
}
