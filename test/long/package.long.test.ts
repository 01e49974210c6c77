/** The npm package: made as a release makes it, installed into an empty folder, and run there. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { freePort, printed } from "../deploy/running.ts";
import { megabytesOf } from "../disk.ts";
import { run } from "../server.ts";
import { root } from "../tidy/source-files.ts";
import { until } from "../until.ts";

export const runsOn = { disk: true };

const folder = mkdtempSync(join(tmpdir(), "rekindle-package-"));
const here = join(folder, "here");
const installed = join(here, "node_modules/rekindle");
const env = { PATH: process.env.PATH ?? "", HOME: process.env.HOME ?? "" };

beforeAll(async () => {
  const packed = await run(
    ["npm", "run", "package", "--silent", "--", "--silent", "--pack-destination", folder],
    {
      cwd: root,
      env,
    },
  );
  const [name = "", ...more] = readdirSync(folder).filter((file) => file.endsWith(".tgz"));
  if (packed.exitCode !== 0 || more.length > 0) throw new Error(`${packed.stdout}${packed.stderr}`);
  await Bun.write(join(here, "package.json"), "{}\n");
  const { exitCode, stderr } = await run(["npm", "install", "--no-audit", "--no-fund", join(folder, name)], {
    cwd: here,
    env,
  });
  if (exitCode !== 0) throw new Error(stderr);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test("it has the pages built, and neither their sources nor their libraries", () => {
  const [pages = "", ...more] = readdirSync(join(installed, "dashboard/dist"));
  expect([pages.length, more]).toEqual([16, []]);
  expect(existsSync(join(installed, "dashboard/build.ts"))).toBe(false);
  const brought = readdirSync(join(here, "node_modules"));
  expect(brought).toContain("chdb");
  expect(brought.filter((name) => ["react", "vite", "echarts", "tailwindcss"].includes(name))).toEqual([]);
  expect(megabytesOf(installed)).toBeLessThanOrEqual(12);
  expect(megabytesOf(join(here, "node_modules"))).toBeLessThanOrEqual(700);
});

test("npx rekindle serve takes a request there, shows the pages, and exports the user", async () => {
  const port = await freePort();
  // npx would end at a signal and leave the service running.
  const start = (program: readonly string[], ...words: readonly string[]) =>
    Bun.spawn([...program, ...words], {
      cwd: here,
      env: { ...env, PORT: String(port), LOG_LEVEL: "warn" },
      stdin: "ignore",
      stdout: "pipe",
      stderr: "pipe",
    });
  const server = start([join(here, "node_modules/.bin/rekindle")], "serve");
  const output = printed(server);
  try {
    await until("the service is ready", async () => {
      if (server.exitCode !== null) throw new Error((await output).join("\n"));
      return (await fetch(`http://127.0.0.1:${port}/readyz`).catch(() => undefined))?.status === 200;
    });
    const page = await (await fetch(`http://127.0.0.1:${port}/`)).text();
    const [, script = ""] = /src="([^"]+\.js)"/.exec(page) ?? [];
    expect((await fetch(`http://127.0.0.1:${port}${script}`)).status).toBe(200);
    const [token = ""] = await printed(
      start(["npx", "rekindle"], "token", "create", "--organization", "default"),
    );
    const answer = await fetch(`http://127.0.0.1:${port}/identify`, {
      method: "POST",
      headers: { Authorization: `Basic ${token.trim()}`, "Content-Type": "application/json" },
      body: JSON.stringify({ userId: "u1", email: "ada@example.com" }),
    });
    expect(await answer.json()).toEqual({ success: true });
    const [users = ""] = await printed(
      start(["npx", "rekindle"], "export", "users", "--organization", "default"),
    );
    expect(users).toContain("ada@example.com");
  } finally {
    server.kill("SIGTERM");
    await server.exited;
  }
  expect(existsSync(join(here, "data"))).toBe(true);
});
