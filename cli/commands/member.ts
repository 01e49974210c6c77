/** `rekindle member invite | reset-link | remove`; `list` and `change` are those of the API. */

import { Command, Option } from "commander";
import { type Role, roles } from "../../contract/roles.ts";
import type { Config } from "../../server/config.ts";
import { commandLine } from "../../server/ledger/audit.ts";
import { invite as makeInvitation, passwordLink } from "../../server/members/invitations.ts";
import type { Time } from "../../server/process/time.ts";
import { invitationMail, passwordMail } from "../../server/sending/link-mails.ts";
import { failureOfMail, type Mail, sendMail } from "../../server/sending/mail.ts";
import {
  type OfOrganization,
  organizationOption,
  withInstallation,
  withOrganization,
} from "../installation.ts";
import { addressOf, memberOf, personWith, readEmail } from "../people.ts";
import { oneLine } from "../print.ts";

/** The command for team members, who sign in to the dashboard. */
export function memberCommand(time: Time): Command {
  return new Command("member")
    .description("List, invite and remove an organization's members, and reset passwords")
    .addCommand(invite(time))
    .addCommand(resetLink(time))
    .addCommand(remove(time));
}

function invite(time: Time): Command {
  return new Command("invite")
    .description("Invite a person and print the link, this once; it works for 7 days")
    .argument("<email>", "the person's e-mail", readEmail)
    .addOption(organizationOption)
    .addOption(
      new Option("--role <role>", "owner does everything; member reads and manages; viewer reads")
        .choices(roles)
        .default("member"),
    )
    .action((email: string, { organization, role }: OfOrganization & { role: Role }) =>
      withOrganization(organization, async (installation, { id, name }) => {
        const { ledger, config } = installation;
        const wanted = { organization: id, email, role };
        const address = await addressOf(installation);
        const { link } = await makeInvitation(ledger, wanted, address, commandLine, time.nowMs());
        process.stdout.write(`${link}\n`);
        await sendLink(config, invitationMail({ email, role, link }, name));
      }),
    );
}

function resetLink(time: Time): Command {
  return new Command("reset-link")
    .description("Print a link for setting a new password, this once; it works for 24 hours")
    .argument("<email>", "the member's e-mail", readEmail)
    .option("--organization <name>", "only if it is a member of this one")
    .action((email: string, { organization: name }: OfOrganization) =>
      withInstallation(async (installation) => {
        const { ledger, config } = installation;
        const person =
          name === undefined
            ? (await personWith(ledger, email)).id
            : (await memberOf(ledger, name, email)).id;
        const address = await addressOf(installation);
        const link = await passwordLink(ledger, person, address, commandLine, time.nowMs());
        process.stdout.write(`${link}\n`);
        await sendLink(config, passwordMail(email, link));
      }),
    );
}

/** Sends a link by e-mail, too, if the installation sends e-mail, and says whether that worked. */
async function sendLink({ mail: mailConfig }: Config, mail: Mail): Promise<void> {
  if (mailConfig === null) return;
  const failure = failureOfMail(await sendMail(mailConfig, mail));
  process.stderr.write(
    failure === null
      ? `sent to ${oneLine(mail.to)} by e-mail\n`
      : `not sent to ${oneLine(mail.to)} by e-mail: ${oneLine(failure)}\n`,
  );
}

interface RemoveOptions extends OfOrganization {
  readonly keepKeysFor?: string;
}

function remove(time: Time): Command {
  return new Command("remove")
    .description("Remove a member and revoke their read keys; never the last owner")
    .argument("<email>", "the person's e-mail", readEmail)
    .addOption(organizationOption)
    .option("--keep-keys-for <email>", "an owner who takes over the member's read keys", readEmail)
    .action((email: string, { organization: name, keepKeysFor }: RemoveOptions) =>
      withInstallation(async ({ ledger }) => {
        const { id, organization } = await memberOf(ledger, name, email);
        const keysTo = keepKeysFor === undefined ? null : (await memberOf(ledger, name, keepKeysFor)).id;
        await ledger.members.remove(organization, id, commandLine, time.nowMs(), keysTo);
        process.stderr.write(`removed ${email}\n`);
      }),
    );
}
