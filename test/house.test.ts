/** The tools that read the code instead of running it. A failing one shows its own output. */
import { expect, setDefaultTimeout, test } from "bun:test";
import { root } from "./tidy/source-files.ts";

/** Runs a tool's launcher under Bun, so that none of them needs a Node on the path. */
function run(program: string, ...options: string[]): string {
  const result = Bun.spawnSync([process.execPath, `${root}/node_modules/${program}`, ...options], {
    cwd: root,
    stdout: "pipe",
    stderr: "pipe",
  });
  return result.success ? "" : `${result.stdout}${result.stderr}` || `${program} failed without a word`;
}

/** They take half a minute, and several where others work on the same cores. */
setDefaultTimeout(10 * 60_000);

test("Biome finds nothing to mend or to format", () => {
  expect(run("@biomejs/biome/bin/biome", "check", "--error-on-warnings", ".")).toBe("");
});

test("TypeScript finds no wrong type", () => {
  expect(run("typescript/bin/tsc", "--noEmit")).toBe("");
});

test("TypeScript finds no wrong type in the dashboard, whose world is the browser's", () => {
  expect(run("typescript/bin/tsc", "--noEmit", "-p", "dashboard")).toBe("");
});

test("Knip finds no unused file, export or dependency", () => {
  expect(run("knip/bin/knip-bun.js", "--no-progress")).toBe("");
});
