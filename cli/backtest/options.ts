/** The options of `rekindle backtest`. */
import { Command, InvalidArgumentError, Option } from "commander";
import { Zone } from "../../server/calendar/calendar.ts";
import { daysBetween, type EntityKind, maxFolds } from "../../server/scoring/scoring.ts";
import { addReadingOptions, type ReadingOptions } from "../import/options.ts";
import { dateIn, wholeNumber } from "../numbers.ts";

export interface BacktestOptions extends ReadingOptions {
  readonly entity: string;
  readonly time: string;
  readonly account?: string;
  readonly event?: string;
  readonly score: EntityKind;
  readonly horizon: number;
  readonly cutoffs: number;
  /** Days since 1970-01-01. */
  readonly firstCutoff?: number;
  readonly cutoffStep: number;
  readonly everyone: boolean;
  readonly timezone: Zone;
  readonly json: boolean;
}

const maxHorizonDays = 3_650;
const maxCutoffs = 1_000;

const date = dateIn(/^(\d{4})-?(\d{2})-?(\d{2})$/);

/** The command with its options, without its action. */
export function backtestOptions(): Command {
  const command = new Command("backtest")
    .description(
      "Back-test the churn models on any log of events, such as a CSV file, before installing anything",
    )
    .argument("<file>", "its path; .csv and .jsonl may be compressed as .gz")
    .requiredOption("--entity <column>", "the user's id")
    .requiredOption("--time <column>", "the event's time: unix seconds, ISO dates or date-times, YYYYMMDD")
    .option("--account <column>", "the user's account; each scored entity is then a user at an account")
    .option("--event <column>", "the event's name; without it, all events are the same");
  return addReadingOptions(command)
    .addOption(
      new Option("--score <kind>", "the scored entities; accounts need --account")
        .choices(["user", "account"])
        .default("user"),
    )
    .option(
      "--horizon <days>",
      "days of silence after which an entity has churned",
      wholeNumber(1, maxHorizonDays),
      28,
    )
    .option("--cutoffs <count>", "at most this many cut-off dates", wholeNumber(1, maxCutoffs), maxFolds)
    .option("--first-cutoff <date>", "the first cut-off date; by default they go back from the end", date)
    .option(
      "--cutoff-step <days>",
      "days from one cut-off date to the next",
      wholeNumber(1, maxHorizonDays),
      daysBetween,
    )
    .option("--everyone", "score all entities seen in 26 weeks, not only active and new ones", false)
    .addOption(
      new Option("--timezone <zone>", "in which days begin").argParser(zone).default(new Zone("UTC"), "UTC"),
    )
    .option("--json", "print JSON", false);
}

function zone(text: string): Zone {
  try {
    return new Zone(text);
  } catch {
    throw new InvalidArgumentError("Give the name of a timezone, such as Europe/Paris.");
  }
}
