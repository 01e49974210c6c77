/**
 * The house rules that no other tool checks. Every rule first catches an example of a breach, which shows
 * that it still works. Then it finds none in the project.
 */
import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { mutants, mutated } from "./mutants/by-hand.ts";
import { brokenLinks } from "./tidy/links.ts";
import { alternatives } from "./tidy/named-paths.ts";
import { listPaths, readSourceFiles, root } from "./tidy/source-files.ts";
import {
  clocksInPureFiles,
  clocksOfTheirOwn,
  environmentReaders,
  shortcuts,
  spreadLiterals,
  testsOfOneName,
  tracesOfMachines,
  undocumentedExports,
  unexplainedSleeps,
  wideComments,
} from "./tidy/text.ts";

/** Files that decide and do not act: the same input gives the same output, today and tomorrow. */
const pureGlobs = [
  "contract/**",
  "server/intake/{identify,track}.ts",
  "server/intake/admission/**",
  "server/intake/decide/**",
  "server/sources/**",
  "server/ledger/rules/warehouse-rows.ts",
  "simulation/**",
  "server/scoring/{statistics,churn,scores}/**",
  "server/scoring/scores/rhythm.ts",
  "server/revenue/**",
];

/** The helper itself, and tests that kill at moments of chance. */
const mayWait = ["test/until.ts", "test/long/*kill*", "test/durability/killing.ts"];

const files = readSourceFiles();
const example = (path: string, text: string) => [{ path, text }];

describe("no literal is spread into a literal", () => {
  test("and an example is caught", () => {
    expect(spreadLiterals(example("server/a.ts", "f({ ...\u007b a }, b);"))).toHaveLength(1);
    expect(spreadLiterals(example("server/a.ts", "f({ ...a, b }); // { ...\u007b a } }"))).toEqual([]);
  });

  test("in the project", () => {
    expect(spreadLiterals(files)).toEqual([]);
  });
});

describe("comments wrap at 110 columns", () => {
  const long = "a word ".repeat(20);

  test.each([`/** ${long}*/`, ` * ${long}`, `  // ${long}`])("%s is caught", (text) => {
    expect(wideComments(example("server/a.ts", text))).toHaveLength(1);
  });

  test.each([`f("${long}");`, ` *   ${long}`, `// https://${"a".repeat(120)}`])("%s is right", (text) => {
    expect(wideComments(example("server/a.ts", text))).toEqual([]);
  });

  test("in the project", () => {
    expect(wideComments(files)).toEqual([]);
  });
});

describe("only server/config.ts reads the environment", () => {
  test("and an example that does is caught", () => {
    expect(
      environmentReaders(example("server/start/main.ts", "const port = process.env.PORT;")),
    ).toHaveLength(1);
    expect(environmentReaders(example("server/config.ts", "process.env"))).toEqual([]);
    expect(environmentReaders(example("cli/main.ts", "// not from process.env"))).toEqual([]);
    expect(environmentReaders(example("dashboard/build.ts", 'process.env.A = "b";'))).toEqual([]);
    expect(environmentReaders(example("dashboard/build.ts", "if (process.env.A === b) c;"))).toHaveLength(1);
  });

  test("in the project", () => {
    expect(environmentReaders(files)).toEqual([]);
  });
});

describe("pure files have no clock and no chance", () => {
  test.each([
    "Date.now()",
    "new Date()",
    "new Date;",
    "performance.now()",
    "setTimeout(f, 1)",
    "Math.random()",
  ])("%s is caught", (text) => {
    expect(clocksInPureFiles(example("server/intake/admission/time.ts", text), pureGlobs)).toHaveLength(1);
    expect(clocksInPureFiles(example("server/intake/group-commit.ts", text), pureGlobs)).toEqual([]);
  });

  test("a date made from a number is none", () => {
    expect(clocksInPureFiles(example("contract/a.ts", "new Date(nowMs)"), pureGlobs)).toEqual([]);
  });

  test("in the project", () => {
    expect(clocksInPureFiles(files, pureGlobs)).toEqual([]);
  });

  test("and every pattern, with each of its alternatives, matches a file", () => {
    expect(alternatives("a/{b,c}/{d,e}.ts")).toEqual(["a/b/d.ts", "a/b/e.ts", "a/c/d.ts", "a/c/e.ts"]);
    const globs = pureGlobs.flatMap(alternatives);
    expect(globs.filter((glob) => !files.some(({ path }) => new Bun.Glob(glob).match(path)))).toEqual([]);
  });
});

