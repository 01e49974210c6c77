/** Days as they are typed, and texts as they are shown. */
import { expect, test } from "bun:test";
import { proseParts } from "../../dashboard/text/prose-parts.ts";
import { dayProblem, typedDay } from "../../dashboard/text/typed-day.ts";

test.each([
  ["28 Nov 2026", "2026-11-28"],
  ["28 november 2026", "2026-11-28"],
  [" 2 Sept. 2026 ", "2026-09-02"],
  ["3. March, 2027", "2027-03-03"],
  ["5 May", "2026-05-05"],
  ["2026-11-28", "2026-11-28"],
  ["2026-1-2", "2026-01-02"],
  ["29 Feb 2028", "2028-02-29"],
  ["29 Feb 2027", undefined],
  ["31 Apr 2026", undefined],
  ["2026-13-01", undefined],
  // Which of both is the month?
  ["11/28/2026", undefined],
  ["3/4/2026", undefined],
  ["tomorrow", undefined],
  ["28 Foo 2026", undefined],
  ["", undefined],
])("%j is %p", (text, day) => {
  expect(typedDay(text, "2026-11-28")).toBe(day);
});

test("a day outside of its bounds has the bound in words", () => {
  const bounds = { min: "2026-11-02", max: "2026-11-28" };
  expect(dayProblem("2026-11-28", bounds)).toBeUndefined();
  expect(dayProblem("2026-11-29", bounds)).toBe("Choose a day up to 28 Nov 2026.");
  expect(dayProblem("2026-11-01", bounds)).toBe("Choose a day from 2 Nov 2026 on.");
  expect(dayProblem(undefined, bounds)).toBe("Write the day as 28 Nov 2026.");
});

const link = (text: string, address = text) => ({ kind: "link", text, address });
const plain = (text: string) => ({ kind: "text", text });

test("notes have links of the web and bold words, and nothing else", () => {
  expect(proseParts("See **the deal** at https://crm.example.com/d/7?x=1.")).toEqual([
    plain("See "),
    { kind: "bold", text: "the deal" },
    plain(" at "),
    link("https://crm.example.com/d/7?x=1"),
    plain("."),
  ] as never);
  expect(proseParts("[Call notes](https://example.com/n) (http://example.com/a)")).toEqual([
    link("Call notes", "https://example.com/n"),
    plain(" ("),
    link("http://example.com/a"),
    plain(")"),
  ] as never);
  for (const text of [
    "javascript:alert(1)",
    "[x](javascript:alert(1))",
    "2 ** 3 ** 4 **",
    "<b>x</b>",
    "a * b *",
  ]) {
    expect(proseParts(text).every(({ kind }) => kind !== "link")).toBe(true);
    expect(
      proseParts(text)
        .map((part) => part.text)
        .join(""),
    ).toContain(text.slice(0, 1));
  }
  expect(proseParts("<b>x</b>")).toEqual([plain("<b>x</b>")] as never);
  expect(proseParts("")).toEqual([]);
});
