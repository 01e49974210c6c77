/**
 * The rules of imports. Modules are the directories under server/ and those beside it. They lie in layers,
 * and imports go down or to a sibling. No file imports itself by way of others, types included.
 */
import { posix } from "node:path";
import { type SourceFile, withoutComments } from "./source-files.ts";

/** From the top. */
const layers: readonly (readonly string[])[] = [
  ["cli"],
  ["start"],
  ["cluster"],
  ["between", "between/remote"],
  ["features"],
  ["figures"],
  ["http"],
  ["sources", "analytics", "members", "sending"],
  ["intake", "scoring"],
  // A move to PostgreSQL reads a SQLite ledger.
  ["ledger/postgres"],
  ["ledger/sqlite", "warehouse"],
  ["ledger", "revenue"],
  ["process", "calendar"],
  ["config"],
  ["contract"],
];

/** Modules that run elsewhere, or that every module uses: they see the contract and nothing else of ours. */
const seesOnlyContract: readonly string[] = ["config", "client", "dashboard"];

/** Modules with few importers, with those importers and the modules that they may import. */
const reserved: Readonly<Record<string, { readonly sees: string[]; readonly seenBy: string[] }>> = {
  simulation: { sees: ["calendar", "contract"], seenBy: ["cli"] },
};

/** Directories in modules that are modules of their own, because a process loads one of the two forms of the
 * ledger, and a command only the asking side of calls. */
const loadedAlone: readonly string[] = ["sqlite", "postgres", "remote"];

const seesEverything: readonly string[] = ["bench", "test"];

/** The module of a file. */
export function moduleOf(path: string): string | undefined {
  const [top = "", second = "", third = "", fourth] = path.split("/");
  if (top === "server") {
    if (second === "config.ts") return "config";
    return fourth !== undefined && loadedAlone.includes(third) ? `${second}/${third}` : second;
  }
  return ["cli", "dashboard", "contract", "client", "simulation", "bench", "test"].includes(top)
    ? top
    : undefined;
}

/** The only file that imports the manifest, which has the version. */
const versionFile = "server/process/version.ts";
const manifest = "package.json";

/** Why one file may not import another. `undefined` when it may. */
function objection(from: string, to: string): string | undefined {
  const [module, target] = [moduleOf(from), moduleOf(to)];
  if (module === undefined || module === target || seesEverything.includes(module)) return undefined;
  if (from === versionFile && to === manifest) return undefined;
  if (target === undefined) return "is in no module";
  if (module === "contract") return "contract/ imports nothing of ours";
  if (seesOnlyContract.includes(module)) {
    return target === "contract" ? undefined : `${module} sees only the contract`;
  }
  if (seesOnlyContract.includes(target) && target !== "config") return `no module imports ${target}`;
  if (reserved[module] !== undefined && !reserved[module].sees.includes(target)) {
    return `${module} sees only ${reserved[module].sees}`;
  }
  if (reserved[target] !== undefined) {
    return reserved[target].seenBy.includes(module)
      ? undefined
      : `only ${reserved[target].seenBy} imports ${target}`;
  }
  return againstLayers(module, target);
}

function againstLayers(module: string, target: string): string | undefined {
  const [layer, targetLayer] = [layerOf(module), layerOf(target)];
  if (targetLayer < 0 || (layer < 0 && reserved[module] === undefined)) {
    return "a new module: add it to the layers in test/tidy/imports.ts";
  }
  return layer >= 0 && targetLayer < layer ? `${target} lies above ${module}` : undefined;
}

function layerOf(module: string): number {
  return layers.findIndex((layer) => layer.includes(module));
}

/** The relative imports of a file, static and dynamic, and worker files named by `new URL`. */
export function importsOf({ path, text }: SourceFile): string[] {
  const pattern =
    /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\brequire\(\s*|\bnew URL\(\s*|import\.meta\.resolve\(\s*)["'](\.[^"']*)["']/g;
  return [...withoutComments(text).matchAll(pattern)].map(([, specifier = ""]) =>
    posix.normalize(posix.join(posix.dirname(path), specifier)),
  );
}

function codeOf(files: readonly SourceFile[]): SourceFile[] {
  return files.filter(({ path }) => /\.(ts|tsx|mjs|js)$/.test(path));
}

/** Every import that goes the wrong way, as a sentence. */
export function wrongImports(files: readonly SourceFile[]): string[] {
  return codeOf(files).flatMap((file) =>
    importsOf(file).flatMap((to) => {
      const why = objection(file.path, to);
      return why === undefined ? [] : [`${file.path} imports ${to}: ${why}`];
    }),
  );
}

/** Every group of files that import each other in a circle, as one line of paths in their order. The groups
 * are the strongly connected components of the import graph (Tarjan 1972). */
export function importCircles(files: readonly SourceFile[]): string[] {
  const graph = new Map(codeOf(files).map((file) => [file.path, importsOf(file)]));
  const order = new Map<string, number>();
  const lowest = new Map<string, number>();
  const open: string[] = [];
  const circles: string[] = [];
  const visit = (path: string) => {
    const place = order.size;
    order.set(path, place);
    lowest.set(path, place);
    open.push(path);
    for (const next of graph.get(path) ?? []) {
      if (!graph.has(next)) continue;
      if (!order.has(next)) visit(next);
      if (open.includes(next)) {
        lowest.set(path, Math.min(lowest.get(path) ?? place, lowest.get(next) ?? place));
      }
    }
    if (lowest.get(path) !== place) return;
    const group = open.splice(open.indexOf(path));
    const isCircle = group.length > 1 || graph.get(path)?.includes(path) === true;
    if (isCircle) circles.push(group.sort().join(", "));
  };
  for (const path of graph.keys()) if (!order.has(path)) visit(path);
  return circles.sort();
}
