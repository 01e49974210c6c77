/** The diagram of the modules in ARCHITECTURE.md, held against the imports. */
import { importsOf, moduleOf } from "./imports.ts";
import type { SourceFile } from "./source-files.ts";

/** Modules that nearly every other one imports: arrows to them would hide the rest. */
const everywhere = new Set(["config", "contract", "process", "calendar"]);
/** Modules that are not part of the running product. */
const outside = new Set(["bench", "test"]);

/** Pairs of modules of which the first imports the second, without those that follow from others: `http -->
 * ledger` is left out when http imports intake, and intake the ledger. Sorted. */
export function moduleArrows(files: readonly SourceFile[]): string[] {
  const graph = new Map<string, Set<string>>();
  for (const file of files.filter(({ path }) => /\.(ts|tsx)$/.test(path))) {
    const from = moduleOf(file.path);
    for (const to of importsOf(file).map(moduleOf)) {
      if (from === undefined || to === undefined || from === to) continue;
      if (outside.has(from) || everywhere.has(from) || everywhere.has(to)) continue;
      graph.set(from, (graph.get(from) ?? new Set()).add(to));
    }
  }
  const reaches = (from: string, to: string): boolean =>
    [...(graph.get(from) ?? [])].some((next) => next === to || reaches(next, to));
  return [...graph]
    .flatMap(([from, targets]) =>
      [...targets]
        .filter((to) => ![...targets].some((other) => other !== to && reaches(other, to)))
        .map((to) => `${from} --> ${to}`),
    )
    .sort();
}

/** The arrows of the Mermaid diagram in a document, as `moduleArrows` writes them. */
export function drawnArrows(text: string): string[] {
  const [, diagram = ""] = /```mermaid\n([\s\S]*?)```/.exec(text) ?? [];
  return [...diagram.matchAll(/^\s*([\w/]+) --> ([\w/]+)$/gm)]
    .map(([, from, to]) => `${from} --> ${to}`)
    .sort();
}
