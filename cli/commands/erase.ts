/** `rekindle erase user | account | list` */
import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { withAnalysis } from "../analysis.ts";
import { type OfOrganization, organizationNamed, withOrganization } from "../installation.ts";
import { instant, printTable } from "../print.ts";

export function eraseCommand(): Command {
  return new Command("erase")
    .description("Erase users and accounts, and list the erasures")
    .addCommand(user())
    .addCommand(account())
    .addCommand(list());
}

function user(): Command {
  return new Command("user")
    .description("Erase all data of a user and print a receipt; this cannot be undone")
    .argument("<id>", "the user's id")
    .requiredOption("--organization <name>", "the user's organization")
    .option("--with-account", "erase the user's account, too, when it has no other member")
    .action((userId: string, { organization: name, withAccount }: UserOptions) =>
      withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationNamed(ledger, name);
        const asked = { by: commandLine, withAccount: withAccount === true };
        const receipt = await analysis.erase(id, userId, asked);
        if (receipt === undefined) throw new Refusal(`${name} has no user with this id, or not any more.`);
        process.stdout.write(`${JSON.stringify(receipt)}\n`);
      }),
    );
}

interface UserOptions extends OfOrganization {
  readonly withAccount?: boolean;
}

function account(): Command {
  return new Command("account")
    .description("Erase all data of an account and print a receipt; its members stay, without an account")
    .argument("<id>", "the account's id")
    .requiredOption("--organization <name>", "the account's organization")
    .action((accountId: string, { organization: name }: OfOrganization) =>
      withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationNamed(ledger, name);
        const receipt = await analysis.eraseAccount(id, accountId, { by: commandLine });
        if (receipt === undefined) throw new Refusal(`${name} has no account with this id, or not any more.`);
        process.stdout.write(`${JSON.stringify(receipt)}\n`);
      }),
    );
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
