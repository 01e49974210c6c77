/** Paths of this repository that comments and documents name. */
import { commentsOf, type SourceFile } from "./source-files.ts";

const directories = "server|cli|client|contract|dashboard|test|bench|simulation|docs|deploy";
/** A path from the root: `test/run.ts`, `server/ledger`, `docs/decisions/0030`. */
const fromRoot = new RegExp(
  String.raw`(?<![\w./@*-])(?:${directories})/[\w-][\w.-]*(?:/[\w.-]+)*(?![\w/]*[*{<$])`,
  "g",
);
/** A file by the end of its path: `router.tsx`, `api/paths.ts`. */
const byItsEnd = /(?<![\w./@*$}-])[\w-]+(?:\/[\w.-]+)*\.tsx?\b(?![\w/]*[*{<$])/g;

/** Paths that are made at run time and not kept. */
const made = [
  "client/dist",
  "dashboard/dist",
  "deploy/cluster.env",
  "deploy/single.env",
  "test/proved.json",
  "test/unstable.json",
];

/** Decision records and the changelog describe the state of their time. */
const isJudged = (path: string) =>
  /\.(ts|tsx|mjs|css|md)$/.test(path) && path !== "CHANGELOG.md" && !path.startsWith("docs/decisions/");

/**
 * Names in comments of code, and in documents, that lead to no file or directory.
 * @param paths every path of the project
 */
export function missingPaths(files: readonly SourceFile[], paths: readonly string[]): string[] {
  const known = new Set([...paths, ...made]);
  for (const path of paths) {
    for (let end = path.lastIndexOf("/"); end > 0; end = path.lastIndexOf("/", end - 1))
      known.add(path.slice(0, end));
  }
  const ends = new Set(paths.flatMap(endsOf));
  // A decision is named by its number.
  const isRecord = (name: string) =>
    /^docs\/decisions\/\d{4}$/.test(name) && paths.some((path) => path.startsWith(`${name}-`));
  return files
    .filter(({ path }) => isJudged(path))
    .flatMap(({ path, text }) => {
      const prose = path.endsWith(".md") ? text : commentsOf(text);
      const rooted = namesIn(prose, fromRoot).filter((name) => !known.has(name) && !isRecord(name));
      const ended = namesIn(prose, byItsEnd).filter((name) => !ends.has(name));
      return [...new Set([...rooted, ...ended])].map((name) => `${path}: ${name} is no path of the project`);
    });
}

function namesIn(text: string, pattern: RegExp): string[] {
  return [...text.matchAll(pattern)].map(([name]) => name.replace(/[./]+$/, ""));
}

function endsOf(path: string): string[] {
  const parts = path.split("/");
  return parts.map((_, index) => parts.slice(index).join("/"));
}

/** The globs that braces stand for: `a/{b,c}` is `a/b` and `a/c`. */
export function alternatives(glob: string): string[] {
  const [all, choices = ""] = /\{([^{}]*)\}/.exec(glob) ?? [];
  if (all === undefined) return [glob];
  return choices.split(",").flatMap((choice) => alternatives(glob.replace(all, choice)));
}
