/** `rekindle revenue` */

import { Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { amountInUnits, currenciesWithoutRate } from "../../contract/billing/currencies.ts";
import { revenueLimits } from "../../contract/billing/revenue.ts";
import { counted } from "../../contract/counted.ts";
import type { OfOrganization } from "../installation.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printLine, printTable } from "../print.ts";
import { segmentOf } from "../segment-named.ts";
import { type AskFigure, withFigures } from "./ask.ts";

interface Options extends OfOrganization {
  readonly period: string;
  readonly periods: number;
  readonly to?: string;
  readonly by?: string;
  readonly segment?: string;
  readonly format: "table" | "csv" | "json";
}

const helpTexts = [
  "Amounts of json are in minor units, such as cents. Those of csv are in units: 2225.00.",
  "A segment of accounts matches its accounts, and users of these accounts who pay without an account.",
  "A segment of users matches its users who pay without an account, and all accounts with at least one member in the segment.",
];

export function revenueCommand(): Command {
  return new Command("revenue")
    .description("Print MRR, its movements, NRR, GRR and logo churn by month, quarter or year")
    .requiredOption("--organization <name>", "the organization")
    .addOption(
      new Option("--period <period>", "a row is a month, a quarter or a year")
        .choices(["month", "quarter", "year"])
        .default("month"),
    )
    .option("--periods <number>", "this many periods", wholeNumber(1, revenueLimits.periods), 12)
    .option("--to <date>", "the last day that counts; without it, today")
    .option("--by <plan|attribute>", "groups of payers: by `plan`, or by an attribute of accounts")
    .option("--segment <name>", "only payers of this segment, by its current members")
    .addOption(
      new Option("--format <format>", "how it is written").choices(["table", "csv", "json"]).default("table"),
    )
    .addHelpText("after", `\n${helpTexts.join("\n")}`)
    .action(async (options: Options) => {
      const { organization, segment: name } = options;
      const segment = name === undefined ? undefined : await segmentOf(organization, name);
      const path = pathOf(options, segment?.id);
      await withFigures(organization, (ask) =>
        options.format === "table" ? printTables(ask, path, options) : printAnswer(ask, path, options),
      );
    });
}

function pathOf({ period, periods, to, by, format }: Options, segment: number | undefined): string {
  const split = by === undefined || by === "plan" ? { split: by ?? "none" } : { split: "trait", trait: by };
  const query = new URLSearchParams({
    period,
    periods: String(periods),
    ...split,
    ...(to !== undefined && { to }),
    ...(segment !== undefined && { segment: String(segment) }),
    ...(format === "csv" && { format: "csv" }),
  });
  return `/api/revenue?${query}`;
}

async function printAnswer(ask: AskFigure, path: string, options: Options): Promise<void> {
  const response = await ask(path);
  process.stdout.write(await response.text());
  if (options.format === "json") process.stdout.write("\n");
}

async function printTables(ask: AskFigure, path: string, options: Options): Promise<void> {
  const response = await ask(path);
  const answer = (await response.json()) as RouteAnswer<"GET /api/revenue">;
  const { periods, reportingCurrency: currency } = answer;
  const money = (minorUnits: number) => amountInUnits(minorUnits, currency);
  const share = (part: number | null) => (part === null ? "-" : `${(part * 100).toFixed(1)}%`);
  const isSplit = options.by !== undefined;
  const hasTransfers = periods.some((row) => row.transferredInMrr + row.transferredOutMrr > 0);
  printTable(
    [
      ...(isSplit ? ["GROUP"] : []),
      "FROM",
      "START",
      "NEW",
      "REACTIVATED",
      "EXPANSION",
      "CONTRACTION",
      "CHURNED",
      ...(hasTransfers ? ["TRANSFERRED"] : []),
      "END",
      "PAYERS",
      "NRR",
      "GRR",
      "LOGO CHURN",
    ],
    periods.map((row) => [
      ...(isSplit ? [oneLine(row.value ?? row.kind)] : []),
      row.fromDay,
      ...[row.startMrr, row.newMrr, row.reactivatedMrr, row.expansionMrr].map(money),
      ...[row.contractionMrr, row.churnedMrr].map(money),
      ...(hasTransfers ? [money(row.transferredInMrr - row.transferredOutMrr)] : []),
      money(row.endMrr),
      String(row.endPayers),
      share(row.nrr),
      share(row.grr),
      share(row.logoChurn),
    ]),
  );
  printLine(`MRR in ${currency}, at the rates of version ${answer.settingsVersion} of the settings`);
  if (options.segment !== undefined) {
    printLine(`Only payers of the segment ${oneLine(options.segment)}, by its current members`);
  }
  for (const notice of noticesOf(answer)) printLine(notice);
}

/** MRR that is in no figure, not confirmed or unknown, in sentences. */
function noticesOf(answer: RouteAnswer<"GET /api/revenue">): readonly string[] {
  const { unrated, unconfirmed, unpriced, paidByMembers, freeAfterPaid, reportingCurrency } = answer;
  const amounts = unrated
    .filter(({ payers }) => payers > 0)
    .map(
      ({ currency, payers, mrr }) =>
        `${amountInUnits(mrr, currency)} ${currency} of ${counted(payers, "payer")}`,
    );
  return [
    ...(amounts.length > 0 ? [`MRR in no other figure: ${amounts.join(", ")}`] : []),
    ...currenciesWithoutRate(answer).map((currency) => `${currency} has no rate to ${reportingCurrency}`),
    ...unconfirmed.map(({ subscriptions, currency }) => {
      const are = subscriptions === 1 ? "counts and is" : "count and are";
      return `${counted(subscriptions, "subscription")} in ${currency} ${are} unconfirmed: the period ended more than 30 days ago`;
    }),
    ...(unpriced > 0
      ? [`${counted(unpriced, "active subscription")} without a known amount, counted as 0`]
      : []),
    ...(paidByMembers > 0
      ? [
          `${counted(paidByMembers, "subscription")} paid by members of accounts: not in the MRR of their accounts`,
        ]
      : []),
    ...(freeAfterPaid > 0
      ? [
          `${counted(freeAfterPaid, "active subscription")} for free that had MRR before: churned MRR, no departure`,
        ]
      : []),
  ];
}
