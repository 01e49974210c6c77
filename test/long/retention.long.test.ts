/** Every combination of a question's options about retention equals a recount: 1,440, in several minutes. */
import { test } from "bun:test";
import { msPerDay } from "../../server/calendar/zone.ts";
import { checkQuestions } from "../warehouse/retention-check.ts";
import { type Combination, combinations, shuffled } from "../warehouse/retention-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

export const runsOn = { disk: true };

const subject = new WarehouseUnderTest();

/** All combinations by the cohort's entry and by the event of return, each with a history of its own. */
const parts = Map.groupBy(combinations(), ({ entry, returnEvent }: Combination) => {
  const who = entry.kind === "event" ? entry.event : entry.kind;
  return `${who}, back by ${returnEvent ?? "any event"}`;
});

test.each([...parts])("every combination equals a recount: %s", (part, questions) => {
  const random = randomOfThisRun(`retention, ${part}`);
  const today = Date.UTC(2026, 8, 20) / msPerDay;
  const shape = {
    timezone: "America/Santiago",
    users: 70,
    today,
    days: 100,
    leaving: true,
    manyValues: true,
  };
  return checkQuestions(subject, random, shape, shuffled(random, questions));
});
