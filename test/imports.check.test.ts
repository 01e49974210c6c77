/**
 * The rules of imports and directories. Every rule first catches an example of what it forbids, and then
 * finds nothing in the project.
 */
import { describe, expect, test } from "bun:test";
import { drawnArrows, moduleArrows } from "./tidy/diagram.ts";
import { importCircles, wrongImports } from "./tidy/imports.ts";
import { readSourceFiles } from "./tidy/source-files.ts";

const files = readSourceFiles();
const example = (path: string, text: string) => [{ path, text }];

describe("imports go one way", () => {
  const importing = (from: string, specifier: string) =>
    wrongImports(example(from, `import { a } from "${specifier}";`));

  const wrong: readonly (readonly [string, string])[] = [
    ["server/ledger/ledger.ts", "../../intake/intake.ts"],
    ["server/ledger/ledger.ts", "../sqlite/open.ts"],
    ["server/ledger/rules/warehouse-rows.ts", "../sqlite/write/users.ts"],
    ["server/ledger/sqlite/ledger.ts", "../postgres/pool.ts"],
    ["server/intake/track.ts", "../analytics/retention/retention.ts"],
    ["server/intake/track.ts", "../http/port/server.ts"],
    ["server/http/port/server.ts", "../../start/main.ts"],
    ["server/http/port/server.ts", "../../../cli/main.ts"],
    ["server/process/lock.ts", "../ledger/ports/ledger.ts"],
    ["server/config.ts", "./ledger/ports/ledger.ts"],
    ["contract/limits.ts", "../server/config.ts"],
    ["client/client.ts", "../server/config.ts"],
    ["server/intake/track.ts", "../../client/client.ts"],
    ["server/intake/track.ts", "../../test/server.ts"],
    ["dashboard/page.tsx", "../server/config.ts"],
    ["cli/main.ts", "../dashboard/page.tsx"],
    ["server/ledger/ledger.ts", "../../cellar/cellar.ts"],
    ["server/scoring/run/scoring.ts", "../../../simulation/simulation.ts"],
    ["simulation/simulation.ts", "../server/config.ts"],
  ];
  test.each(wrong)("%s may not import %s", (from, specifier) => {
    expect(importing(from, specifier)).toHaveLength(1);
  });

  const right: readonly (readonly [string, string])[] = [
    ["server/start/main.ts", "./http/port/server.ts"],
    ["server/intake/track.ts", "../ledger/ports/ledger.ts"],
    ["cli/commands/serve.ts", "../../server/start/main.ts"],
    ["server/http/port/server.ts", "../../calendar/zone.ts"],
    ["server/http/port/server.ts", "../write/write.ts"],
    ["server/between/control.ts", "../http/port/server.ts"],
    ["server/intake/decide/decide.ts", "../../ledger/ports/ledger.ts"],
    ["server/ledger/sqlite/write/users.ts", "../../ports/ledger.ts"],
    ["server/start/open-stores.ts", "./ledger/sqlite/open.ts"],
    ["server/process/log.ts", "../config.ts"],
    ["server/config.ts", "../contract/limits.ts"],
    ["server/process/version.ts", "../../package.json"],
    ["client/client.ts", "../contract/limits.ts"],
    ["cli/demo-load.ts", "../simulation/simulation.ts"],
    ["simulation/simulation.ts", "../server/calendar/zone.ts"],
  ];
  test.each(right)("%s may import %s", (from, specifier) => {
    expect(importing(from, specifier)).toEqual([]);
  });

  test.each(['const a = await import("../http/http.ts");', 'new Worker(new URL("../http/worker.ts", b))'])(
    "%s counts as an import",
    (text) => {
      expect(wrongImports(example("server/ledger/a.ts", text))).toHaveLength(1);
    },
  );

  test("in the project", () => {
    expect(wrongImports(files)).toEqual([]);
  });
});

describe("the diagram in ARCHITECTURE.md shows the imports between modules", () => {
  test("arrows that follow from others are left out", () => {
    const importing = (path: string, ...targets: string[]) => ({
      path,
      text: targets.map((to) => `import { a } from "${to}";`).join("\n"),
    });
    expect(
      moduleArrows([
        importing(
          "server/http/http.ts",
          "../intake/intake.ts",
          "../ledger/ledger.ts",
          "../process/process.ts",
        ),
        importing("server/intake/track.ts", "../ledger/ledger.ts"),
        importing("test/a.test.ts", "../server/http/http.ts"),
      ]),
    ).toEqual(["http --> intake", "intake --> ledger"]);
    expect(drawnArrows("```mermaid\nflowchart TD\n  b --> ledger/sqlite\n  a --> b\n```\nc --> d\n")).toEqual(
      ["a --> b", "b --> ledger/sqlite"],
    );
  });

  test("in the project", () => {
    const architecture = files.find(({ path }) => path === "ARCHITECTURE.md")?.text ?? "";
    expect(drawnArrows(architecture)).toEqual(moduleArrows(files));
  });
});

describe("no import leads back to its file", () => {
  const file = (name: string, ...imports: string[]) => ({
    path: `server/${name}.ts`,
    text: imports.map((to) => `import type { A } from "./${to}.ts";`).join("\n"),
  });

  test("a circle of types is caught, and each circle once", () => {
    expect(importCircles([file("a", "b"), file("b", "c"), file("c", "b"), file("d", "d")])).toEqual([
      "server/b.ts, server/c.ts",
      "server/d.ts",
    ]);
    expect(importCircles([file("a", "b", "c"), file("b", "c"), file("c")])).toEqual([]);
  });

  test("in the project", () => {
    expect(importCircles(files)).toEqual([]);
  });
});