describe("only the module of time reads the wall clock and sets intervals", () => {
  test.each([
    "const nowMs = Date.now();",
    "const { nowMs = Date.now } = options;",
    "new Date().toISOString()",
    "setInterval(work, 1_000)",
    "globalThis.setInterval",
    "const { nowMs } = systemTime;",
  ])("%s is caught", (text) => {
    expect(clocksOfTheirOwn(example("server/a.ts", text))).toHaveLength(1);
    expect(clocksOfTheirOwn(example("server/process/time.ts", text))).toEqual([]);
    expect(clocksOfTheirOwn(example("test/a.ts", text))).toEqual([]);
  });

  test.each(["new Date(nowMs)", "performance.now()", "// Date.now()", "every(ms, work)"])(
    "%s is right",
    (text) => {
      expect(clocksOfTheirOwn(example("server/a.ts", text))).toEqual([]);
    },
  );

  test("in the project", () => {
    expect(clocksOfTheirOwn(files)).toEqual([]);
  });
});

describe("nothing goes around the compiler or the tests", () => {
  const marker = (word: string) => `// ${word.split("").reverse().join("")}: later`;
  test.each([
    "let a: a\u006ey;",
    "const a = b as a\u006ey;",
    "Map<string, a\u006ey>",
    'test.s\u006bip("a", f)',
    'describe.o\u006ely("a", f)',
    'test.t\u006fdo("a")',
    'test.s\u006bipIf(isSlow)("a", f)',
    "// @t\u0073-ignore",
    "// biome-i\u0067nore lint/suspicious/noExplicitAny: quick",
    marker("ODOT"),
    marker("EMXIF"),
  ])("%s is caught", (text) => {
    expect(shortcuts(example("server/a.ts", text))).toHaveLength(1);
  });

  test("in the project", () => {
    expect(shortcuts(files)).toEqual([]);
  });
});

describe("every test of a file has a name of its own", () => {
  test("and two of one name are caught, also where the name stands on a line of its own", () => {
    const twice =
      'test("a", f);\ntest(\n  "a",\n  f,\n);\ntest.each([1])("a", f);\ntest.each([2])("%s", f);\ntest.each([3])("%s", f);\n';
    expect(testsOfOneName(example("test/a.test.ts", twice))).toEqual([
      "test/a.test.ts: two tests are named a",
      "test/a.test.ts: two tests are named a",
    ]);
    expect(testsOfOneName(example("server/a.ts", twice))).toEqual([]);
  });

  test("and each group may have one of that name", () => {
    const group = (name: string) => `describe("${name}", () => {\n  test("a", f);\n});\n`;
    const text = `${group("one")}${group("other")}test("a", f);\n`;
    expect(testsOfOneName(example("test/a.test.ts", text))).toEqual([]);
    expect(testsOfOneName(example("test/a.test.ts", group("one") + group("one")))).toHaveLength(1);
  });

  test("in the project", () => {
    expect(testsOfOneName(files)).toEqual([]);
  });
});

describe("no file knows the machine it was written on", () => {
  test.each([
    "/w\u006frk/main",
    'cd "/r\u006fot/x"',
    "https://registry.npm\u006as.org/bun",
    '"res\u006flved": "https://mirror.example/x.tgz"',
  ])("%s is caught", (text) => {
    expect(tracesOfMachines(example("README.md", ` ${text}`))).toHaveLength(1);
  });

  test("in the project", () => {
    expect(tracesOfMachines(files)).toEqual([]);
  });
});

