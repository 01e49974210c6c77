import { expect, test } from "bun:test";
import fc from "fast-check";
import { parameterAssignments } from "../../server/warehouse/engine/parameters.ts";
import { randomOfThisRun, WarehouseUnderTest } from "./support.ts";

const subject = new WarehouseUnderTest();

const hostile = [
  "",
  "'",
  "''",
  "\\",
  "\\'",
  "\\\\'; DROP TABLE events; --",
  "'; SELECT 1; --",
  "' OR 1 = 1 --",
  "\\N",
  "NULL",
  "\0",
  "a\0b",
  "\t\n\r\b\f\v\u0001\u007f",
  "ends with a tab\t",
  "ends with a backslash\\",
  "ends with a line\n",
  "{other:String}",
  "東京 🗼 é e\u0301 \u2028\u2029 \ufeff",
  "[1,2]",
  "/* comment",
  "-- comment",
];

async function throughTheEngine(text: string): Promise<unknown> {
  const [row] = await subject.warehouse.rows<{ value: string; one: string[]; two: string[][] }>(
    "SELECT {text:String} AS value, {one:Array(String)} AS one, {two:Array(Array(String))} AS two",
    { text, one: [text, "x", text], two: [[text], [], ["y", text]] },
  );
  return row;
}

test("hostile strings come back from the engine as they were sent, alone and in arrays", async () => {
  for (const text of hostile) {
    expect(await throughTheEngine(text)).toEqual({
      value: text,
      one: [text, "x", text],
      two: [[text], [], ["y", text]],
    });
  }
});

test("strings and arrays of hundreds of kilobytes come back from the engine as they were sent", async () => {
  const long = "🗼'\\\n".repeat(40_000);
  const many = Array.from({ length: 300 }, (_, index) => `${index} ${"\\".repeat(1_000)}`);
  const numbers = Array.from({ length: 20_000 }, (_, index) => index / 7);
  const [row] = await subject.warehouse.rows(
    `SELECT {long:String} AS long, {many:Array(String)} AS many, {numbers:Array(Float64)} AS numbers,
       {long:String} = {again : String} AS isSame`,
    { long, many, numbers, again: long },
  );
  expect(row).toEqual({ long, many, numbers, isSame: 1 });
});

test("any string comes back from the engine as it was sent", async () => {
  const seed = randomOfThisRun("strings").between(0, 2 ** 31 - 1);
  const pieces = fc.constantFrom("'", "\\", "\0", "\t", "\n", "\r", "\b", "\f", ";", "--", "{", "}", "N");
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(fc.oneof(pieces, fc.string({ unit: "binary", maxLength: 2 }))).map((parts) => parts.join("")),
  );
  const property = fc.asyncProperty(text, async (value) => {
    expect(await throughTheEngine(value)).toEqual({
      value,
      one: [value, "x", value],
      two: [[value], [], ["y", value]],
    });
  });
  await fc.assert(property, { seed, numRuns: 500 });
});

test("numbers, large integers and truth values arrive as they are", async () => {
  const [row] = await subject.warehouse.rows(
    "SELECT {a:Int64} AS a, {b:Float64} AS b, {c:Bool} AS c, {d:String} AS d, toString({e:UInt64}) AS e, {f:Array(Int32)} AS f",
    { a: -5, b: 0.1, c: true, d: "true", e: 18_446_744_073_709_551_615n, f: [1, -2] },
  );
  expect(row).toEqual({ a: -5, b: 0.1, c: true, d: "true", e: "18446744073709551615", f: [1, -2] });
});

test("a query never reads a value that an earlier query set", async () => {
  const queries = Array.from({ length: 8 }, () =>
    subject.warehouse.rows("SELECT {secret:String} AS secret", { secret: "of another organization" }),
  );
  await Promise.all(queries);
  expect(() => parameterAssignments("SELECT {secret:String}", {})).toThrow("secret has no value");
  await expect(subject.warehouse.rows("SELECT {secret:String}")).rejects.toThrow("secret has no value");
});

test("a value that the query does not use is refused, as a misspelt name would be", () => {
  expect(() => parameterAssignments("SELECT 1", { x: 1 })).toThrow("no parameter x");
});

test("a value that cannot be sent unchanged is refused", () => {
  for (const value of [Number.NaN, Number.POSITIVE_INFINITY, "\ud800", ["\udc00"]]) {
    expect(() => parameterAssignments("SELECT {x:String}", { x: value })).toThrow("cannot be bound");
  }
});
