/** Breaks the promises of by-hand.ts, one at a time, and runs the test that has to notice. */
import { readFileSync } from "node:fs";
import { mutants, mutated } from "./by-hand.ts";
import { ProjectCopy } from "./copy.ts";

const maxTestMs = 5 * 60_000;
/** A mutant may leave a name without a use. */
const unusedNames = ["--noUnusedLocals", "false", "--noUnusedParameters", "false"];

/** Takes the mutants whose name has one of the words. @returns the exit code: 1 when a mutant survives */
export async function checkByHand(words: readonly string[]): Promise<number> {
  const chosen = mutants.filter(
    ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  const copy = new ProjectCopy();
  let survivors = 0;
  try {
    // A test that fails without a mutant too would catch all of them.
    for (const test of new Set(chosen.map((mutant) => mutant.test))) {
      if ((await copy.test(test, maxTestMs)) !== "passed") throw new Error(`${test} fails without a mutant`);
    }
    for (const mutant of chosen) {
      const before = readFileSync(copy.path(mutant.file), "utf8");
      const after = mutated(before, mutant);
      if (after === before) throw new Error(`${mutant.name}: ${mutant.file} has no such place any more`);
      copy.write(mutant.file, after);
      // With a name that is gone, every test fails, whatever it proves.
      if (!(await copy.compiles(...unusedNames))) throw new Error(`${mutant.name}: it does not compile`);
      const survived = (await copy.test(mutant.test, maxTestMs)) === "passed";
      copy.restore(mutant.file);
      if (survived) survivors += 1;
      console.log(`${survived ? "SURVIVED" : "caught  "}  ${mutant.name} (${mutant.test})`);
    }
  } finally {
    copy.remove();
  }
  return survivors === 0 ? 0 : 1;
}
