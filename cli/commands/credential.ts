/** `rekindle token create | list | revoke` and `rekindle key create | list | revoke` */

import { Command, InvalidArgumentError, Option } from "commander";
import { peopleLimits } from "../../contract/member-limits.ts";
import { type TokenScope, tokenScopes } from "../../contract/members.ts";
import { isName } from "../../contract/names.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { SharedLedger } from "../../server/ledger/ledger.ts";
import {
  type Credential,
  createProjectToken,
  createReadKey,
  rightsOfKeys,
  type SecretPrefix,
  scopeOf,
  secretPrefix,
} from "../../server/ledger/stores/credentials.ts";
import type { Time } from "../../server/process/time.ts";
import {
  type OfOrganization,
  organizationOption,
  withInstallation,
  withOrganization,
} from "../installation.ts";
import { printable } from "../output.ts";
import { instant, oneLine, printTable } from "../print.ts";

/** The differences of the two kinds of credentials. */
interface Kind {
  readonly word: "token" | "key";
  readonly title: string;
  readonly prefix: SecretPrefix;
  readonly store: "tokens" | "readKeys";
  readonly moreColumns: Readonly<Record<string, (credential: Credential) => string>>;
}

const tokenKind: Kind = {
  word: "token",
  title: "project token",
  prefix: secretPrefix.token,
  store: "tokens",
  moreColumns: { SCOPE: scopeOf },
};

const keyKind: Kind = {
  word: "key",
  title: "read key",
  prefix: secretPrefix.readKey,
  store: "readKeys",
  moreColumns: {
    RIGHTS: ({ rights }) => rights.join(","),
    "MADE BY": ({ madeBy }) => (madeBy === null ? "-" : `${oneLine(madeBy.name)} (person ${madeBy.id})`),
  },
};

/** The command for project tokens, which write. */
export function tokenCommand(time: Time): Command {
  const creating = create<{ scope: TokenScope; joinsAccounts?: true }>(
    { ...tokenKind, time },
    ({ tokens }, wanted, { scope, joinsAccounts = false }) =>
      createProjectToken(tokens, { ...wanted, scope, joinsAccounts }, commandLine),
  );
  creating.option(
    "--joins-accounts",
    "with --scope browser: pages may give an account that exists to a user whom the same visit has just made known",
  );
  creating.addOption(
    new Option(
      "--scope <scope>",
      "server; browser for a token in a web page: it cannot change the e-mail, account or account owner of existing users, and webhooks refuse it; or arm, which can only ask POST /arm",
    )
      .choices(tokenScopes)
      .default("server"),
  );
  return commandOf(tokenKind, creating, time);
}

/** The command for read keys, which read, and more when they are given the right to it. */
export function keyCommand(time: Time): Command {
  const creating = create<{ right: readonly (typeof rightsOfKeys)[number][] }>(
    { ...keyKind, time },
    ({ readKeys }, wanted, { right }) => createReadKey(readKeys, { ...wanted, more: right }, commandLine),
  );
  creating.addOption(
    new Option(
      "--right <right...>",
      "an additional right: erase users and accounts, manage settings and work, or assist: what assistants may write",
    )
      .choices(rightsOfKeys)
      .default([]),
  );
  return commandOf(keyKind, creating, time);
}

function commandOf(kind: Kind, creating: Command, time: Time): Command {
  return new Command(kind.word)
    .description(`Create, list and revoke ${kind.title}s`)
    .addCommand(creating)
    .addCommand(list(kind))
    .addCommand(revoke(kind, time));
}

function create<More extends object>(
  { title, time }: Kind & { readonly time: Time },
  make: (
    ledger: SharedLedger,
    wanted: { readonly organization: number; readonly name: string; readonly nowMs: number },
    options: More,
  ) => Promise<{ readonly secret: string }>,
): Command {
  return new Command("create")
    .description(`Create a ${title} and print it, this once`)
    .addOption(organizationOption)
    .option("--name <name>", "its purpose", readCredentialName, "unnamed")
    .action((options: OfOrganization & { readonly name: string } & More) =>
      withOrganization(options.organization, async ({ ledger }, { id }) => {
        const wanted = { organization: id, name: options.name, nowMs: time.nowMs() };
        const { secret } = await make(ledger, wanted, options);
        process.stdout.write(`${secret}\n`);
      }),
    );
}

function readCredentialName(name: string): string {
  if (isName(name) && name.length <= peopleLimits.nameCharacters) return name;
  throw new InvalidArgumentError(
    `Give 1 to ${peopleLimits.nameCharacters} characters and no control character.`,
  );
}

function list({ word, title, prefix, store, moreColumns }: Kind): Command {
  return new Command("list")
    .description(`List the ${title}s of an organization; their secrets are never shown`)
    .addOption(organizationOption)
    .action(({ organization: name }: OfOrganization) =>
      withOrganization(name, async ({ ledger }, organization) => {
        const credentials = await ledger[store].list(organization.id);
        printTable(
          ["ID", "NAME", word.toUpperCase(), "CREATED", "LAST USED", "REVOKED", ...Object.keys(moreColumns)],
          credentials.map((credential) => [
            String(credential.id),
            credential.name,
            `${prefix}…${credential.lastFour}`,
            instant(credential.createdAtMs),
            instant(credential.lastUsedAtMs),
            instant(credential.revokedAtMs),
            ...Object.values(moreColumns).map((cell) => cell(credential)),
          ]),
        );
      }),
    );
}

function revoke({ word, title, prefix, store }: Kind, time: Time): Command {
  const readId = (text: string): number => {
    const id = Number(text);
    if (Number.isInteger(id) && id > 0) return id;
    throw new InvalidArgumentError(`Give the number in the first column of ${word} list.`);
  };
  return new Command("revoke")
    .description(`Revoke a ${title}; a running server refuses it at once`)
    .argument("<id>", `the ${word}'s id, as ${word} list shows it`, readId)
    .action((id: number) =>
      withInstallation(async ({ ledger }) => {
        const { name, lastFour } = await ledger[store].revoke(id, commandLine, time.nowMs());
        process.stderr.write(`revoked ${printable(name)} (${prefix}…${lastFour})\n`);
      }),
    );
}
