/** Team members in commands: finding them by e-mail, and making owners. */
import { limits } from "../contract/limits.ts";
import { isMailAddress } from "../contract/names.ts";
import { Refusal } from "../contract/refusal.ts";
import { commandLine } from "../server/ledger/audit.ts";
import type { SharedLedger } from "../server/ledger/ledger.ts";
import { loginEmail } from "../server/ledger/stores/logins.ts";
import type { Person } from "../server/ledger/stores/member-rows.ts";
import { invite } from "../server/members/invitations.ts";
import { remote } from "../server/process/call.ts";
import { socketPeer } from "../server/process/control.ts";
import { socketPath } from "../server/process/sockets.ts";
import type { PublicPort } from "../server/start/start-intake.ts";
import { type Installation, organizationOf } from "./installation.ts";
import { printable } from "./output.ts";
import { oneLine } from "./print.ts";

/** An e-mail in the form by which members are found. @throws Refusal when it is none */
export function readEmail(text: string): string {
  const email = loginEmail(text);
  if (isMailAddress(email) && email.length <= limits.emailCharacters) return email;
  throw new Refusal(`${JSON.stringify(text)} is not an e-mail address: give one such as ada@example.com.`);
}

/** The person with this e-mail. @throws Refusal when there is none */
export async function personWith(ledger: SharedLedger, email: string): Promise<Person> {
  const person = await ledger.members.withEmail(email);
  if (person !== undefined) return person;
  throw new Refusal(`no person has the e-mail ${email}: invite them with rekindle member invite.`);
}

/** The team member of an organization with this e-mail. @throws Refusal when there is none */
export async function memberOf(ledger: SharedLedger, of: string | undefined, email: string) {
  const { id: organization, name } = await organizationOf(ledger, of);
  const found = (await ledger.members.list(organization)).find((member) => member.email === email);
  if (found !== undefined) return { id: found.id, organization };
  throw new Refusal(
    `${name} has no member ${email}: rekindle member list --organization ${JSON.stringify(name)} shows them.`,
  );
}

/** The address under which people reach the service: the running server knows it best. */
export async function addressOf({ config, served }: Installation): Promise<string> {
  if (!served) return config.publicUrl;
  const socket = socketPath(config.dataDir, "control");
  return remote<{ http: PublicPort }>(socketPeer(socket)).http.publicAddress();
}

/** Makes a person with this verified e-mail owner of an organization at once. Any other address gets a link
 * that does. Without an address, prints a hint when people sign in here and the organization has no members.
 * @throws Refusal as `MemberStore.makeOwner` and `MemberStore.invite` do */
export async function addOwner(
  installation: Installation,
  { id, name }: { readonly id: number; readonly name: string },
  email: string | undefined,
  nowMs: number,
): Promise<void> {
  const { members: people } = installation.ledger;
  if (email === undefined) {
    if (!(await people.isClaimed()) || (await people.list(id)).length > 0) return;
    process.stderr.write(
      `${printable(name)} has no members yet: rekindle member invite EMAIL --role owner --organization ${JSON.stringify(name)} invites an owner\n`,
    );
    return;
  }
  const person = await people.withEmail(email);
  if (person?.isEmailVerified) {
    await people.makeOwner(id, person.id, commandLine, nowMs);
    process.stderr.write(
      `made ${oneLine(person.name)} (${oneLine(person.email)}, person ${person.id}) owner of ${printable(name)}\n`,
    );
    return;
  }
  const wanted = { organization: id, email, role: "owner" } as const;
  const { link } = await invite(
    installation.ledger,
    wanted,
    await addressOf(installation),
    commandLine,
    nowMs,
  );
  process.stderr.write(
    `${oneLine(email)} is not a verified e-mail here. This link makes its reader an owner of ${printable(name)}. It works once, for 7 days:\n${link}\n`,
  );
}
