/** The options of `rekindle backtest`. */
import { Command, InvalidArgumentError, Option } from "commander";
import { type ChurnTarget, silence } from "../../contract/api/churn-targets.ts";
import { Refusal } from "../../contract/refusal.ts";
import { Zone } from "../../server/calendar/zone.ts";
import { daysBetween, maxFolds } from "../../server/scoring/churn/folds.ts";
import type { EntityKind } from "../../server/scoring/queries/engagement-events.ts";
import { churnTargetForms, churnTargetIn } from "../churn-target.ts";
import { addReadingOptions, type ReadingOptions } from "../import/options.ts";
import { dateIn, wholeNumber } from "../numbers.ts";

export interface BacktestOptions extends ReadingOptions {
  readonly entity: string;
  readonly time: string;
  readonly account?: string;
  readonly event?: string;
  /** Of the events' properties. */
  readonly properties?: string;
  readonly score: EntityKind;
  readonly horizon: number;
  readonly cutoffs: number;
  /** Days since 1970-01-01. */
  readonly firstCutoff?: number;
  readonly cutoffStep: number;
  readonly everyone: boolean;
  readonly churnEvent?: string;
  readonly undoneBy?: string;
  readonly churnTarget?: ChurnTarget;
  /** The path of a file of traits. */
  readonly traits?: string;
  readonly compare: boolean;
  readonly timezone: Zone;
  readonly json: boolean;
}

const maxHorizonDays = 3_650;
const maxCutoffs = 1_000;

const date = dateIn(/^(\d{4})-?(\d{2})-?(\d{2})$/);

/** The target of the options: silence without any. */
export function targetOfOptions({ churnTarget, churnEvent, undoneBy }: BacktestOptions): ChurnTarget {
  if (churnEvent !== undefined) return { by: "event", event: churnEvent, undoneBy: undoneBy ?? null };
  return churnTarget ?? silence;
}

/** @throws Refusal for options that do not go together */
export function refuseContradictions(options: BacktestOptions): void {
  const { score, account, event, properties, churnEvent, undoneBy, churnTarget, traits, everyone } = options;
  const { by } = targetOfOptions(options);
  const contradictions: readonly (readonly [isOne: boolean, message: string])[] = [
    [
      score === "account" && account === undefined,
      "--score account needs to know the accounts: give --account COLUMN.",
    ],
    [
      churnEvent !== undefined && churnTarget !== undefined,
      "--churn-event and --churn-target both say when an entity churns: leave one out.",
    ],
    [
      by === "event" && event === undefined,
      "a churn event needs to know the events' names: give --event COLUMN.",
    ],
    [
      properties !== undefined && event === undefined,
      "--properties makes billing events of events with their names: give --event COLUMN.",
    ],
    [
      by === "subscription" && properties === undefined,
      "--churn-target subscription needs to know what billing events say: give --properties COLUMN.",
    ],
    [
      by === "trait" && traits === undefined,
      "a trait as churn target needs to know the traits: give --traits FILE.",
    ],
    [
      undoneBy !== undefined && churnEvent === undefined,
      "--undone-by undoes a churn event: give --churn-event NAME.",
    ],
    [
      undoneBy !== undefined && undoneBy === churnEvent,
      "--undone-by names the churn event itself: give another event.",
    ],
    [
      by !== "silence" && everyone,
      "--everyone scores entities that have churned, too, whose churn is known: leave it out.",
    ],
  ];
  const [, message] = contradictions.find(([isOne]) => isOne) ?? [];
  if (message !== undefined) throw new Refusal(message);
}

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
    .option("--event <column>", "the event's name; without it, all events are the same")
    .option("--properties <column>", "the event's properties, a JSON object; of billing events alone");
  return addReadingOptions(command)
    .addOption(
      new Option("--score <kind>", "the scored entities; accounts need --account")
        .choices(["user", "account"])
        .default("user"),
    )
    .option("--churn-event <name>", "the event with which an entity churns; without it, silence is churn")
    .option("--undone-by <name>", "a later event that undoes the churn event")
    .option("--churn-target <target>", `when an entity churns: ${churnTargetForms}`, readChurnTarget)
    .option(
      "--traits <file>",
      "what was said of the scored users or accounts: lines of id, time and a JSON object of traits",
    )
    .option(
      "--horizon <days>",
      "days of a prediction: of silence, or until the churn",
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
    .option("--compare", "print what each group of features is worth: the model without it", false)
    .option("--json", "print JSON", false);
}

function readChurnTarget(text: string): ChurnTarget {
  const target = churnTargetIn(text);
  if (target === undefined) throw new InvalidArgumentError(`Give ${churnTargetForms}.`);
  return target;
}

function zone(text: string): Zone {
  try {
    return new Zone(text);
  } catch {
    throw new InvalidArgumentError("Give the name of a timezone, such as Europe/Paris.");
  }
}
