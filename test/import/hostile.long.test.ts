/** Files that are broken, foreign or far too large: clear words, no crash, and every good row is kept. */
import { expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { gzipSync } from "node:zlib";
import type { CommandResult } from "../printed-by.ts";
import { importBench } from "./bench.ts";
import { countsOf, purchases } from "./support.ts";

const bench = importBench({ acmeUsers: 10 });

const header = "userId,event,timestamp,note\n";
const good = (note: string) => `u1,a,2026-05-17,${note}\n`;

function expectRefusal({ exitCode, stderr }: CommandResult, ...texts: readonly string[]): void {
  for (const text of texts) expect(stderr).toContain(text);
  expect(stderr).not.toMatch(/\bat \S+ \(|\.ts:/);
  expect(exitCode).toBe(1);
}

const noise = new Uint8Array(100_000).map((_, index) => (index * 7919 + (index >> 3)) % 256);

test.each([
  ["csv", /column|header|quote|row/],
  ["jsonl", /none of the first rows can be read; on line 1: /],
  ["parquet", /Parquet file cannot be read/],
  ["csv.gz", /damaged or cut off/],
] as const)("bytes without sense as %s are refused in words", async (extension, words) => {
  const result = await bench.import(bench.file(`noise.${extension}`, noise), "acme");
  expectRefusal(result);
  expect(result.stderr).toMatch(words);
});

test.each([
  ["empty.csv", ""],
  ["empty.jsonl", "\n\n"],
  ["header.csv", header],
])("%s has no rows, and that is no error", async (name, content) => {
  const result = await bench.import(bench.file(name, content), "acme");
  expect(result).toMatchObject({ exitCode: 0, stderr: "", stdout: expect.stringContaining("no rows") });
});

const long = "x".repeat(10 * 1024 * 1024);

test.each([
  ["long.csv", header + good("1") + good(long) + good("2"), 3, /bytes: send/],
  [
    "long.jsonl",
    ["1", long, "2"]
      .map((note) => JSON.stringify({ userId: "u1", event: "a", timestamp: "2026-05-17", note }))
      .join("\n"),
    2,
    /longer than 262144 bytes/,
  ],
] as const)(
  "%s: a line of 10 MB is rejected and the others are stored",
  async (name, content, line, words) => {
    const result = await bench.import(bench.file(name, content), "acme");
    expect(countsOf(result)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
    expect(result.stdout).toContain(`line ${line}: `);
    expect(result.stdout).toMatch(words);
  },
);

test("a quote that is never closed stops the import, and the rows before it are stored", async () => {
  const content = `${purchases(700)}u1,b,2026-05-17,"open\n${purchases(700)}`;
  const file = bench.file("open.csv", content);
  const first = await bench.import(file, "acme");
  expectRefusal(first, "line 702", "never closed", "repaired file without its first 700 rows");
  expect(countsOf(first)).toEqual({ rows: 700, new: 700, duplicate: 0, rejected: 0 });
  const again = await bench.import(file, "acme");
  expectRefusal(again, "line 702");
  expect(countsOf(again)).toMatchObject({ rows: 700, new: 700 });
});

test("of a .gz that is cut off nothing is stored, so that the whole one comes in once", async () => {
  await bench.organization("cut", 10);
  const whole = gzipSync(purchases(60_000));
  const half = bench.file("cut.csv.gz", whole.subarray(0, whole.length / 2));
  const refused = await bench.import(half, "cut");
  expectRefusal(refused, "damaged or cut off", "Get the whole file");
  expect(refused.stdout).toBe("");
  expect(await bench.server.exported("events", "cut")).toEqual([]);
  expect(countsOf(await bench.import(bench.file("cut.csv.gz", whole), "cut")).new).toBe(60_000);
});

test("bytes that are not UTF-8 reject their row alone", async () => {
  const content = Buffer.concat([
    Buffer.from(header + good("é")),
    Buffer.from(good("\xe9"), "latin1"),
    Buffer.from(good("2")),
  ]);
  const result = await bench.import(bench.file("latin1.csv", content), "acme");
  expect(countsOf(result)).toEqual({ rows: 3, new: 2, duplicate: 0, rejected: 1 });
  expect(result.stdout).toContain("line 3: row is not valid UTF-8");
});

test("UTF-16 is refused with what to do", async () => {
  const content = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(header + good("1"), "utf16le")]);
  expectRefusal(await bench.import(bench.file("utf16.csv", content), "acme"), "save it as UTF-8");
});

test("a row of 1,001 columns is rejected as the API would", async () => {
  const columns = Array.from({ length: 998 }, (_, index) => `c${index}`);
  const cells = columns.map(() => "1").join(",");
  const file = bench.file(
    "wide.csv",
    `userId,event,timestamp,${columns.join(",")}\nu1,a,2026-05-17,${cells}\nu1,a,2026-05-17,${cells.replace(/1/g, "")}\n`,
  );
  const result = await bench.import(file, "acme");
  expect(countsOf(result)).toEqual({ rows: 2, new: 1, duplicate: 0, rejected: 1 });
  expect(result.stdout).toContain("line 2: body has more than 1000 keys");
});

test("the report file has every rejected row's line and reason, behind quoted line ends too", async () => {
  const bad = (line: string) => `${line},a,2026-05-17,x\n`;
  const rows = [
    good('"a\r\nb\nc"'),
    bad("nobody"),
    good(""),
    "u1,a\n",
    "\n",
    good("x").replace("05-17", "13-17"),
  ];
  const file = bench.file("bad.csv", header + rows.join("") + "u1,,2026-05-17,x\n".repeat(30));
  const [jsonl, csv] = [bench.path("report.jsonl"), bench.path("report.csv")];
  const result = await bench.import(file, "acme", "--report", jsonl);
  expect(countsOf(result)).toEqual({ rows: 35, new: 2, duplicate: 0, rejected: 33 });
  expect(result.stdout).toContain("and 13 more");
  const lines = readFileSync(jsonl, "utf8").trimEnd().split("\n");
  const reported = lines.map((line) => JSON.parse(line));
  expect(reported).toHaveLength(33);
  expect(reported.slice(0, 4)).toEqual([
    { line: 5, reason: expect.stringContaining("User not found") },
    { line: 7, reason: "row has 2 cells where 4 are expected." },
    { line: 9, reason: expect.stringContaining("timestamp is not a time") },
    { line: 10, reason: expect.stringContaining("event is missing") },
  ]);
  await bench.import(bench.file("bad2.csv", header + bad("nobody")), "acme", "--report", csv);
  expect(readFileSync(csv, "utf8")).toMatch(/^line,reason\r\n2,"User not found\..*"\r\n$/);
});

test("keys that JavaScript minds are properties like others", async () => {
  await bench.organization("keys");
  const file = bench.file(
    "keys.csv",
    "userId,event,timestamp,__proto__,constructor,invalid\nu1,a,2026-05-17,1,2,3\n",
  );
  expect(countsOf(await bench.import(file, "keys")).new).toBe(1);
  const text = await bench.server.command("export", "events", "--organization", "keys");
  expect(text).toContain('"properties":{"__proto__":"1","constructor":"2","invalid":"3"}');
});

test.each([
  ["no such file", ["/nowhere/at-all.csv"], "there is no file"],
  ["a folder", [import.meta.dir], "is not a file"],
  ["a name that says nothing", [import.meta.path], "give --format"],
] as const)("%s is refused", async (_name, [path], words) => {
  expectRefusal(await bench.import(path, "acme"), words);
});