describe("every relative link and picture of a document leads to a file", () => {
  const paths = ["README.md", "docs/a.md", "docs/pictures/a.png"];
  const linking = (text: string) => brokenLinks([{ path: "docs/a.md", text }], paths);

  test.each([
    "[text](b.md)",
    "![a picture](pictures/b.png)",
    "[![a picture in a link](pictures/b.png)](../README.md)",
    "[text](../pictures/a.png)",
    "[text](#no-heading)",
    "[text]: b.md",
    '<img src="pictures/b.png">',
  ])("%s is caught", (text) => {
    expect(linking(text)).toHaveLength(1);
  });

  test.each([
    "[text](../README.md) and [folder](pictures/)",
    "# A heading, `with` code\n[text](#a-heading-with-code)",
    "[text](https://example.com/b.md)",
    "```md\n[text](b.md)\n```",
  ])("%s is right", (text) => {
    expect(linking(text)).toEqual([]);
  });

  test("in the project", () => {
    expect(brokenLinks(files, listPaths())).toEqual([]);
  });
});

describe("every exported function says what it does", () => {
  test.each([
    "export function a() {}",
    "export async function a() {}",
    "export const a = (b: number) => b;",
    "/** Says a. */\n\nexport function a() {}",
    "// Says a.\nexport function a() {}",
    "/* Says a. */\nexport function a() {}",
  ])("%s is caught", (text) => {
    expect(undocumentedExports(example("server/a.ts", text))).toHaveLength(1);
  });

  test("a docstring directly above is enough", () => {
    expect(undocumentedExports(example("server/a.ts", "/** Says a. */\nexport function a() {}"))).toEqual([]);
    expect(
      undocumentedExports(example("server/a.ts", "/**\n * Says a.\n */\nexport function a() {}")),
    ).toEqual([]);
  });

  test("in the project", () => {
    expect(undocumentedExports(files)).toEqual([]);
  });
});

describe("tests wait on conditions, and a sleep says why it is one", () => {
  const sleeps = (text: string) => unexplainedSleeps(example("test/a.test.ts", text), []);

  test.each([
    "await Bun.sl\u0065ep(20);",
    "Bun.sl\u0065epSync(20);",
    "while (!isDone()) await Bun.sl\u0065ep(pauseMs);",
    "for (; !isDone(); await Bun.sl\u0065ep(20)); // A look every 20 ms.",
    "// Why.\n\nawait page.waitF\u006frTimeout(1_000);",
    "await new Promise((done) => s\u0065tTimeout(done, 20));",
    'import { setTimeout } from "node:tim\u0065rs/promises";',
  ])("%s is caught", (text) => {
    expect(sleeps(text)).toHaveLength(1);
  });

  test.each([
    "await Bun.sl\u0065ep(this.#slowPeerMs);",
    "await Bun.sl\u0065ep(1); // The clock passes a millisecond.",
    "// The clock passes a millisecond.\nawait Bun.sl\u0065ep(1);",
    "s\u0065tTimeout(() => child.kill(), 20);",
  ])("%s is right", (text) => {
    expect(sleeps(text)).toEqual([]);
  });

  test("in the project", () => {
    expect(unexplainedSleeps(files, mayWait)).toEqual([]);
  });
});

/** No registry that we reach has the engine for other platforms, so nobody here can vouch for them. */
const unseenEngines = ["darwin-arm64", "darwin-x64", "linux-arm64-gnu"].map(
  (platform) => `node_modules/@chdb/lib-${platform}`,
);

test("npm checks every package that it installs", async () => {
  const lock: unknown = await Bun.file(join(root, "package-lock.json")).json();
  const { packages } = lock as { packages: Record<string, { integrity?: string; link?: boolean }> };
  const unchecked = Object.entries(packages).flatMap(([path, { integrity, link }]) =>
    !path.startsWith("node_modules/") || link === true || /^sha512-/.test(integrity ?? "") ? [] : [path],
  );
  expect(unchecked.sort()).toEqual(unseenEngines);
});

test("every mutant still finds its place in the code, and its test", () => {
  const codeOf = (path: string) => files.find((file) => file.path === path)?.text ?? "";
  const stale = mutants.filter((mutant) => {
    const code = codeOf(mutant.file);
    return mutated(code, mutant) === code || codeOf(mutant.test) === "";
  });
  expect(mutated("code", { from: "none", to: "such" })).toBe("code");
  expect(stale.map(({ name }) => name)).toEqual([]);
});
