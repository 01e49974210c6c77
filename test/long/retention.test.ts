/** Every combination of a question's options about retention equals a recount: some 1,400, in several minutes. */
import { test } from "bun:test";
import { msPerDay } from "../../server/calendar/zone.ts";
import { checkQuestions } from "../warehouse/retention-check.ts";
import { combinations } from "../warehouse/retention-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();

test("every combination of options equals a recount", () => {
  const random = randomOfThisRun("retention");
  const today = Date.UTC(2026, 8, 20) / msPerDay;
  const shape = {
    timezone: "America/Santiago",
    users: 70,
    today,
    days: 100,
    leaving: true,
    manyValues: true,
  };
  return checkQuestions(subject, random, shape, combinations().length);
}, 900_000);
