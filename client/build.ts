/** Builds the package `rekindle-client`: `cli/with-bun client/build.ts [FOLDER]`, by default into
 * client/dist. One file of code, its declarations, which need nothing else, and the license. */
import { copyFileSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const root = join(import.meta.dir, "..");

/** Empties a folder and writes rekindle.js, its source map, the declarations and the license into it.
 * @throws the bundler's or the compiler's error */
export async function buildClient(folder: string): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  await Bun.build({
    entrypoints: [join(import.meta.dir, "rekindle.ts")],
    outdir: folder,
    target: "browser",
    format: "esm",
    minify: true,
    sourcemap: "linked",
  });
  tidy(folder);
  declare(join(folder, ".declarations"));
  for (const name of ["rekindle.d.ts", "types.d.ts"]) {
    const text = readFileSync(join(folder, ".declarations", "client", name), "utf8");
    writeFileSync(join(folder, name), text.replaceAll("./types.ts", "./types.js"));
  }
  rmSync(join(folder, ".declarations"), { recursive: true });
  copyFileSync(join(root, "LICENSE"), join(folder, "LICENSE"));
}

/** Removes the bundler's own id of the source map. */
function tidy(folder: string): void {
  const file = join(folder, "rekindle.js");
  writeFileSync(file, readFileSync(file, "utf8").replace(/^\n?\/\/# debugId=.*\n/m, ""));
}

/** Declarations of all files that the entry imports, except the contract's. */
function declare(folder: string): void {
  const compiler = Bun.spawnSync(
    [
      process.execPath,
      join(root, "node_modules/typescript/bin/tsc"),
      "-p",
      import.meta.dir,
      "--noEmit",
      "false",
      "--declaration",
      "--emitDeclarationOnly",
      "--rootDir",
      root,
      "--outDir",
      folder,
    ],
    { stdout: "pipe", stderr: "pipe" },
  );
  if (!compiler.success) throw new Error(`${compiler.stdout}${compiler.stderr}`);
}

if (import.meta.main) await buildClient(process.argv[2] ?? join(import.meta.dir, "dist"));
