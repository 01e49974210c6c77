/** `rekindle erase list`; `user erase` and `account erase` are those of the API. */
import { Command } from "commander";
import { type OfOrganization, withOrganization } from "../installation.ts";
import { instant, printTable } from "../print.ts";

/** The topic of erasures. */
export function eraseCommand(): Command {
  return new Command("erase").description("List the erasures of users and accounts").addCommand(list());
}

function list(): Command {
  return new Command("list")
    .description("List an organization's erasures; the ids that were erased are not kept")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const erasures = await ledger.erasures.list(id);
        printTable(
          ["ID", "WHAT", "REQUESTED", "ERASED", "EVENTS", "VERSIONS", "REJECTED", "INBOX ROWS", "DAYS"],
          erasures.map((erasure) => [
            String(erasure.id),
            erasure.account > 0 ? "account" : "user",
            instant(erasure.requestedAtMs),
            instant(erasure.erasedAtMs),
            ...[
              erasure.events,
              erasure.versions,
              erasure.rejectedEvents,
              erasure.inboxRows,
              erasure.days,
            ].map(String),
          ]),
        );
      }),
    );
}
