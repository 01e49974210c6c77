/** Every `sh` block of the README and of the pages of docs/ is run as it stands: `npm start`, then each block
 * in the order of the pages' index, on a folder and a port of its own. Blocks that need another machine are
 * `console`. test/sending.test.ts runs docs/send-reliably.md. */
import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { run } from "./server.ts";
import { until } from "./until.ts";

const root = join(import.meta.dir, "..");
const dataDir = mkdtempSync(join(tmpdir(), "rekindle-readme-"));
const env = { ...process.env, DATA_DIR: dataDir, PORT: "0", LOG_LEVEL: "info" };
const textOf = (page: string) => readFileSync(join(root, page), "utf8");
const pages = [...textOf("docs/README.md").matchAll(/\]\(([\w-]+\.md)/g)].map(([, name]) => `docs/${name}`);
const inPages = ["README.md", "docs/README.md", ...pages]
  .filter((page) => page !== "docs/send-reliably.md")
  .flatMap((page) => [...textOf(page).matchAll(/^```sh\n(.*?)^```/gms)].map((match) => match[1] ?? ""));
// The demonstration is in two pages, and is loaded once.
const blocks = [...new Set(inPages)];

// A group of its own, because `npm start` is a chain of processes.
const service = Bun.spawn(["setsid", "sh", "-c", blocks[0] ?? ""], {
  cwd: root,
  env,
  stdin: "ignore",
  stdout: "pipe",
  stderr: "pipe",
});
let output = "";
const reading = Promise.all(
  [service.stdout, service.stderr].map(async (stream) => {
    for await (const chunk of stream) output += Buffer.from(chunk).toString();
  }),
);

afterAll(async () => {
  process.kill(-service.pid, "SIGTERM");
  await service.exited;
  await reading;
  for (const folder of [dataDir, standIns]) rmSync(folder, { recursive: true, force: true });
});

/** The address, when all is printed and figures can be asked for: people are not quicker. The test's time is
 * the limit. */
async function address(): Promise<string> {
  const look = async () => {
    if (service.exitCode !== null) throw new Error(`npm start did not start:\n${output}`);
    const found = /"address":"([^"]+)"/.exec(output)?.[1];
    const isReady = found !== undefined && requests().length >= 2 && (await fetch(`${found}/readyz`)).ok;
    return isReady ? found : "";
  };
  return until("npm start has printed all and is ready", look);
}

/** The requests that were printed so far, in whole lines. */
const requests = () =>
  output
    .split("\n")
    .slice(0, -1)
    .filter((line) => line.trim().startsWith("curl "));

/** npx takes more processor time to find the program of this folder than the program takes. The second block
 * shows that it does; in the others this runs the program. */
const standIns = mkdtempSync(join(tmpdir(), "rekindle-npx-"));
const program = `[ "$1" = rekindle ] || exit 1\nshift\nexec '${join(root, "cli/rekindle")}' "$@"\n`;
writeFileSync(join(standIns, "npx"), `#!/bin/sh\n${program}`, { mode: 0o755 });
const withStandIns = Object.assign({}, env, { PATH: `${standIns}:${process.env.PATH}` });

async function runScript(script: string, hasNpx: boolean): Promise<string> {
  const { exitCode, stdout, stderr } = await run(["sh", "-e", "-c", script], {
    cwd: root,
    env: hasNpx ? env : withStandIns,
  });
  if (exitCode !== 0) throw new Error(`${script}\n${stderr}`);
  return stdout;
}

test("npm start, the first block, prints a token and two requests that work as they stand", async () => {
  const url = await address();
  expect(blocks[0]).toBe("npm start\n");
  expect(requests()).toHaveLength(2);
  for (const request of requests()) {
    expect(request).toContain(url);
    expect(await runScript(request, true)).toBe('{"success":true}');
  }
});

/** The others, and the demonstration last: no other block reads it, and the service scores its past days for
 * minutes. */
const others = blocks
  .slice(1)
  .map((block, index) => [index + 2, block] as const)
  .toSorted(([, a], [, b]) => Number(a.includes("rekindle demo")) - Number(b.includes("rekindle demo")));

test.each(others)("block %d does what it says", async (number, block) => {
  const hasNpx = number === 2;
  if (hasNpx) expect(block).toContain("npx rekindle");
  const printed = await runScript(block.replaceAll("http://127.0.0.1:8080", await address()), hasNpx);
  expect(printed).not.toContain("error");
  for (const answer of printed.match(/\{"success":true\}|\{"message"[^\n]*/g) ?? []) {
    expect(answer).toBe('{"success":true}');
  }
  expect(printed).not.toBe("");
});
