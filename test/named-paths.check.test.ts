/** Lists and texts that name files: each name leads to one. */
import { describe, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { missingPaths } from "./tidy/named-paths.ts";
import { listPaths, readSourceFiles, root } from "./tidy/source-files.ts";
import { chosenRuns, namesWithoutFiles, runsOf, tierOf } from "./tiers.ts";

const testFiles = [...new Bun.Glob("test/**/*.test.ts").scanSync({ cwd: root })];

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

  test("in documents, but for the changelog and the decision records", () => {
    const text = "See `server/none.ts`.";
    const judged = (path: string) => missingPaths([{ path, text }], paths).length;
    expect(["README.md", "docs/using.md", "CHANGELOG.md", "docs/decisions/0001-bun.md"].map(judged)).toEqual([
      1, 1, 0, 0,
    ]);
  });

  test("in the project", () => {
    expect(missingPaths(readSourceFiles(), listPaths())).toEqual([]);
  });
});

describe("the tiers", () => {
  test("name no file that is not there", () => {
    expect(namesWithoutFiles(testFiles)).toEqual([]);
    expect(namesWithoutFiles(testFiles.filter((file) => file !== "test/tidy.test.ts"))).toEqual(["tidy"]);
  });

  test("have every file, once", () => {
    const embedded = (["check", "test", "long"] as const)
      .flatMap((tier) => runsOf(testFiles, tier))
      .filter(({ nodes }) => nodes === 0);
    expect(embedded.map(({ file }) => file).sort()).toEqual(testFiles.toSorted());
  });

  test("are asked for by the begin of a word of a path", () => {
    const files = ["tidy", "warehouse/exchange", "house/door", "specification/batch", "long/kill"].map(
      (name) => `test/${name}.test.ts`,
    );
    const asked = (isLong: boolean, ...words: string[]) =>
      chosenRuns(files, isLong, words).map(({ name }) => name);
    expect(asked(false, "house")).toEqual(["test/house/door.test.ts"]);
    expect(asked(false, "tidy", "exch")).toEqual(["test/tidy.test.ts", "test/warehouse/exchange.test.ts"]);
    expect(asked(false)).not.toContain("test/tidy.test.ts");
    expect(asked(false, "kill")).toEqual([]);
    expect(asked(true, "/kill")).toEqual(["test/long/kill.test.ts"]);
    expect(asked(true, "on three nodes")).toEqual(["test/specification/batch.test.ts on three nodes"]);
  });

  test("leave the ledger's contract on both engines to npm test, and the end-to-end pages", () => {
    const needed = ["ledger/sqlite", "ledger/postgres", "dashboard/end-to-end"];
    expect(needed.map((name) => tierOf(`test/${name}.test.ts`))).toEqual(needed.map(() => "test"));
  });
});

test("CONTRIBUTING.md describes every directory of tests, in a table in their order", () => {
  const rows = readFileSync(join(root, "CONTRIBUTING.md"), "utf8").matchAll(
    /^\| `(test\/(?:[\w-]+\/)?)` +\| \S/gm,
  );
  const directories = listPaths().flatMap((path) => /^test\/(?:[\w-]+\/)?/.exec(path) ?? []);
  expect([...rows].map(([, directory]) => directory)).toEqual([...new Set(directories)].sort());
});
