/** Cells that a spreadsheet would take for formulas, whatever parts its cells. */
import { expect, test } from "bun:test";
import { csv } from "../../server/http/port/csv.ts";

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

const unseen = ["\0", "\u0001", "\u001f", "\u007f", "\u0085", "\u009f", "\u00ad", "\u180e"].concat(
  ["\u200b", "\u200e", "\u202e", "\u2060", "\ufeff"],
  ["\u034f", "\u115f", "\u2800", "\u3164", "\ufe0f", "\uffa0"],
  ["\u200b\u200b \u00ad"],
);

test.each(unseen)("%j in front hides no formula", (character) => {
  for (const first of ["=", "+", "-", "@", "＝"]) {
    const text = `${character}${first}SUM(A1)`;
    expect(cell(text)).toBe(`'${text}`);
    expect(cell(`a;${text}`)).toBe(`a;${character}'${first}SUM(A1)`);
  }
  expect(cell(`${character}a=1`)).toBe(`${character}a=1`);
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
