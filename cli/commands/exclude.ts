/** `rekindle exclude add | list | remove` */

import { Command } from "commander";
import { Refusal } from "../../contract/refusal.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import type { ExclusionRule } from "../../server/ledger/stores/exclusions.ts";
import type { Time } from "../../server/process/time.ts";
import { withOrganization } from "../installation.ts";
import { readId } from "../numbers.ts";
import { printable } from "../output.ts";
import { instant, oneLine, printTable } from "../print.ts";

/** The command for rules that keep users out of figures. */
export function excludeCommand(time: Time): Command {
  return new Command("exclude")
    .description("Keep internal, test and bot users out of an organization's figures")
    .addCommand(add(time))
    .addCommand(list())
    .addCommand(remove(time));
}

interface Rules {
  readonly organization: string;
  readonly user?: string;
  readonly emailDomain?: string;
  readonly email?: string;
  readonly trait?: string;
  readonly account?: string;
}

function add(time: Time): Command {
  return new Command("add")
    .description("Exclude users; exports are not changed by it")
    .requiredOption("--organization <name>", "the organization")
    .option("--user <userId>", "this user")
    .option("--email-domain <domain>", "users with an address at this domain, such as @example.com")
    .option("--email <pattern>", "users with an address like this, * for any text")
    .option("--trait <key=value>", "users whose trait is this string, number or boolean")
    .option("--account <id>", "users of this account")
    .action((options: Rules) =>
      withOrganization(options.organization, async ({ ledger }, { id }) => {
        const rules = rulesOf(options);
        if (rules.length === 0) {
          throw new Refusal("no rule is given: use --user, --email-domain, --email, --trait or --account.");
        }
        for (const rule of rules) {
          const added = await ledger.exclusions.add(id, rule, commandLine, time.nowMs());
          process.stderr.write(`rule ${added.id}: ${printable(describe(added))}\n`);
        }
      }),
    );
}

function rulesOf({ user, emailDomain, email, trait, account }: Rules): ExclusionRule[] {
  const rules: ExclusionRule[] = [];
  const given = { user, email_domain: emailDomain, email, account };
  for (const kind of ["user", "email_domain", "email", "account"] as const) {
    const value = given[kind];
    if (value !== undefined) rules.push({ kind, key: "", value });
  }
  if (trait === undefined) return rules;
  const equals = trait.indexOf("=");
  if (equals < 1) throw new Refusal(`${trait} is not a trait with a value: give one such as plan=internal.`);
  return [...rules, { kind: "trait", key: trait.slice(0, equals), value: trait.slice(equals + 1) }];
}

function describe({ kind, key, value }: ExclusionRule): string {
  return kind === "trait" ? `trait ${key}=${value}` : `${kind} ${value}`;
}

function list(): Command {
  return new Command("list")
    .description("List the rules of an organization")
    .requiredOption("--organization <name>", "the organization")
    .action(({ organization: name }: { organization: string }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        const rules = await ledger.exclusions.list(id);
        printTable(
          ["ID", "CREATED", "KIND", "KEY", "VALUE"],
          rules.map((rule) => [
            String(rule.id),
            instant(rule.createdAtMs),
            rule.kind,
            oneLine(rule.key || "-"),
            oneLine(rule.value),
          ]),
        );
      }),
    );
}

function remove(time: Time): Command {
  return new Command("remove")
    .description("Remove a rule; its users count again")
    .argument("<id>", "the rule's id, as exclude list shows it", readId)
    .requiredOption("--organization <name>", "the organization")
    .action((rule: number, { organization: name }: { organization: string }) =>
      withOrganization(name, async ({ ledger }, { id }) => {
        await ledger.exclusions.remove(id, rule, commandLine, time.nowMs());
        process.stderr.write(`removed rule ${rule}\n`);
      }),
    );
}
