/** The files that make up the project: those that git knows or would add. Without git, all files but those
 * that installing and running leave behind. */
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";

export const root = join(import.meta.dir, "..", "..");

export interface SourceFile {
  /** From the project's root, with slashes. */
  readonly path: string;
  readonly text: string;
}

/** Every text file of the project. */
export function readSourceFiles(): SourceFile[] {
  return listPaths()
    .filter((path) => existsSync(join(root, path)))
    .map((path) => ({ path, bytes: readFileSync(join(root, path)) }))
    .filter(({ bytes }) => !bytes.includes(0))
    .map(({ path, bytes }) => ({ path, text: bytes.toString("utf8") }));
}

/** Every path of the project, from its root. */
export function listPaths(): string[] {
  const git = Bun.spawnSync(["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"], {
    cwd: root,
    stdout: "pipe",
    stderr: "ignore",
  });
  if (git.success) return git.stdout.toString().split("\0").filter(Boolean);
  const left = /^(node_modules|data|\.git|\.program-\d+)\/|(^|\/)\.installing|\.log$/;
  return [...new Bun.Glob("**/*").scanSync({ cwd: root, dot: true })].filter((path) => !left.test(path));
}

const comment = /(?<=^|\s)(?:\/\*[\s\S]*?\*\/|\/\/.*$)/gm;

/** The comments of a file, one after another. */
export function commentsOf(text: string): string {
  return (text.match(comment) ?? []).join("\n");
}

/** The same text with comments blanked, line by line, so that rules about code do not judge prose. The white
 * space before a comment marks it, as the formatter leaves it. Globs in strings have none. */
export function withoutComments(text: string): string {
  const blank = (comment: string) => comment.replace(/[^\n]/g, " ");
  return text.replace(/(?<=^|\s)\/\*[\s\S]*?\*\//g, blank).replace(/(?<=^|\s)\/\/.*$/gm, blank);
}
