/** The name under which the scored demonstration is kept: another one as soon as the code would make it
 * differently. */
import { afterAll, expect, test } from "bun:test";
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { demonstrationKey } from "./scored-demonstration.ts";

const tree = mkdtempSync(join(tmpdir(), "rekindle-key-"));
afterAll(() => rmSync(tree, { recursive: true }));

const code = [
  "server/scoring/health.ts",
  "simulation/population.ts",
  "contract/limits.ts",
  "cli/demo-load.ts",
  "package-lock.json",
  "test/scored-demonstration.ts",
  "test/serve.ts",
  "test/served-as.ts",
];
for (const path of [...code, "dashboard/page.tsx", "test/x.test.ts"]) {
  mkdirSync(dirname(join(tree, path)), { recursive: true });
  writeFileSync(join(tree, path), path);
}

test.each(code)("a change of %s changes the name", (path) => {
  const before = demonstrationKey(tree);
  expect(demonstrationKey(tree)).toBe(before);
  appendFileSync(join(tree, path), " ");
  expect(demonstrationKey(tree)).not.toBe(before);
});

test("a page and a test do not change the name", () => {
  const before = demonstrationKey(tree);
  for (const path of ["dashboard/page.tsx", "test/x.test.ts"]) appendFileSync(join(tree, path), " ");
  expect(demonstrationKey(tree)).toBe(before);
});
