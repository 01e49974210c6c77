/** `rekindle warnings` */
import { Command } from "commander";
import { formatDay } from "../../server/calendar/days.ts";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { readLimit } from "../numbers.ts";
import { instant, oneLine, printTable } from "../print.ts";

/** The command that lists ingestion warnings. */
export function warningsCommand(): Command {
  return new Command("warnings")
    .description("List an organization's ingestion warnings of the last 30 days")
    .requiredOption("--organization <name>", "the organization")
    .option("--limit <number>", "at most this many, the latest first", readLimit, 100)
    .action(({ organization: name, limit }: OfOrganization & { limit: number }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const warnings = await ledger.warnings.list(id, limit);
        printTable(
          ["DAY (UTC)", "COUNT", "KIND", "ENDPOINT", "LAST SEEN", "LAST USER", "DETAIL"],
          warnings.map(({ utcDay, count, kind, endpoint, lastSeenMs, userId, detail }) => [
            formatDay(utcDay),
            String(count),
            kind,
            endpoint,
            instant(lastSeenMs),
            oneLine(userId ?? "-"),
            oneLine(detail ?? "-"),
          ]),
        );
      }),
    );
}
