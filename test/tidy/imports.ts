/**
 * Which room may import which. Rooms are the folders under server/ and the folders beside it; they lie in
 * layers, and imports go down. Within a layer a room is reached through its interface file alone,
 * `<room>/<room>.ts`.
 */
import { posix } from "node:path";
import { type SourceFile, withoutComments } from "./source-files.ts";

/** From the top. A room imports any file of a layer below its own. */
const layers: readonly (readonly string[])[] = [
  ["cli"],
  ["main"],
  ["http"],
  ["intake", "sources", "analytics", "scoring", "dashboard"],
  ["ledger", "warehouse"],
  ["process", "calendar"],
  ["config"],
  ["contract"],
];

/** Rooms that run elsewhere, or hold for everybody: they see the contract and nothing else of ours. */
const seesOnlyContract: readonly string[] = ["config", "client", "pages"];

/** Rooms for few: what they see, and who imports them. */
const reserved: Readonly<Record<string, { readonly sees: string[]; readonly seenBy: string[] }>> = {
  simulation: { sees: ["calendar", "contract"], seenBy: ["cli"] },
};

const seesEverything: readonly string[] = ["bench", "test"];

/** The room of a file: `main` are the files lying in server/ itself, `pages` those of the browser. */
function roomOf(path: string): string | undefined {
  const [top = "", second = "", third] = path.split("/");
  if (top === "server") {
    if (second === "config.ts") return "config";
    return third === undefined ? "main" : second;
  }
  if (top === "dashboard") return "pages";
  return ["cli", "contract", "client", "simulation", "bench", "test"].includes(top) ? top : undefined;
}

/** Why one file may not import another; `undefined` when it may. */
function objection(from: string, to: string): string | undefined {
  const [room, target] = [roomOf(from), roomOf(to)];
  if (room === undefined || room === target || seesEverything.includes(room)) return undefined;
  if (target === undefined) return "is in no room";
  if (room === "contract") return "contract/ imports nothing of ours";
  if (seesOnlyContract.includes(room)) {
    return target === "contract" ? undefined : `${room} sees only the contract`;
  }
  if (seesOnlyContract.includes(target) && target !== "config") {
    return `nobody imports ${target}`;
  }
  if (reserved[room] !== undefined) {
    return reserved[room].sees.includes(target) ? undefined : `${room} sees only ${reserved[room].sees}`;
  }
  if (reserved[target] !== undefined) {
    return reserved[target].seenBy.includes(room)
      ? undefined
      : `only ${reserved[target].seenBy} imports ${target}`;
  }
  const [layer, targetLayer] = [layerOf(room), layerOf(target)];
  if (layer < 0 || targetLayer < 0) return "a new room: add it to the layers in test/tidy/imports.ts";
  if (targetLayer > layer) return undefined;
  if (targetLayer < layer) return `${target} lies above ${room}`;
  return to.endsWith(`/${target}/${target}.ts`) ? undefined : `a sibling is imported through ${target}.ts`;
}

function layerOf(room: string): number {
  return layers.findIndex((layer) => layer.includes(room));
}

/** The relative imports of a file, static and dynamic, and worker files named by `new URL`. */
function importsOf({ path, text }: SourceFile): string[] {
  const pattern =
    /(?:\bfrom\s+|\bimport\s+|\bimport\(\s*|\brequire\(\s*|\bnew URL\(\s*|import\.meta\.resolve\(\s*)["'](\.[^"']*)["']/g;
  return [...withoutComments(text).matchAll(pattern)].map(([, specifier = ""]) =>
    posix.normalize(posix.join(posix.dirname(path), specifier)),
  );
}

/** Every import that goes the wrong way, as a sentence. */
export function wrongImports(files: readonly SourceFile[]): string[] {
  return files
    .filter(({ path }) => /\.(ts|tsx|mjs|js)$/.test(path))
    .flatMap((file) =>
      importsOf(file).flatMap((to) => {
        const why = objection(file.path, to);
        return why === undefined ? [] : [`${file.path} imports ${to}: ${why}`];
      }),
    );
}
