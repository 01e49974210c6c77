/** `rekindle token create | list | revoke` */
import { Command, InvalidArgumentError } from "commander";
import { createProjectToken } from "../../server/ledger/project-token.ts";
import { organizationNamed, withInstallation } from "../installation.ts";
import { instant, printTable } from "../print.ts";

export function tokenCommand(): Command {
  return new Command("token")
    .description("Create, list and revoke project tokens")
    .addCommand(create())
    .addCommand(list())
    .addCommand(revoke());
}

function create(): Command {
  return new Command("create")
    .description("Create a project token and print it, alone and this once")
    .requiredOption("--organization <name>", "the organization it writes to")
    .option("--name <name>", "what it is for", "unnamed")
    .action(({ organization: organizationName, name }: { organization: string; name: string }) =>
      withInstallation(async ({ ledger }) => {
        const organization = await organizationNamed(ledger, organizationName);
        const { secret } = await createProjectToken(ledger.tokens, {
          organization: organization.id,
          name,
          nowMs: Date.now(),
        });
        process.stdout.write(`${secret}\n`);
      }),
    );
}

function list(): Command {
  return new Command("list")
    .description("List the project tokens of an organization; tokens themselves are never shown")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: { organization: string }) =>
      withInstallation(async ({ ledger }) => {
        const organization = await organizationNamed(ledger, name);
        const tokens = await ledger.tokens.list(organization.id);
        printTable(
          ["ID", "NAME", "TOKEN", "CREATED", "LAST USED", "REVOKED"],
          tokens.map((token) => [
            String(token.id),
            token.name,
            `rk-…${token.lastFour}`,
            instant(token.createdAtMs),
            instant(token.lastUsedAtMs),
            instant(token.revokedAtMs),
          ]),
        );
      }),
    );
}

function revoke(): Command {
  return new Command("revoke")
    .description("Revoke a project token; a running server refuses it at once")
    .argument("<id>", "the token's id, as token list shows it", readId)
    .action((id: number) =>
      withInstallation(async ({ ledger }) => {
        const token = await ledger.tokens.revoke(id, Date.now());
        process.stderr.write(`revoked ${token.name} (rk-…${token.lastFour})\n`);
      }),
    );
}

function readId(text: string): number {
  const id = Number(text);
  if (Number.isInteger(id) && id > 0) return id;
  throw new InvalidArgumentError("Give the number in the first column of token list.");
}
