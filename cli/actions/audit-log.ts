/** `rekindle audit-log` */
import { type Command, Option } from "commander";
import type { RouteAnswer } from "../../contract/api/routes.ts";
import { auditLimits } from "../../contract/audit.ts";
import { auditLogOf } from "../../server/members/organization.ts";
import { wholeNumber } from "../numbers.ts";
import { oneLine, printTable } from "../print.ts";
import { apiCommand } from "./api-command.ts";

interface Options {
  readonly limit: number;
  readonly before?: number;
}

/** The command that lists the changes of an organization. */
export function auditLogCommand(): Command {
  const { entriesPerPage } = auditLimits;
  return apiCommand<Options, RouteAnswer<"GET /api/audit-log">>({
    words: "audit-log",
    description: "List an organization's changes and their authors, the newest first",
    options: [
      new Option("--limit <number>", "at most so many")
        .argParser(wholeNumber(1, entriesPerPage))
        .default(entriesPerPage),
      new Option("--before <id>", "only those before this one, to read on").argParser(
        wholeNumber(1, Number.MAX_SAFE_INTEGER),
      ),
    ],
    run: ({ installation, organization }, _, { limit, before }) =>
      auditLogOf(installation, organization.id, { limit, before }),
    print: ({ entries }) =>
      printTable(
        ["ID", "AT", "BY", "CHANGE", "SUMMARY"],
        entries.map(({ id, at, person, action, summary, detail: { by } }) => [
          String(id),
          at,
          oneLine(person?.name ?? (typeof by === "string" ? by : "-")),
          action,
          oneLine(summary),
        ]),
      ),
  });
}
