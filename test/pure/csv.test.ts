/** Cells that a spreadsheet would take for formulas, whatever parts its cells. */
import { expect, test } from "bun:test";
import { csv } from "../../server/http/csv.ts";

const cell = (value: unknown) => csv(["a"], [{ a: value }]).slice(3, -2);

test.each([
  ["=1+1", "'=1+1"],
  ["+cmd|' /C calc'!A0", "'+cmd|' /C calc'!A0"],
  ["-2+3", "'-2+3"],
  ["@SUM(A1)", "'@SUM(A1)"],
  ["＝1+1", "'＝1+1"],
  ["\tx", "'\tx"],
  ["\rx", '"\'\rx"'],
  [" =1+1", "' =1+1"],
  ["\t=1+1", "'\t'=1+1"],
  [";=1+1", ";'=1+1"],
  ["; =1+1", "; '=1+1"],
  ['a;"=1+1', '"a;""\'=1+1"'],
  ["name;@SUM(A1)", "name;'@SUM(A1)"],
  ["a\n-2+3", '"a\n\'-2+3"'],
])("%j is written %j", (text, written) => {
  expect(cell(text)).toBe(written);
});

test.each(["-5", "+1.5", "5", "1;-2;+3.5", "a-b", "a=b; c=d", "mail@example.com", ";", ""])(
  "%j stays as it is",
  (text) => {
    expect(cell(text)).toBe(text);
  },
);

test("numbers stay numbers, and objects JSON", () => {
  expect([cell(-5), cell(-1e-7), cell(null), cell(true)]).toEqual(["-5", "-1e-7", "", "true"]);
  expect(cell({ a: "x;=1" })).toBe(`"{""a"":""x;'=1""}"`);
});
