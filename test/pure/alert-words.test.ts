/** The figures of an alert in words. */
import { expect, test } from "bun:test";
import { type Alert, figuresOf } from "../../dashboard/pages/alerts/alert-words.ts";

type Rule = Parameters<typeof figuresOf>[1];

const usageRule = { version: 2, condition: { kind: "usageDown", percent: 50 } } as Rule;
const alertWith = (before: number | null, after: number, reasons: readonly string[]) =>
  ({ version: 2, before, after, reasons: [...reasons] }) as Alert;

test.each([
  [188, 58, "58 actions in 28 days, 188 before (-69%)"],
  [2, 1, "1 action in 28 days, 2 before (-50%)"],
  [4, 0, "0 actions in 28 days, 4 before (-100%)"],
  [0, 5, "5 actions in 28 days, 0 before"],
  [null, 5, "5 actions in 28 days"],
])("use of %p before and %d after is %s", (before, after, text) => {
  const reasons = ["58 actions in 28 days, 188 before (−69%)", "Volume of 28 days 58, was 188", "MRR fell"];
  expect(figuresOf(alertWith(before, after, reasons), usageRule)).toEqual({
    values: text,
    reasons: ["MRR fell"],
  });
});
