/**
 * Measures how many faults the tests notice: `cli/with-bun test/mutants.ts [--count 200] [--seed N] [--tests
 * WORD] [PLACE…]` makes faults at random places of server/, one at a time, in a copy of the project. It runs
 * the tests that reach the place until one of them fails. PLACE is a part of a path, or with a line
 * `statistics/sbg.ts:79`: only faults there are made. `--tests` chooses files of tests. `--long` asks the
 * long files that run the place, too, when those of `npm test` notice nothing (test/proved.json). Faults that
 * no test notices are printed as a diff. Exit code 1 when less than 85 % are caught.
 *
 * `--by-hand [WORD…]` makes the faults of test/mutants/by-hand.ts instead, each of which breaks one promise.
 */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { builtPages } from "../cli/pages.ts";
import { Random } from "../simulation/random.ts";
import { checkByHand } from "./mutants/check-by-hand.ts";
import { ProjectCopy } from "./mutants/copy.ts";
import { type Mutant, mutantsOf, mutated } from "./mutants/generate.ts";
import { Judge, type Judged, type Verdict } from "./mutants/judge.ts";
import { measure, type Reach, type Source, testsOf } from "./mutants/reach.ts";
import { runsThatRan } from "./runner/proved.ts";
import { tierOf } from "./runs.ts";
import { listPaths, root } from "./tidy/source-files.ts";

/** A small machine has two cores. */
const copiesAtOnce = 2;
const aim = 0.85;

const words: Readonly<Record<Verdict, string>> = {
  test: "caught by a test",
  time: "caught by a test's time-out",
  types: "caught by the compiler alone",
  survived: "survived",
  unreached: "survived: no test reaches it",
};

async function main(): Promise<number> {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      count: { type: "string", default: "200" },
      seed: { type: "string", default: String(Date.now() % 1_000_000) },
      tests: { type: "string", multiple: true, default: [""] },
      long: { type: "boolean", default: false },
      "by-hand": { type: "boolean", default: false },
    },
  });
  await builtPages();
  if (values["by-hand"]) return checkByHand(positionals);
  const sources = listPaths()
    .filter((path) => /^server\/.*\.ts$/.test(path))
    .map((path): Source => ({ path, text: readFileSync(join(root, path), "utf8") }));
  const chosen = choose(sources, positionals, Number(values.count), Number(values.seed));
  const files = new Set(chosen.map(({ path }) => path));
  console.log(`seed ${values.seed}: ${chosen.length} mutants of ${files.size} files`);
  const tests = listPaths().filter(
    (path) =>
      path.endsWith(".test.ts") &&
      tierOf(path) === "test" &&
      values.tests.some((word) => path.includes(word)),
  );
  const reaches = await measure(tests, sources, files, copiesAtOnce, console.log);
  for (const { test, passed } of reaches)
    if (!passed) console.log(`left out, it fails without a fault: ${test}`);
  const longTests = values.long ? longTestsOf : () => [];
  const byPath = new Map(sources.map((source) => [source.path, source]));
  const judged = await judgeAll(chosen, byPath, reaches, longTests);
  return summary(judged);
}

/** Mutants at random places. @param places parts of paths, each with a line or without:
 * `statistics/sbg.ts:79` */
function choose(
  sources: readonly Source[],
  places: readonly string[],
  count: number,
  seed: number,
): Mutant[] {
  const isWanted = ({ path, line }: Mutant) =>
    places.some((place) => {
      const [part = "", wanted] = place.split(":");
      return path.includes(part) && (wanted === undefined || Number(wanted) === line);
    });
  const all = sources.flatMap(({ path, text }) => mutantsOf(path, text));
  const left = places.length === 0 ? all : all.filter(isWanted);
  const random = new Random(seed);
  const chosen: Mutant[] = [];
  while (chosen.length < count && left.length > 0) {
    chosen.push(...left.splice(Math.floor(random.next() * left.length), 1));
  }
  return chosen;
}

/** The long files that run a file of the product, the quickest first. */
function longTestsOf(path: string): Pick<Reach, "test" | "seconds">[] {
  const { files }: { files: Record<string, number> } = JSON.parse(
    readFileSync(join(root, "test/timings.json"), "utf8"),
  );
  return runsThatRan(path)
    .filter((name) => tierOf(name) === "long")
    .map((test) => ({ test, seconds: (files[test] ?? 0) / 1_000 }))
    .sort((a, b) => a.seconds - b.seconds);
}

async function judgeAll(
  mutants: readonly Mutant[],
  sources: ReadonlyMap<string, Source>,
  reaches: readonly Reach[],
  longTests: typeof longTestsOf,
): Promise<Judged[]> {
  const waiting = [...mutants];
  const judged: Judged[] = [];
  const passes = new Map<string, boolean>();
  const work = async () => {
    const copy = new ProjectCopy();
    const judge = new Judge(copy, passes);
    try {
      for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
        const source = sources.get(mutant.path);
        if (source === undefined) throw new Error(`${mutant.path} is no file of the product`);
        const tests = testsOf(source, mutant.start, mutant.end, reaches);
        const first = await judge.judge(mutant, source, tests);
        const more = isSurvivor(first) ? longTests(mutant.path) : [];
        const result = more.length === 0 ? first : await judge.judge(mutant, source, more);
        judged.push(result);
        print(result, source);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: copiesAtOnce }, work));
  return judged;
}

function isSurvivor({ verdict }: Pick<Judged, "verdict">): boolean {
  return verdict === "survived" || verdict === "unreached";
}

function print({ mutant, verdict, by }: Judged, { text }: Source): void {
  const place = `${mutant.path}:${mutant.line} ${mutant.operator}`;
  console.log(`${words[verdict]}: ${place}${by === "" ? "" : ` (${by})`}`);
  if (!isSurvivor({ verdict })) return;
  const [before, after] = [text, mutated(text, mutant)].map((whole) => whole.split("\n"));
  const isSame = (back: number) => before?.at(-back) === after?.at(-back);
  let common = 1;
  while (isSame(common) && common < (after?.length ?? 0) - mutant.line + 1) common += 1;
  const part = (lines: readonly string[] = []) => lines.slice(mutant.line - 1, lines.length - common + 1);
  for (const line of part(before)) console.log(`  - ${line}`);
  for (const line of part(after)) console.log(`  + ${line}`);
}

/** Prints the rate. @returns the exit code */
function summary(judged: readonly Judged[]): number {
  const count = (verdict: Verdict) => judged.filter((one) => one.verdict === verdict).length;
  for (const verdict of Object.keys(words) as Verdict[]) console.log(`${count(verdict)} ${words[verdict]}`);
  const survivors = count("survived") + count("unreached");
  const rate = 1 - survivors / judged.length;
  const compiled = judged.length - count("types");
  const percent = (share: number) => `${(share * 100).toFixed(1)} %`;
  console.log(`${percent(rate)} of ${judged.length} are caught (aim: ${percent(aim)})`);
  console.log(`${percent(1 - survivors / compiled)} of the ${compiled} that compile are caught by tests`);
  return rate >= aim ? 0 : 1;
}

process.exitCode = await main();
