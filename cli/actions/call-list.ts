/** `rekindle call-list` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { callListLimits, callLists } from "../../contract/call-list/call-list.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printLine, printTable } from "../print.ts";
import { apiCommand, segmentIdIn } from "./api-command.ts";

interface Options {
  readonly list: (typeof callLists)[number];
  readonly segment?: string;
  readonly limit: number;
}

type CallList = RouteAnswer<"GET /api/call-list">;

/** The command that lists whom to call first, and why. */
export function callListCommand(): Command {
  return apiCommand<Options, CallList>({
    words: "call-list",
    description: "List whom to call first, and why",
    options: [
      new Option("--list <list>", "whom to call, those that pay nothing, or those that are kept off for now")
        .choices(callLists)
        .default("call"),
      new Option("--segment <name>", "only those that are in this segment now"),
      new Option("--limit <number>", "at most so many")
        .argParser(wholeNumber(1, callListLimits.rows))
        .default(callListLimits.byDefault),
    ],
    run: async (api, _, { list, segment: name, limit }) =>
      api.ask("GET /api/call-list", { query: { list, limit, segment: await segmentIdIn(api, name) } }),
    print: printCallList,
  });
}

function printCallList({ day, currency, rows, note }: CallList): void {
  const digits = currencyDigits(currency);
  const money = (amount: number | null) =>
    amount === null ? "-" : `${(amount / 10 ** digits).toFixed(digits)} ${currency}`;
  printTable(
    ["KIND", "ID", "NAME", "MRR", "PLAN", "WHY", "ENDS", "RENEWS", "OWNER", "CONTACT", "OPEN TASK"],
    rows.map((row) => [
      row.kind,
      oneLine(row.accountId ?? row.userId ?? ""),
      oneLine(row.name),
      money(row.mrr),
      oneLine(row.plan ?? "-"),
      oneLine(row.reason),
      row.endsOn ?? "-",
      row.renewsOn ?? "-",
      oneLine(row.owner ?? "-"),
      row.lastContactDays === null ? "-" : `${row.lastContactDays} days ago`,
      oneLine(row.openTask ?? "-"),
    ]),
  );
  if (note !== null) printLine(note);
  else if (day === null) printLine("There are no scores yet.");
}
