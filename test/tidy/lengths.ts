/**
 * Lengths of files and functions, kept by a ratchet. A length over the limit was written down when the rule
 * came. It may only get shorter, and leaves the list when it fits.
 */
import { root, type SourceFile } from "./source-files.ts";

export const maxFileLines = 400;
export const maxFunctionLines = 60;

/** Lengths over the limit that are not on the list, or are on it with more than they have. */
export function compareWithRatchet(
  lengths: ReadonlyMap<string, number>,
  limitLines: number,
  exceptions: Readonly<Record<string, number>>,
): string[] {
  const long = [...lengths].filter(([name, lines]) => lines > (exceptions[name] ?? limitLines));
  const lax = Object.entries(exceptions).filter(([name, lines]) => lines > (lengths.get(name) ?? 0));
  return [
    ...long.map(
      ([name, lines]) => `${name} has ${lines} lines, ${exceptions[name] ?? limitLines} are allowed`,
    ),
    ...lax.map(([name, lines]) => {
      const now = lengths.get(name) ?? 0;
      return `${name} has ${now} lines: ${now > limitLines ? `lower its exception from ${lines} to ${now}` : "remove its exception"}`;
    }),
  ];
}

/** Lines of every file of code, by path. */
export function fileLengths(files: readonly SourceFile[]): Map<string, number> {
  const code = files.filter(({ path }) => /\.(ts|tsx|mjs|css|sh)$/.test(path) || path.startsWith("cli/"));
  return new Map(code.map(({ path, text }) => [path, text.trimEnd().split("\n").length]));
}

/**
 * The longest function over the limit in each file, by path, as Biome's parser counts them. A `describe`
 * only holds tests together, so its callback is not counted.
 */
export function functionLengths(files: readonly SourceFile[], folder: string = root): Map<string, number> {
  const texts = new Map(files.map(({ path, text }) => [path, text.split("\n")]));
  const lengths = new Map<string, number>();
  for (const { path, line, lines } of longFunctionsAccordingToBiome(folder)) {
    if (texts.get(path)?.[line - 1]?.trimStart().startsWith("describe(")) continue;
    lengths.set(path, Math.max(lines, lengths.get(path) ?? 0));
  }
  return lengths;
}

interface BiomeReport {
  readonly diagnostics: readonly {
    readonly category: string;
    readonly message: string;
    readonly location: { readonly path: string; readonly start: { readonly line: number } };
  }[];
}

function longFunctionsAccordingToBiome(folder: string) {
  const rule = "complexity/noExcessiveLinesPerFunction";
  const biome = Bun.spawnSync(
    [
      process.execPath,
      `${root}/node_modules/@biomejs/biome/bin/biome`,
      "lint",
      `--only=${rule}`,
      "--reporter=json",
      "--max-diagnostics=none",
      ".",
    ],
    { cwd: folder, stdout: "pipe", stderr: "pipe" },
  );
  let report: BiomeReport;
  try {
    report = JSON.parse(biome.stdout.toString());
  } catch {
    throw new Error(`Biome gave no report: ${biome.stderr.toString()}`);
  }
  return report.diagnostics
    .filter(({ category }) => category === `lint/${rule}`)
    .map(({ message, location }) => ({
      path: location.path,
      line: location.start.line,
      lines: Number(/\((\d+)\)/.exec(message)?.[1]),
    }));
}
