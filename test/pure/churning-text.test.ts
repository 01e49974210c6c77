/** Churn in words, by the churn target. */
import { expect, test } from "bun:test";
import { churnMeans } from "../../contract/api/churn-targets.ts";
import { churningText } from "../../dashboard/text/churning.ts";

test("the outcome of a churn risk is silence with the target silence alone", () => {
  const said = (churnTarget: Parameters<typeof churnMeans>[0]) =>
    churningText({ horizonDays: 14, churnTarget, churnMeans: churnMeans(churnTarget, 14) });
  expect(said({ by: "silence" })).toBe("to be inactive for the next 14 days");
  expect(said({ by: "subscription" })).toBe("to cancel in the next 14 days");
  expect(said({ by: "event", event: "left", undoneBy: "returned" })).toBe(
    "to churn in the next 14 days: left, not undone by returned",
  );
});
