/** Makes the copy of the project that counts (counting.ts). */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { instrumented, regionsOf } from "../mutants/regions.ts";
import { listPaths, root } from "../tidy/source-files.ts";
import { type CountedFile, countingFolder, countingVariable, idsOf, isCounted } from "./counting.ts";

/** A clone of the project's commit, in which the files of the product write down that they ran.
 * @returns its folder, and what removes it @throws Error when git fails */
export function countingCopy(): { readonly path: string; remove(): void } {
  const parent = mkdtempSync(join(tmpdir(), "rekindle-counting-"));
  // PostgreSQL's and a container's user run there, too.
  chmodSync(parent, 0o755);
  const path = join(parent, "project");
  git(root, "clone", "--quiet", "--shared", root, path);
  symlinkSync(realpathSync(join(root, "node_modules")), join(path, "node_modules"));
  // Data that tests read and that are not part of the project.
  const shared = join(root, "../shared");
  if (existsSync(shared)) symlinkSync(realpathSync(shared), join(parent, "shared"));
  const counting = join(path, countingFolder);
  mkdirSync(counting);
  chmodSync(counting, 0o777);
  writeFileSync(join(path, ".git/info/exclude"), `/${countingFolder}/\n/node_modules\n`);
  const ran = join(counting, "ran.ts");
  const files = listPaths().filter(isCounted);
  const counted = files.map((file, index): CountedFile => {
    const text = readFileSync(join(root, file), "utf8");
    const regions = regionsOf(file, text);
    const idOf = (region: number) => (region === 0 ? idsOf(index).imported : idsOf(index).ran);
    writeFileSync(join(path, file), instrumented(text, regions, idOf, ran));
    return { path: file, hasFunctions: regions.length > 1 };
  });
  writeFileSync(join(counting, "files.json"), JSON.stringify(counted));
  writeFileSync(ran, ranModule(counting, 2 * files.length));
  // Tests clone the project from here.
  git(path, "-c", "user.name=counting", "-c", "user.email=counting@localhost", "commit", "-qam", "Count");
  return { path, remove: () => rmSync(parent, { recursive: true, force: true }) };
}

function git(folder: string, ...words: readonly string[]): void {
  const { success, stderr } = Bun.spawnSync(["git", ...words], { cwd: folder });
  if (!success) throw new Error(`git failed: ${stderr.toString()}`);
}

/** Processes whose test gave them an environment without the variable are known by their group: every file of
 * tests has one of its own. Each user has another file. */
function ranModule(counting: string, ids: number): string {
  return `import { appendFileSync, readFileSync } from "node:fs";
const seen = new Uint8Array(${ids});
let file = process.env.${countingVariable};
export function reach(id: number): void {
  if (seen[id] === 1) return;
  seen[id] = 1;
  file ??= ${JSON.stringify(`${counting}/`)} + readFileSync("/proc/self/stat", "utf8").replace(/^.*\\) /s, "").split(" ")[2] + "." + process.getuid();
  appendFileSync(file, id + "\\n");
}
`;
}
