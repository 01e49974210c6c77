/** `rekindle erase user | list` */
import { Command } from "commander";
import { commandLine } from "../../server/ledger/audit.ts";
import { noteErasure } from "../../server/ledger/audited-data.ts";
import { Refusal } from "../../server/ledger/ledger.ts";
import { withAnalysis } from "../analysis.ts";
import { organizationNamed, withInstallation } from "../installation.ts";
import { instant, printTable } from "../print.ts";

export function eraseCommand(): Command {
  return new Command("erase")
    .description("Erase users, and list the erasures")
    .addCommand(user())
    .addCommand(list());
}

function user(): Command {
  return new Command("user")
    .description("Erase everything of a user and print a receipt; it cannot be taken back")
    .argument("<id>", "the user's id")
    .requiredOption("--organization <name>", "whose user")
    .action((userId: string, { organization: name }: { organization: string }) =>
      withAnalysis(async ({ ledger }, analysis) => {
        const { id } = await organizationNamed(ledger, name);
        const receipt = await analysis.erase(id, userId);
        if (receipt === undefined) throw new Refusal(`${name} has no user with this id, or not any more.`);
        await noteErasure({ ledger, organization: id, by: commandLine, nowMs: Date.now() }, receipt);
        process.stdout.write(`${JSON.stringify(receipt)}\n`);
      }),
    );
}

function list(): Command {
  return new Command("list")
    .description("List an organization's erasures; who was erased is not kept")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: { organization: string }) =>
      withInstallation(async ({ ledger }) => {
        const { id } = await organizationNamed(ledger, name);
        const erasures = await ledger.erasures.list(id);
        printTable(
          ["ID", "REQUESTED", "ERASED", "EVENTS", "VERSIONS", "DEAD LETTERS", "INBOX ROWS", "DAYS"],
          erasures.map((erasure) => [
            String(erasure.id),
            instant(erasure.requestedAtMs),
            instant(erasure.erasedAtMs),
            ...[erasure.events, erasure.versions, erasure.deadLetters, erasure.inboxRows, erasure.days].map(
              String,
            ),
          ]),
        );
      }),
    );
}
