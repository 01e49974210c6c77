/** `rekindle win-back` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { winBackDays } from "../../contract/api/win-back.ts";
import { currencyDigits } from "../../contract/billing/currencies.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printLine, printTable } from "../print.ts";
import { segmentNamed } from "../segment-named.ts";
import { apiCommand, assigneeIn } from "./api-command.ts";

interface Options {
  readonly kind: "user" | "account";
  readonly days?: number;
  readonly owner?: string;
  readonly segment?: string;
  readonly limit: number;
  readonly offset: number;
}

type WinBack = RouteAnswer<"GET /api/win-back">;

/** The command that lists users or accounts that churned lately. */
export function winBackCommand(): Command {
  return apiCommand<Options, WinBack>({
    words: "win-back",
    description: "List users or accounts that churned lately, the highest last MRR first",
    options: [
      new Option("--kind <kind>", "users or accounts").choices(["user", "account"]).default("user"),
      new Option("--days <number>", "churned within so many days; without it, the churn horizon").argParser(
        wholeNumber(1, winBackDays),
      ),
      new Option("--owner <email>", "only those of a team member, or of nobody"),
      new Option("--segment <name>", "only those that are in this segment now"),
      new Option("--limit <number>", "at most so many").argParser(wholeNumber(1, 1_000)).default(1_000),
      new Option("--offset <number>", "pass over so many").argParser(wholeNumber(0, 10_000_000)).default(0),
    ],
    run: async (api, _, { kind, days, owner, segment: name, limit, offset }) => {
      const { installation, organization } = api;
      const segment =
        name === undefined ? undefined : (await segmentNamed(installation.ledger, organization.id, name)).id;
      const query = { kind, days, segment, limit, offset, owner: await assigneeIn(api, owner) };
      return api.ask("GET /api/win-back", { query });
    },
    print: printWinBack,
  });
}

function printWinBack({ day, days, reportingCurrency, total, lastMrr, churned }: WinBack): void {
  const money = (amount: number | null) => {
    if (amount === null || reportingCurrency === null) return "-";
    const digits = currencyDigits(reportingCurrency);
    return `${(amount / 10 ** digits).toFixed(digits)} ${reportingCurrency}`;
  };
  printTable(
    ["ID", "NAME", "CHURNED", "LAST SEEN", "LAST MRR", "PLAN", "OWNER", "REASON"],
    churned.map((one) => [
      oneLine(one.id),
      oneLine(one.label),
      one.churnedDay,
      one.lastSeenDay ?? "-",
      money(one.lastMrr),
      oneLine(one.plan ?? "-"),
      oneLine(one.owner ?? "-"),
      oneLine(one.reason ?? "-"),
    ]),
  );
  if (day === null) printLine("There are no scores yet.");
  else {
    const paid = lastMrr === null ? "" : `, with a last MRR of ${money(lastMrr)}`;
    printLine(`${total} churned within ${days} days before ${day}${paid}`);
  }
}
