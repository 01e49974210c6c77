/** `rekindle digest` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { type DigestPeriod, digestLimits, digestPeriods } from "../../contract/digest/digest.ts";
import { oneLine, printLine, printTable } from "../print.ts";
import { apiCommand } from "./api-command.ts";
import { intervalText, percent } from "./rule-print.ts";

type Digest = RouteAnswer<"GET /api/digest">;
type Entity = Digest["entered"]["named"][number];

/** The command that prints the digest. */
export function digestCommand(): Command {
  return apiCommand<{ readonly period: DigestPeriod }, Digest>({
    words: "digest",
    description:
      "Print who entered and left high risk, what was done about alerts, and what changed; nothing is sent",
    options: [
      new Option("--period <period>", "daily: changes since yesterday. weekly: changes of the last 7 days")
        .choices(digestPeriods)
        .default("weekly"),
    ],
    run: ({ ask }, _, { period }) => ask("GET /api/digest", { query: { period } }),
    print: printDigest,
  }).addHelpText(
    "after",
    "\nTeam members choose their own digest by e-mail under Settings. `rekindle destination change NAME --notice digest.weekly` sends it to a channel of Slack.",
  );
}

/** Prints a digest for people. */
export function printDigest(digest: Digest): void {
  const { period, day, scoredDay, changes, hasNews } = digest;
  printLine(`${period} digest of ${day}${scoredDay === null ? "" : `, with the scores of ${scoredDay}`}`);
  const missing = missingIn(digest);
  if (missing !== undefined) printLine(missing);
  if (!hasNews) printLine("Nothing of this is new, so it is not sent.");
  printTable(["FIGURE", "VALUE"], figuresOf(digest));
  printEntities(digest);
  for (const change of changes) printLine(oneLine(change));
}

/** The reason why a digest has no moves. Undefined when it has some, or could have. */
function missingIn({ data, scoredDay, sinceDay, hasModel, lacksData }: Digest): string | undefined {
  if (data.stoppedSince !== null) return `Scores wait for data since ${data.stoppedSince}.`;
  if (scoredDay === null) return "There are no scores yet.";
  if (!hasModel) {
    const why = lacksData ? "there is too little data for a model" : "no model passed the back-test";
    return `No churn risk is known: ${why}.`;
  }
  return sinceDay === null ? "There are no earlier scores to compare with." : undefined;
}

function figuresOf(digest: Digest): string[][] {
  const { alerts, precision, data } = digest;
  const { fired, handled, notUseful, withTask, untouched, churned } = alerts;
  const { mature, rate, interval } = precision;
  const isCompared = digest.hasModel && digest.sinceDay !== null;
  const moved = (count: number) => (isCompared ? String(count) : "-");
  const done = `${handled} handled, ${notUseful} not useful, ${withTask} with a task, ${untouched} untouched, ${churned} churned`;
  return [
    ["entered high risk", moved(digest.entered.total)],
    ["left high risk", moved(digest.left.total)],
    ["moved only by settings or a model", moved(digest.movedBySettings)],
    ["inside a rule only by settings or a model", String(digest.insideBySettings)],
    [`alerts of ${digestLimits.alertDays} days`, fired === 0 ? "0" : `${fired}: ${done}`],
    [
      "untouched alerts followed by churn",
      rate === null ? "-" : `${precision.churned} of ${mature} (${percent(rate)})${intervalText(interval)}`,
    ],
    ["rejected events", String(data.rejectedEvents)],
    ...data.silent.map(({ source, since }) => ["silent source", `${source} since ${since}`]),
  ];
}

/** The users or accounts that are named. Prints nothing without any. */
function printEntities({ kind, entered, left, top, currency }: Digest): void {
  const row = (what: string, { id, label, risk, riskBefore, expectedLoss }: Entity) => [
    what,
    oneLine(id),
    oneLine(label),
    percent(risk),
    percent(riskBefore),
    expectedLoss === null || currency === "" ? "-" : amount(expectedLoss, currency),
  ];
  const rows = [
    ...entered.named.map((one) => row("entered high risk", one)),
    ...left.named.map((one) => row(one.state === "churned" ? "churned" : "left high risk", one)),
  ];
  if (rows.length > 0) {
    printTable(["WHAT", kind.toUpperCase(), "NAME", "RISK", "RISK BEFORE", "EXPECTED LOSS A MONTH"], rows);
  }
  if (top.length === 0) return;
  printTable(
    ["TO CALL", "ID", "NAME", "MRR", "PLAN", "WHY", "OWNER"],
    top.map((one, at) => [
      String(at + 1),
      oneLine(one.id),
      oneLine(one.label),
      one.mrr === null || currency === "" ? "-" : amount(one.mrr, currency),
      oneLine(one.plan ?? "-"),
      oneLine(one.reason),
      oneLine(one.owner ?? "-"),
    ]),
  );
}

function amount(minorUnits: number, currency: string): string {
  const digits = currencyDigits(currency);
  return `${(minorUnits / 10 ** digits).toFixed(digits)} ${currency}`;
}
