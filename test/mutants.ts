/**
 * Shows that the tests bite: breaks one promise of the code at a time in a copy of the tree, and runs the
 * test that has to notice. `cli/with-bun test/mutants.ts [word…]` takes all, or those whose name has a word; it fails
 * when a mutant survives.
 */
import { cpSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { type Mutant, mutants, mutated } from "./mutant-list.ts";

const root = join(import.meta.dir, "..");

/** A copy of the tree, for the time of `work`. */
async function inCopy<Result>(work: (copy: string) => Promise<Result>): Promise<Result> {
  const copy = mkdtempSync(join(tmpdir(), "rekindle-mutant-"));
  try {
    const left = new Set(["node_modules", ".git", "data"]);
    cpSync(root, copy, { recursive: true, filter: (path) => !left.has(basename(path)) });
    symlinkSync(join(root, "node_modules"), join(copy, "node_modules"));
    return await work(copy);
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

function applyMutant(copy: string, mutant: Mutant): void {
  const file = join(copy, mutant.file);
  const before = readFileSync(file, "utf8");
  const after = mutated(before, mutant);
  if (after === before) throw new Error(`${mutant.name}: ${mutant.file} has no such place any more`);
  writeFileSync(file, after);
}

async function passes(copy: string, test: string): Promise<boolean> {
  const child = Bun.spawn([process.execPath, "test", test, "--timeout", "120000"], {
    cwd: copy,
    stdout: "ignore",
    stderr: "ignore",
  });
  return (await child.exited) === 0;
}

const words = process.argv.slice(2);
const chosen =
  words.length === 0 ? mutants : mutants.filter(({ name }) => words.some((word) => name.includes(word)));

// A test that fails without a mutant too would catch all of them.
for (const test of new Set(chosen.map((mutant) => mutant.test))) {
  if (!(await inCopy((copy) => passes(copy, test)))) throw new Error(`${test} fails without a mutant`);
}

let survivors = 0;
for (const mutant of chosen) {
  const survived = await inCopy((copy) => {
    applyMutant(copy, mutant);
    return passes(copy, mutant.test);
  });
  if (survived) survivors += 1;
  console.log(`${survived ? "SURVIVED" : "caught  "}  ${mutant.name} (${mutant.test})`);
}
process.exit(survivors === 0 ? 0 : 1);
