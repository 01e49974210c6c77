/** The options of `rekindle backtest`. */
import { Command, InvalidArgumentError, Option } from "commander";
import { dayNumber, Zone } from "../../server/calendar/calendar.ts";
import type { EntityKind } from "../../server/scoring/scoring.ts";
import { daysBetween, maxFolds } from "../../server/scoring/scoring.ts";
import { addReadingOptions, type ReadingOptions } from "../import/options.ts";
import { wholeNumber } from "../numbers.ts";

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

/** The command with its options, without its action. */
export function backtestOptions(): Command {
  const command = new Command("backtest")
    .description(
      "Judge the churn models on any log of who did what when, CSV say, before installing anything",
    )
    .argument("<file>", "its path; .csv and .jsonl may be compressed as .gz")
    .requiredOption("--entity <column>", "who: the user's id")
    .requiredOption("--time <column>", "when: unix seconds, ISO dates or date-times, YYYYMMDD")
    .option("--account <column>", "the user's account; who is scored is then a user at an account")
    .option("--event <column>", "what: the event's name; without it, all events are the same");
  return addReadingOptions(command)
    .addOption(
      new Option("--score <whom>", "who is scored; accounts need --account")
        .choices(["user", "account"])
        .default("user"),
    )
    .option("--horizon <days>", "silent for so many days is churned", wholeNumber(1, maxHorizonDays), 28)
    .option(
      "--cutoffs <count>",
      "score at so many days, or as many as fit",
      wholeNumber(1, maxCutoffs),
      maxFolds,
    )
    .option("--first-cutoff <date>", "the first of these days; without it, they go back from the end", date)
    .option(
      "--cutoff-step <days>",
      "from one of these days to the next",
      wholeNumber(1, maxHorizonDays),
      daysBetween,
    )
    .option("--everyone", "score everybody seen in 26 weeks, and not only the active and the new", false)
    .addOption(
      new Option("--timezone <zone>", "in which days begin").argParser(zone).default(new Zone("UTC"), "UTC"),
    )
    .option("--json", "print JSON", false);
}

function date(text: string): number {
  const [, year, month, day] = /^(\d{4})-?(\d{2})-?(\d{2})$/.exec(text) ?? [];
  const number = dayNumber(Number(year), Number(month), Number(day));
  if (number === undefined) throw new InvalidArgumentError("Give a date, 2026-01-31 say.");
  return number;
}

function zone(text: string): Zone {
  try {
    return new Zone(text);
  } catch {
    throw new InvalidArgumentError("Give the name of a timezone, Europe/Paris say.");
  }
}
