/**
 * The regions of the product that each file of tests reaches, measured in a copy with counting code. A
 * measurement is kept in node_modules/.cache until the file of tests changes. It counts for a file of the
 * product until that file changes.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { root } from "../tidy/source-files.ts";
import { ProjectCopy } from "./copy.ts";
import { instrumented, type Region, regionAt, regionsOf } from "./regions.ts";

const cache = join(root, "node_modules/.cache/rekindle-mutants");
const maxTestMs = 10 * 60_000;

/** A file of the product. */
export interface Source {
  readonly path: string;
  readonly text: string;
}

/** The code that a file of tests reaches. */
export interface Reach {
  readonly test: string;
  readonly testHash: string;
  readonly passed: boolean;
  readonly seconds: number;
  /** By the path of a file of the product. */
  readonly files: Readonly<Record<string, { readonly hash: string; readonly regions: readonly number[] }>>;
}

/**
 * Measures every file of tests whose kept measurement is old.
 * @param sources all files of the product
 * @param wanted the files of the product for which the measurement has to be new
 * @param say called with a line for each measurement
 */
export async function measure(
  tests: readonly string[],
  sources: readonly Source[],
  wanted: ReadonlySet<string>,
  copies: number,
  say: (text: string) => void,
): Promise<Reach[]> {
  const hashes = new Map(sources.map(({ path, text }) => [path, hashOf(text)]));
  const found: Reach[] = [];
  const waiting: string[] = [];
  for (const test of tests) {
    const kept = keptOf(test);
    const isFresh = Object.entries(kept?.files ?? {}).every(
      ([path, { hash }]) => !wanted.has(path) || hashes.get(path) === hash,
    );
    if (kept !== undefined && isFresh) found.push(kept);
    else waiting.push(test);
  }
  const work = async () => {
    if (waiting.length === 0) return;
    const copy = new Instrumented(sources, hashes);
    try {
      for (let test = waiting.shift(); test !== undefined; test = waiting.shift()) {
        const reach = await copy.measure(test);
        found.push(reach);
        mkdirSync(cache, { recursive: true });
        // A failure may have been the machine's.
        if (reach.passed) writeFileSync(placeOf(test), JSON.stringify(reach));
        say(`measured ${test}: ${reach.seconds.toFixed(1)} s${reach.passed ? "" : ", it fails"}`);
      }
    } finally {
      copy.remove();
    }
  };
  await Promise.all(Array.from({ length: copies }, work));
  return found;
}

/** The files of tests that pass and reach a place, the quickest first. */
export function testsOf(source: Source, start: number, end: number, reaches: readonly Reach[]): Reach[] {
  const region = regionAt(regionsOf(source.path, source.text), start, end);
  return reaches
    .filter(({ passed, files }) => passed && files[source.path]?.regions.includes(region))
    .sort((a, b) => a.seconds - b.seconds);
}

/** A copy whose files of the product write down which regions run. */
class Instrumented extends ProjectCopy {
  readonly #first: {
    readonly path: string;
    readonly firstId: number;
    readonly regions: readonly Region[];
  }[] = [];
  readonly #hashes: ReadonlyMap<string, string>;

  constructor(sources: readonly Source[], hashes: ReadonlyMap<string, string>) {
    super();
    this.#hashes = hashes;
    let firstId = 0;
    for (const { path, text } of sources) {
      const regions = regionsOf(path, text);
      this.#first.push({ path, firstId, regions });
      this.write(
        path,
        instrumented(text, regions, (region) => firstId + region, this.path("reach.ts")),
      );
      firstId += regions.length;
    }
    this.write(
      "reach.ts",
      `import { appendFileSync } from "node:fs";
const seen = new Uint8Array(${firstId});
export function reach(id: number): void {
  if (seen[id] === 1) return;
  seen[id] = 1;
  appendFileSync(${JSON.stringify(this.path("reached"))}, id + "\\n");
}
`,
    );
  }

  async measure(test: string): Promise<Reach> {
    this.write("reached", "");
    const startedMs = performance.now();
    const ending = await this.test(test, maxTestMs);
    const seconds = (performance.now() - startedMs) / 1000;
    const ids = new Set(readFileSync(this.path("reached"), "utf8").split("\n").filter(Boolean).map(Number));
    const files: Record<string, { hash: string; regions: number[] }> = {};
    for (const { path, firstId, regions } of this.#first) {
      const reached = [...regions.keys()].filter((index) => ids.has(firstId + index));
      if (reached.length > 0) files[path] = { hash: this.#hashes.get(path) ?? "", regions: reached };
    }
    const testHash = hashOf(readFileSync(join(root, test), "utf8"));
    return { test, testHash, passed: ending === "passed", seconds, files };
  }
}

const placeOf = (test: string) => join(cache, `${test.replaceAll("/", "-")}.json`);
const hashOf = (text: string) => new Bun.CryptoHasher("sha256").update(text).digest("hex").slice(0, 16);

function keptOf(test: string): Reach | undefined {
  if (!existsSync(placeOf(test))) return undefined;
  const kept: Reach = JSON.parse(readFileSync(placeOf(test), "utf8"));
  return kept.testHash === hashOf(readFileSync(join(root, test), "utf8")) ? kept : undefined;
}
