/** The failures that a long run of tests prints again. */
import { expect, test } from "bun:test";
import { failuresIn } from "../printed-results.ts";

const output = `
a.test.ts:
(pass) adds [1.00ms]
3 | expect(1).toBe(2);
error: expect(received).toBe(expected)
(fail) subtracts [2.00ms]
(pass) divides [1.00ms]

1 tests failed:
(fail) subtracts [2.00ms]

 2 pass
 1 fail
`;

test("the failing tests of an output come with what they printed, once each", () => {
  expect(failuresIn(output)).toEqual([
    "3 | expect(1).toBe(2);\nerror: expect(received).toBe(expected)\n(fail) subtracts [2.00ms]",
  ]);
});

test("of a long text the last lines are kept", () => {
  const [failure = ""] = failuresIn(`${"line\n".repeat(500)}error: too much\n(fail) talks [1.00ms]\n`);
  expect(failure.split("\n")).toHaveLength(40);
  expect(failure).toEndWith("error: too much\n(fail) talks [1.00ms]");
});

test("an output without failures has none", () => {
  expect(failuresIn("(pass) adds [1.00ms]\n\n 1 pass\n")).toEqual([]);
});
