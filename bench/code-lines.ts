/**
 * Counts lines of code by directory: no blank lines, no comments, no generated files. With a revision it
 * prints that revision's lines beside those of the working tree.
 *
 *     cli/with-bun bench/code-lines.ts [REVISION]
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

const root = join(import.meta.dir, "..");
const code = /\.(ts|tsx|mjs|css|sh)$|^(cli|\.ci)\/[^.]+$/;
const generated = /(^|\/)(node_modules|dist|data|pictures)\//;

/** Lines of a text that are neither blank nor within a comment that begins a line. */
function codeLines(text: string): number {
  let isComment = false;
  let lines = 0;
  for (const line of text.split("\n").map((each) => each.trim())) {
    if (isComment) isComment = !line.includes("*/");
    else if (line.startsWith("/*")) isComment = !line.includes("*/");
    else if (line !== "" && !line.startsWith("//") && !/^#( |!)/.test(line)) lines += 1;
  }
  return lines;
}

/** `server/http` of `server/http/api/request.ts`; the top directory elsewhere. */
function groupOf(path: string): string {
  const [top = "", second = "", third] = path.split("/");
  return top === "server" ? (third === undefined ? top : `${top}/${second}`) : top;
}

function listFiles(folder: string, prefix = ""): string[] {
  return readdirSync(join(folder, prefix)).flatMap((name) => {
    const path = `${prefix}${name}`;
    if (name === "node_modules" || (name.startsWith(".") && name !== ".ci")) return [];
    return statSync(join(folder, path)).isDirectory() ? listFiles(folder, `${path}/`) : [path];
  });
}

function count(folder: string): Map<string, number> {
  const counts = new Map<string, number>();
  for (const path of listFiles(folder)) {
    if (!path.includes("/") || !code.test(path) || generated.test(path)) continue;
    const lines = codeLines(readFileSync(join(folder, path), "utf8"));
    counts.set(groupOf(path), (counts.get(groupOf(path)) ?? 0) + lines);
  }
  return counts;
}

function countRevision(revision: string): Map<string, number> {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-lines-"));
  try {
    const archive = Bun.spawnSync(["git", "archive", revision], { cwd: root, stderr: "inherit" });
    if (!archive.success) throw new Error(`git knows no revision ${revision}`);
    Bun.spawnSync(["tar", "-x", "-C", folder], { stdin: archive.stdout, stderr: "inherit" });
    return count(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const now = count(root);
const revision = process.argv[2];
const before = revision === undefined ? now : countRevision(revision);
const row = (name: string, from: number, to: number) =>
  console.log(
    `${name.padEnd(20)}${String(from).padStart(8)}${String(to).padStart(8)}${String(to - from).padStart(8)}`,
  );
console.log(
  `${"".padEnd(20)}${(revision ?? "now").slice(0, 7).padStart(8)}${"now".padStart(8)}${"change".padStart(8)}`,
);
const groups = [...new Set([...before.keys(), ...now.keys()])].sort();
for (const group of groups) row(group, before.get(group) ?? 0, now.get(group) ?? 0);
const sum = (counts: Map<string, number>, isProduct: boolean) =>
  [...counts]
    .filter(([group]) => isProduct === !/^(test|bench)$/.test(group))
    .reduce((all, [, each]) => all + each, 0);
row("product", sum(before, true), sum(now, true));
row("bench and test", sum(before, false), sum(now, false));
