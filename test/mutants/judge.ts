/** Decides whether a mutant is caught, by running the tests that reach it. */
import type { ProjectCopy } from "./copy.ts";
import { type Mutant, mutated } from "./generate.ts";
import type { Reach, Source } from "./reach.ts";

/** A mutant may make an endless loop: a test has three times its usual time, and as many seconds more. */
const patience = { factor: 3, moreMs: 20_000 };
/** The compiler runs before tests that take longer than it does. */
const compilerSeconds = 6;
/** Of many tests that reach a survivor, the quickest run that take this long together. */
const maxSecondsOfTests = 240;

export type Verdict = "test" | "time" | "types" | "survived" | "unreached";

export interface Judged {
  readonly mutant: Mutant;
  readonly verdict: Verdict;
  /** The file of tests that noticed, or how many did not. */
  readonly by: string;
}

/** A file of tests, and how long it takes. */
type Timed = Pick<Reach, "test" | "seconds">;

export class Judge {
  readonly #copy: ProjectCopy;
  /** Whether a file of tests passes in a copy without a mutant. Shared by all judges. */
  readonly #passes: Map<string, boolean>;

  constructor(copy: ProjectCopy, passes: Map<string, boolean>) {
    this.#copy = copy;
    this.#passes = passes;
  }

  /** Runs the quick tests, then the compiler, then the slow tests. @param tests the quickest first */
  async judge(mutant: Mutant, source: Source, tests: readonly Timed[]): Promise<Judged> {
    const change = mutated(source.text, mutant);
    this.#copy.write(source.path, change);
    let [seconds, run, isCompiled] = [0, 0, false];
    try {
      for (const reach of tests) {
        if (reach.seconds > compilerSeconds && !isCompiled) {
          if (!(await this.#copy.compiles())) return { mutant, verdict: "types", by: "" };
          isCompiled = true;
        }
        seconds += reach.seconds;
        if (seconds > maxSecondsOfTests && run > 0) break;
        run += 1;
        const ending = await this.#copy.test(reach.test, maxMsOf(reach));
        if (ending !== "passed" && (await this.#passesWithout(source.path, reach)))
          return { mutant, verdict: ending === "failed" ? "test" : "time", by: reach.test };
        this.#copy.write(source.path, change);
      }
      if (!isCompiled && !(await this.#copy.compiles())) return { mutant, verdict: "types", by: "" };
      const by = `${run} of ${tests.length} files of tests ran`;
      return { mutant, verdict: run === 0 ? "unreached" : "survived", by };
    } finally {
      this.#copy.restore(source.path);
    }
  }

  /** A test that fails without a mutant too would catch all of them. */
  async #passesWithout(path: string, reach: Timed): Promise<boolean> {
    const known = this.#passes.get(reach.test);
    if (known !== undefined) return known;
    this.#copy.restore(path);
    const passes = (await this.#copy.test(reach.test, maxMsOf(reach))) === "passed";
    this.#passes.set(reach.test, passes);
    if (!passes) console.log(`left out, it fails without a mutant: ${reach.test}`);
    return passes;
  }
}

// Bun takes whole numbers only.
const maxMsOf = ({ seconds }: Timed) => Math.ceil(seconds * 1_000 * patience.factor + patience.moreMs);
