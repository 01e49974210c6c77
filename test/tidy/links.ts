/** Links of the documents: every relative one leads to a file of the project, and to a heading of it. */
import { posix } from "node:path";
import type { SourceFile } from "./source-files.ts";

const link =
  /!?\[(?:[^\]]|!\[[^\]]*\])*\]\(([^)\s]+)(?:\s+"[^"]*")?\)|^\[[^\]]+\]:\s*(\S+)|(?:src|href)="([^"]+)"/gm;
const elsewhere = /^[a-z][a-z0-9+.-]*:|^\/\//i;
const codeBlock = /^(```|~~~)[\s\S]*?^\1/gm;

/**
 * Relative links and pictures of Markdown files that lead nowhere.
 * @param paths every path of the project, pictures included
 */
export function brokenLinks(files: readonly SourceFile[], paths: readonly string[]): string[] {
  const texts = new Map(files.map(({ path, text }) => [path, text]));
  const folders = new Set(paths.flatMap(ancestors));
  const known = new Set(paths);
  return files
    .filter(({ path }) => path.endsWith(".md"))
    .flatMap(({ path, text }) =>
      targetsOf(text).flatMap((target) => {
        const [relative = "", heading] = decodeURIComponent(target).split("#");
        const file = relative === "" ? path : posix.join(posix.dirname(path), relative).replace(/\/$/, "");
        if (!known.has(file) && !folders.has(file)) return [`${path}: ${target} leads to no file`];
        if (heading === undefined || headingsOf(texts.get(file) ?? "").has(heading)) return [];
        return [`${path}: ${target} leads to no heading`];
      }),
    );
}

function targetsOf(markdown: string): string[] {
  const text = markdown.replace(codeBlock, "").replace(/`[^`\n]*`/g, "code");
  // A picture inside of a link's text is a link of its own.
  const nested = [...text.matchAll(/!\[[^\]]*\]\(([^)\s]+)/g)].map(([, picture = ""]) => picture);
  const targets = [...text.matchAll(link)].map(
    ([, inline, reference, html]) => inline ?? reference ?? html ?? "",
  );
  return [...new Set([...targets, ...nested])].filter((target) => !elsewhere.test(target));
}

/** The names by which headings are linked to, as GitHub makes them. */
function headingsOf(markdown: string): ReadonlySet<string> {
  const headings = markdown.replace(codeBlock, "").matchAll(/^#{1,6}\s+(.+?)\s*#*$/gm);
  return new Set(
    [...headings].map(([, heading = ""]) =>
      heading
        .toLowerCase()
        .replace(/[^\p{L}\p{N}\s_-]/gu, "")
        .replaceAll(" ", "-"),
    ),
  );
}

function ancestors(path: string): string[] {
  const parts = path.split("/").slice(0, -1);
  return parts.map((_, index) => parts.slice(0, index + 1).join("/"));
}
