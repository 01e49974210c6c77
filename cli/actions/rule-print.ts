/** Prints the preview and the figures of alert rules for people. */
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { oneLine, printLine, printTable } from "../print.ts";

type Preview = RouteAnswer<"POST /api/alert-rules/preview">;
type Figures = RouteAnswer<"GET /api/alert-rules/figures">["rules"];

/** The figures of a preview, and its alerts by week. */
export function printPreview(preview: Preview): void {
  const { fromDay, toDay, scoredDays, daysWithoutRisk, horizonDays, precision, baseRate } = preview;
  if (fromDay === null || toDay === null) {
    printLine(
      daysWithoutRisk === 0
        ? "There are no scores yet, so the rule has no preview."
        : `None of the ${daysWithoutRisk} scored days had a churn risk, so none can be judged.`,
    );
    return;
  }
  printLine(
    `${scoredDays} scored days from ${fromDay} to ${toDay}, with a churn horizon of ${horizonDays} days`,
  );
  if (daysWithoutRisk > 0) {
    printLine(`${daysWithoutRisk} more scored days had no churn risk, and are not judged`);
  }
  const range = intervalText(precision.interval);
  const steps = precision.steps === "weekly" ? ", decided on Mondays of a year" : "";
  const lead = preview.medianLeadDays;
  printTable(
    ["FIGURE", "VALUE"],
    [
      ["alerts", `${preview.fired} of ${preview.entities}`],
      ["open now", String(preview.open)],
      ["inside now", String(preview.insideNow)],
      ["inside by settings", String(preview.insideBySettings)],
      ["resolved within a week", String(preview.flapped)],
      [
        "followed by churn",
        `${outcome(precision.churned, precision.mature, precision.rate)}${range}${steps}`,
      ],
      ["base rate", outcome(baseRate.churned, baseRate.count, baseRate.rate)],
      ["churned without an alert", `${preview.missed} of ${preview.churnedEntities}`],
      ["median lead time", lead === null ? "-" : `${lead} days`],
    ],
  );
  printTable(
    ["WEEK FROM", "ALERTS"],
    preview.weeks.map(({ monday, fired }) => [monday, String(fired)]),
  );
}

/** One line for each rule. */
export function printFigures(rules: Figures): void {
  printTable(
    [
      "ID",
      "NAME",
      "ALERTS",
      "SINCE",
      "ALERTS A WEEK",
      "FOLLOWED BY CHURN",
      "BASE RATE",
      "LEAD DAYS",
      "TOUCHED ALERTS",
    ],
    rules.map(({ id, name, fired, since, perWeek, untouched, touched, baseRate }) => [
      String(id),
      oneLine(name),
      String(fired),
      since,
      perWeek === null ? "-" : perWeek.toFixed(1),
      outcome(untouched.churned, untouched.mature, untouched.rate),
      percent(baseRate.rate),
      String(untouched.medianLeadDays ?? "-"),
      outcome(touched.churned, touched.mature, touched.rate),
    ]),
  );
}

function outcome(churned: number, of: number, rate: number | null): string {
  return rate === null ? "-" : `${churned} of ${of} (${percent(rate)})`;
}

/** A 95 % interval behind its share. Empty without one. */
export function intervalText(interval: Preview["precision"]["interval"]): string {
  return interval === null ? "" : `, 95 % interval ${percent(interval.low)} to ${percent(interval.high)}`;
}

/** A share with one digit, or a dash for none. */
export function percent(share: number | null): string {
  return share === null ? "-" : `${(share * 100).toFixed(1)}%`;
}
