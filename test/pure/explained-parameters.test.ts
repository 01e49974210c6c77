/** Answers about a wrong parameter or filter name the values that may be sent, and never quote the
 * validator. */
import { expect, test } from "bun:test";
import Compile from "typebox/compile";
import { AlertsParameters } from "../../contract/alerts/rule-schemas.ts";
import { TasksParameters } from "../../contract/api/notes-and-tasks.ts";
import { explainInvalid } from "../../contract/explain.ts";
import { FilterSchema } from "../../contract/segments/filters.ts";

test.each([
  [{ riskBand: "hgh" }, "riskBand is not valid: send one of low, medium, high."],
  [{ seenWithinDays: 0 }, "seenWithinDays is not valid: send a whole number from 1 to 3650."],
  [{ toCall: "yes" }, "toCall is not valid: send true or false."],
  [{ activeFrom: "2026-13-01" }, "activeFrom is not valid: send a date such as 2026-01-31."],
  [{ owner: "ada" }, "owner is not valid: send me, nobody, or the id of a team member."],
  [{ events: "opened" }, "events is not valid: send a JSON array of up to 8."],
  [
    { events: [{ event: "opened", days: 0 }] },
    "events.0.days is not valid: send a whole number from 1 to 3650.",
  ],
  [{ events: [{ event: "opened" }] }, "events.0.days is missing: send a whole number from 1 to 3650."],
  [
    { events: [{ event: "opened", days: 7, match: "more" }] },
    "events.0.match is not valid: send one of atLeast, fewerThan.",
  ],
  [
    { traits: [{ trait: "x".repeat(257), value: "" }] },
    "traits.0.trait is too long: send 1 to 256 characters.",
  ],
])("the filter %j", (filter, said) => {
  expect(explainInvalid(FilterSchema, Compile(FilterSchema), filter)).toBe(said);
});

test("a filter by verdict names all verdicts", () => {
  const said = explainInvalid(FilterSchema, Compile(FilterSchema), { verdict: "bad" });
  expect(said).toStartWith("verdict is not valid: send one of churned, ");
  expect(said).toEndWith(", not_churned.");
});

test.each([
  [
    AlertsParameters,
    { state: "old" },
    "state is not valid: send one of open, snoozed, handled, closed, all.",
  ],
  [AlertsParameters, { rule: "x" }, "rule is not valid: send a whole number from 1."],
  [AlertsParameters, { limit: 0 }, "limit is not valid: send a whole number from 1 to 1000."],
  [
    TasksParameters,
    { assignee: "ada" },
    "assignee is not valid: send me, nobody, or the id of a team member.",
  ],
])("parameters of %#", (schema, query, said) => {
  const defaults = { limit: 1, offset: 0, state: "open", list: "open" };
  const known = Object.entries(defaults).filter(([name]) => Object.hasOwn(schema.properties, name));
  const sent = { ...Object.fromEntries(known), ...query };
  expect(explainInvalid(schema, Compile(schema), sent)).toBe(said);
});
