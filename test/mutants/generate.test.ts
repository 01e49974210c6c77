/** The mutants that test/mutants.ts makes, and its search for the tests that reach a change. */
import { expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readSourceFiles } from "../tidy/source-files.ts";
import { mutantsOf, mutated, parse } from "./generate.ts";
import { instrumented, regionAt, regionsOf } from "./regions.ts";

/** The forms that one line becomes, without the code around it. */
function formsOf(line: string): string[] {
  const source = `async function f() {\n${line}\n}`;
  return mutantsOf("a.ts", source).map((mutant) =>
    mutated(source, mutant).split("\n").slice(1, -1).join("\n"),
  );
}

test.each([
  ["return a < b;", ["return a >= b;", "return a <= b;"]],
  ["return a === b;", ["return a !== b;"]],
  ["return (a + 1) * b;", ["return (a + 1) / b;", "return (a - 1) * b;", "return (a + 2) * b;"]],
  ["return a && b;", ["return a;", "return b;", "return a || b;"]],
  ["return a ?? b;", ["return a;"]],
  ["return !a;", ["return a;"]],
  ["if (a) b = 1;", ["if (true) b = 1;", "if (false) b = 1;", "if (a) ;", "if (a) b = 2;"]],
  ["await g(a, b);", [";", "await g(b, a);"]],
  ["return new G(a, b, b);", ["return new G(b, a, b);"]],
  ["return Math.min(a, ...b);", ["return Math.max(a, ...b);"]],
  ["return false as boolean;", ["return true as boolean;"]],
  [
    "return `SELECT a FROM b WHERE c < 1 AND d`;",
    ["c <= 1 AND d", "c < 1 OR d"].map((text) => `return \`SELECT a FROM b WHERE ${text}\`;`),
  ],
])("%s has its faults, and no others", (line, forms) => {
  expect(formsOf(line).sort()).toEqual([...forms].sort());
});

test.each([
  ["a type", "const a: 1 | 2 = b as 2;"],
  ["a text that is not SQL", 'return "a < b AND c";'],
  ["a limit", "return 60_000;"],
  ["a line of the log", 'log.warn({ at: a + 1 }, "b");'],
])("%s has none", (_, line) => {
  expect(formsOf(line)).toEqual([]);
});

test("every mutant of the product can be parsed", () => {
  const product = readSourceFiles().filter(({ path }) => /^server\/intake\/decide\/.*\.ts$/.test(path));
  expect(product.length).toBeGreaterThan(5);
  for (const { path, text } of product) {
    for (const mutant of mutantsOf(path, text)) parse(path, mutated(text, mutant));
  }
});

const example = `export const first = (a: number) => (b: number) => ({ sum: a + b });
export function second(a: number): string {
  if (a > 1) {
    return "more";
  }
  return "less";
}
export class Third {
  #a = () => 1;
  async fourth() { return this.#a() as number; }
}
`;

test("a place belongs to the innermost function or block around it", () => {
  const regions = regionsOf("a.ts", example);
  const textAround = (text: string) => {
    const start = example.indexOf(text);
    const region = regions[regionAt(regions, start, start + text.length)];
    return example.slice(region?.start, region?.end);
  };
  expect(textAround("a + b")).toBe("({ sum: a + b })");
  expect(textAround('"more"')).toBe('{\n    return "more";\n  }');
  expect(textAround('"less"')).toStartWith("{\n  if");
  expect(textAround("Third")).toBe(example);
});

test("the instrumented form does the same, on the same lines, and says which regions run", async () => {
  const folder = mkdtempSync(join(tmpdir(), "rekindle-regions-"));
  try {
    writeFileSync(
      join(folder, "reach.ts"),
      "export const reached: number[] = [];\nexport const reach = (id: number) => { reached.push(id); };\n",
    );
    const regions = regionsOf("a.ts", example);
    const form = instrumented(example, regions, (region) => 100 + region, "./reach.ts");
    expect(form.split("\n")).toHaveLength(example.split("\n").length);
    writeFileSync(join(folder, "a.ts"), form);
    const { first, second, Third } = await import(join(folder, "a.ts"));
    const { reached } = await import(join(folder, "reach.ts"));
    const idAt = (text: string) => 100 + regionAt(regions, example.indexOf(text), example.indexOf(text) + 1);
    expect(reached).toEqual([100]);
    expect(first(1)(2)).toEqual({ sum: 3 });
    expect(second(1)).toBe("less");
    expect(reached).toContain(idAt("a + b"));
    expect(reached).not.toContain(idAt('"more"'));
    expect(second(2)).toBe("more");
    expect(reached).toContain(idAt('"more"'));
    expect(await new Third().fourth()).toBe(1);
  } finally {
    rmSync(folder, { recursive: true });
  }
});
