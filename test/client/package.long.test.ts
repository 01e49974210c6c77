/** The package as it is published: small, alone, and at home wherever there are a fetch and a clock. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { copyFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createContext, SourceTextModule } from "node:vm";
import { gzipSync } from "node:zlib";
import { buildClient } from "../../client/build.ts";
import type { Rekindle } from "../../client/rekindle.ts";
import { run, Server } from "../server.ts";
import { patienceMs } from "./support.ts";

const root = join(import.meta.dir, "..", "..");
const application = mkdtempSync(join(tmpdir(), "rekindle-package-"));
const folder = join(application, "node_modules", "rekindle-client");
const organization = "Package";
const nowhere = "http://127.0.0.1:1";
let server: Server;
let token: string;

beforeAll(async () => {
  await buildClient(join(folder, "dist"));
  for (const name of ["package.json", "README.md"])
    copyFileSync(join(root, "client", name), join(folder, name));
  copyFileSync(join(import.meta.dir, "in-node.mjs"), join(application, "in-node.mjs"));
  server = await Server.start();
  token = await server.organization(organization);
});
afterAll(async () => {
  rmSync(application, { recursive: true });
  await server.stop();
});

const readme = () => readFileSync(join(root, "client", "README.md"), "utf8");
const code = () => readFileSync(join(folder, "dist", "rekindle.js"), "utf8");

async function eventNames(): Promise<unknown[]> {
  return (await server.exported("events", organization)).map(({ event }) => event);
}

test("its code is one file under 5 kB, as its README says, that imports nothing", () => {
  const bytes = Buffer.byteLength(code());
  expect(bytes).toBeLessThan(5_000);
  expect(code()).not.toMatch(/\bimport\b|\brequire\b|node:/);
  const compressed = (gzipSync(code()).length / 1_000).toFixed(1);
  expect(readme()).toContain(`5 kB minified, ${compressed} kB compressed`);
});

test("the npm package contains the code, its map, the declarations, the README and our license", async () => {
  const { stdout } = await run(["npm", "pack", "--dry-run", "--json", "--offline"], { cwd: folder });
  const [packed] = JSON.parse(stdout);
  expect(packed.files.map(({ path }: { path: string }) => path).sort()).toEqual([
    "README.md",
    "dist/LICENSE",
    "dist/rekindle.d.ts",
    "dist/rekindle.js",
    "dist/rekindle.js.map",
    "dist/types.d.ts",
    "package.json",
  ]);
  const { license, dependencies } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8"));
  expect([license, dependencies]).toEqual(["Apache-2.0", undefined]);
  // A package is read where the repository's files are not beside it.
  expect(readme()).not.toContain("](");
});

describe("its declarations", () => {
  const compile = (text: string, ...options: string[]) => {
    writeFileSync(join(application, "use.ts"), text);
    const tsc = [process.execPath, join(root, "node_modules/typescript/bin/tsc"), "--noEmit", "--strict"];
    // No library of the browser, no types of a runtime, and declarations are checked too.
    const bare = ["--lib", "ES2022", "--types", "", "--target", "ES2022", ...options, "use.ts"];
    return run([...tsc, ...bare], { cwd: application });
  };
  const use = (body: string) => `import { Rekindle, type Item } from "rekindle-client";
const client = new Rekindle({ token: "rk-", host: "https://example.com", onDrop: (item, reason) => void [item.userId, reason] });
${body}
export const sent: Promise<boolean> = client.close(100);\n`;

  test.each([
    ["NodeNext", "NodeNext"],
    ["Preserve", "bundler"],
  ])("stand alone in a project with %s modules", async (module, resolution) => {
    const text = use(`const traits: { plan?: string } = {};
client.identify({ userId: 1, email: "a@b.co", properties: { ...traits, custom: [1] }, account: null });
client.track({ userId: "1", event: "e", timestamp: new Date(0), properties: { a: 1 } });
const items: Item[] = [{ type: "track", userId: 1, event: "e" }];
client.batch(items);`);
    const options = ["--module", module, "--moduleResolution", resolution];
    expect(await compile(text, ...options)).toMatchObject({ exitCode: 0, stdout: "" });
  });

  test.each([
    ['client.identify({ userId: "u" });', "email"],
    ['client.track({ userId: "u", event: 7 });', "number"],
    ['client.track({ event: "e" });', "userId"],
    ['client.batch([{ type: "page", userId: "u" }]);', "page"],
  ])("find what is wrong in %s", async (statement, complaint) => {
    const { exitCode, stdout } = await compile(use(statement), "--module", "NodeNext");
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain(complaint);
  });
});

describe("an application on Node", () => {
  const node = (host: string, mode: string, limitMs = patienceMs) =>
    run(["node", join(application, "in-node.mjs"), host, token, mode, String(limitMs)]);

  test.each(["flushed", "closed"])("sends, and ends by itself (%s)", async (mode) => {
    expect(await node(server.url, mode)).toEqual({ exitCode: 0, stdout: "true\n", stderr: "" });
    expect(await eventNames()).toContain(mode);
  });

  test("runs the README's example as it stands", async () => {
    const [, example = ""] = /^```ts\n(.*?)^```/ms.exec(readme()) ?? [];
    const text = example.replace("http://127.0.0.1:8080", server.url).replace("YOUR_TOKEN", token);
    writeFileSync(join(application, "example.mjs"), text);
    const ended = await run(["node", join(application, "example.mjs")]);
    expect(ended).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await eventNames()).toContain("report_created");
  });

  test("that forgets to close stays until the batch is sent", async () => {
    expect(await node(server.url, "forgotten")).toEqual({ exitCode: 0, stdout: "", stderr: "" });
    expect(await eventNames()).toContain("forgotten");
  });

  test("is not held by a service that is away, and may wait for it", async () => {
    expect(await node(nowhere, "forgotten")).toEqual({ exitCode: 0, stdout: "unreachable\n", stderr: "" });
    const { exitCode, stdout } = await node(nowhere, "refused", 1_500);
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^(unreachable\n)+false\n$/);
  });
});

describe("on the edge, where there is nothing but the web's globals", () => {
  /** Timers are numbers there, without an unref. */
  const timers: Timer[] = [];
  const globals = {
    fetch,
    crypto,
    TextEncoder,
    AbortController,
    setTimeout: (callback: () => void, delayMs: number) => timers.push(setTimeout(callback, delayMs)),
    clearTimeout: (timer = 0) => clearTimeout(timers[timer - 1]),
  };

  async function load(context: object): Promise<typeof Rekindle> {
    const module = new SourceTextModule(code(), { context: createContext(context) });
    await module.link(() => {
      throw new Error("it imports something");
    });
    await module.evaluate();
    return (module.namespace as { Rekindle: typeof Rekindle }).Rekindle;
  }

  test("it sends", async () => {
    const Client = await load(globals);
    const client = new Client({ token, host: server.url, timeoutMs: patienceMs });
    client.identify({ userId: "edge", email: "ada@example.com" });
    client.track({ userId: "edge", event: "on_the_edge" });
    expect(await client.close(patienceMs)).toBe(true);
    expect(await eventNames()).toContain("on_the_edge");
  });

  test("loading it and making a client touch none of them, as some runtimes demand outside of requests", async () => {
    const Client = await load({});
    const client = new Client({ token, host: server.url, onError: ({ name }) => told.push(name) });
    const told: string[] = [];
    client.track({ userId: "edge", event: "without_globals" });
    expect(told).toEqual(["invalid_item"]);
  });
});
