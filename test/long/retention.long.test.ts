/**
 * Every combination of a question's options about retention equals a recount: 1,440, in several minutes. With
 * TEST_SAMPLE=1 it is 60 of them, among which is every value of every option.
 */
import { test } from "bun:test";
import { msPerDay } from "../../server/calendar/zone.ts";
import { Random } from "../../simulation/random.ts";
import { checkQuestions } from "../warehouse/retention-check.ts";
import {
  type Combination,
  combinations,
  sampledCombinations,
  shuffled,
} from "../warehouse/retention-support.ts";
import { randomOfThisRun, WarehouseUnderTest } from "../warehouse/support.ts";

const subject = new WarehouseUnderTest();
const isSample = process.env.TEST_SAMPLE === "1";
const random = randomOfThisRun("retention");

/** Combinations that are asked of one history: by the cohort's entry and, when all are asked, by the event of
 * return. */
function historyOf({ entry, returnEvent }: Combination): string {
  const who = entry.kind === "event" ? entry.event : entry.kind;
  return isSample ? who : `${who}, back by ${returnEvent ?? "any event"}`;
}

const questions = shuffled(random, isSample ? sampledCombinations(random) : combinations());
const histories = [...Map.groupBy(questions, historyOf)].map(
  // A seed for each, so that a history that runs alone is the one of the whole run.
  ([history, asked]) => [history, asked, random.between(0, 2 ** 32)] as const,
);

test.each(histories)("every combination equals a recount: %s", (_history, asked, seed) => {
  const today = Date.UTC(2026, 8, 20) / msPerDay;
  const shape = {
    timezone: "America/Santiago",
    users: 70,
    today,
    days: 100,
    leaving: true,
    manyValues: true,
  };
  return checkQuestions(subject, new Random(seed), shape, asked);
});
