/** Lists and texts that name files: each name leads to one. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { chosenRuns, listTestFiles, runsOf, runsOn } from "./runs.ts";
import { missingPaths } from "./tidy/named-paths.ts";
import { listPaths, readSourceFiles, root } from "./tidy/source-files.ts";

const testFiles = listTestFiles();

describe("every path in a comment or a document is one of the project", () => {
  const paths = ["server/http/port/routes.ts", "docs/decisions/0030-nodes.md", "test/run.ts"];
  const naming = (text: string) => missingPaths([{ path: "server/a.ts", text }], paths);

  test.each([
    "// as server/http/routes.ts says",
    "/** See `api/routes.ts`. */",
    "/* router.tsx */",
    "// docs/decisions/0031",
    "// in server/https",
  ])("%s is caught", (text) => {
    expect(naming(text)).toHaveLength(1);
  });

  test.each([
    "// as server/http/port/routes.ts says.",
    "/** See `port/routes.ts`, in server/http/. */",
    "// routes.ts, docs/decisions/0030",
    'import a from "./none.ts";',
    "// test/releases/<version> and server/**/*.ts",
    "// dashboard/dist",
  ])("%s is right", (text) => {
    expect(naming(text)).toEqual([]);
  });

  test("in documents, but for the changelog", () => {
    const text = "See `server/none.ts`.";
    const judged = (path: string) => missingPaths([{ path, text }], paths).length;
    expect(["README.md", "docs/scale.md", "test/README.md", "CHANGELOG.md"].map(judged)).toEqual([
      1, 1, 1, 0,
    ]);
  });

  test("in the project", () => {
    expect(missingPaths(readSourceFiles(), listPaths())).toEqual([]);
  });
});

describe("the runs", () => {
  test("have every file once on the embedded engines", () => {
    const embedded = (["check", "test", "long"] as const)
      .flatMap((tier) => runsOf(testFiles, tier))
      .filter(({ nodes }) => nodes === 0);
    expect(embedded.map(({ file }) => file).sort()).toEqual(testFiles.toSorted());
  });

  test("are asked for by the begin of a word of a path", () => {
    const files = testFiles.filter((file) => /^test\/(tidy|warehouse|specification)/.test(file));
    const asked = (isLong: boolean, ...words: string[]) =>
      chosenRuns(files, isLong, words).map(({ name }) => name);
    expect(asked(false, "house")).toEqual([]);
    expect(asked(false, "tidy", "specification/batch")).toEqual([
      "test/tidy.check.test.ts",
      "test/specification/batch.test.ts",
    ]);
    expect(asked(false)).not.toContain("test/tidy.check.test.ts");
    expect(asked(false, "specification/backup")).toEqual([]);
    expect(asked(true, "/backup")).toContain("test/specification/backup.long.test.ts");
    expect(asked(true, "specification/batch")).toEqual(["test/specification/batch.test.ts on three nodes"]);
  });

  test("are named by a line of the file, in one form", () => {
    const said = (line: string) => runsOn(`/** A test. */\n${line}\n`);
    expect(said("const a = 1;")).toEqual({});
    expect(said("export const runsOn = { disk: true };")).toEqual({ disk: true });
    expect(said("export const runsOn = { postgres: true, nodes: 3 };")).toEqual({ postgres: true, nodes: 3 });
    for (const wrong of ["{ disk: false }", "{ engine: true }", "{}", "{ disk: true, }", '["disk"]'])
      expect(() => said(`export const runsOn = ${wrong};`)).toThrow("no run is meant by");
  });

  test("leave the ledger's contract on both engines to npm test, and the end-to-end pages", () => {
    const needed = ["ledger/sqlite", "ledger/postgres", "dashboard/end-to-end"];
    const files = needed.map((name) => `test/${name}.test.ts`);
    expect(files.filter((file) => testFiles.includes(file))).toEqual(files);
  });
});

test("test/README.md describes every directory of tests, in a table in their order", () => {
  const rows = readFileSync(join(root, "test/README.md"), "utf8").matchAll(
    /^\| `(test\/(?:[\w-]+\/)?)` +\| \S/gm,
  );
  const directories = listPaths().flatMap((path) => /^test\/(?:[\w-]+\/)?/.exec(path) ?? []);
  expect([...rows].map(([, directory]) => directory)).toEqual([...new Set(directories)].sort());
});
