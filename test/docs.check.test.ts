/** The documents keep their form: a page a task, short, with commands first, in one index. The page of the
 * configuration names the variables that are read. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { listPaths, root } from "./tidy/source-files.ts";

const textOf = (path: string) => readFileSync(join(root, path), "utf8");
const paths = listPaths();
const decisions = paths.filter((path) => /^docs\/decisions\/\d{4}-[\w-]+\.md$/.test(path));
/** `npm run models` writes docs/models.md: tables of figures. */
const pages = paths.filter((path) => /^docs\/[\w-]+\.md$/.test(path) && path !== "docs/models.md");

/** One page beside the code, of each part of the server. */
const parts = paths.filter((path) => /^server\/.*README\.md$/.test(path));
/** These say more than a page: how rules of alerts are decided, and members of segments recorded. */
const isLonger = (path: string) => /\/00(84|85|86|92)-/.test(path);

const words = (text: string) => text.split(/\s+/).filter((word) => word !== "").length;

test("a page of docs/ has at most 700 words", () => {
  expect(pages.length).toBeGreaterThan(20);
  expect(pages.filter((path) => words(textOf(path)) > 700)).toEqual([]);
});

test("a decision, and the README of a part, have at most 700 words", () => {
  expect(decisions.length).toBeGreaterThan(15);
  expect(parts.length).toBeGreaterThan(5);
  const short = [...decisions.filter((path) => !isLonger(path)), ...parts];
  expect(short.filter((path) => words(textOf(path)) > 700)).toEqual([]);
});

test("the first lines of a page are commands", () => {
  const begins = /^# [^\n]+\n\n```(?:sh|console|nginx)\n/;
  expect(pages.filter((path) => !begins.test(textOf(path)))).toEqual([]);
});

test("the indexes name every page and every decision", () => {
  const linked = (index: string) => [...textOf(index).matchAll(/\]\(([\w-]+\.md)/g)].map(([, name]) => name);
  const named = (path: string) => path.split("/").at(-1);
  const others = paths.filter((path) => /^docs\/[\w-]+\.md$/.test(path) && path !== "docs/README.md");
  expect([...new Set(linked("docs/README.md"))].sort()).toEqual(others.map(named).sort());
  expect([...new Set(linked("docs/decisions/README.md"))].sort()).toEqual(decisions.map(named).sort());
});

test("docs/configure.md names the variables of the environment that server/config.ts reads, and no others", () => {
  const code = textOf("server/config.ts").replace(/\/\*[\s\S]*?\*\/|\/\/.*$/gm, "");
  const read = code.match(/\b(?:PORT|HOST|[A-Z]+(?:_[A-Z]+)+)\b/g) ?? [];
  const named = [...textOf("docs/configure.md").matchAll(/^\| `([A-Z_]+)` +\|/gm)].map(([, name]) => name);
  expect(named.toSorted()).toEqual([...new Set(read)].sort());
});
