/** Mails to owners about destinations that failures have disabled. */
import { pages } from "../../contract/pages.ts";
import type { Ledger } from "../ledger/ledger.ts";
import type { Logger } from "../process/log.ts";
import type { DestinationWithCounts } from "./destinations.ts";
import { failureOfMail, type Mail } from "./mail.ts";
import { plainMail } from "./message-body.ts";
import type { Sent } from "./post.ts";

export interface OwnerMailParts {
  readonly ledger: Pick<Ledger, "destinations" | "members" | "organizations">;
  readonly mail: (mail: Mail) => Promise<Sent>;
  /** The address of the service for people: PUBLIC_URL. */
  readonly address: () => string;
  readonly nowMs: () => number;
  readonly log: Logger;
}

/** Sends owners mails about disabled destinations. After a failure that may end, all owners get the mail
 * again ten minutes later. */
export async function tellOwners(parts: OwnerMailParts): Promise<void> {
  const { ledger, nowMs, log } = parts;
  for (const destination of await ledger.destinations.claimUntold(nowMs())) {
    const { id } = destination;
    const failures = await failuresOfMails(parts, destination);
    if (failures.length === 0) await ledger.destinations.told(id);
    else log.warn({ destination: id, failures }, "owners are told again that a destination is disabled");
  }
}

/** Sends the mails of a destination. @returns what the mail server said when it may say something else
 * later */
async function failuresOfMails(
  { ledger, mail, address }: OwnerMailParts,
  destination: DestinationWithCounts,
): Promise<readonly string[]> {
  const organization = await ledger.organizations.find(destination.organization);
  if (organization === undefined) return [];
  const members = await ledger.members.list(organization.id);
  const failures: string[] = [];
  for (const { email } of members.filter(({ role }) => role === "owner")) {
    const sent = await mail(disabledMail(email, organization.name, destination, address()));
    // SMTP: an address that is refused by 5xx will be refused again.
    if (failureOfMail(sent) !== null && (sent.status ?? 0) < 500) failures.push(sent.said);
  }
  return failures;
}

/** The mail that a destination is disabled. @param service its address, as people reach it */
function disabledMail(
  to: string,
  organization: string,
  { organization: id, kind, name, address, stoppedBecause, held }: DestinationWithCounts,
  service: string,
): Mail {
  // The address of a webhook or a channel is a secret.
  const named = kind === "email" ? `${name} (${address})` : name;
  const waiting = held === 0 ? "" : ` ${held === 1 ? "One message waits" : `${held} messages wait`} for it.`;
  const text =
    `${organization} sends no more messages to the destination ${named}. ${stoppedBecause ?? ""}${waiting}` +
    " New messages are not kept. Repair the address, and resume the destination:";
  const link = `${service}${pages.destinationSettings.replace("$organization", String(id))}`;
  return plainMail(to, `${organization}: the destination ${name} is disabled`, text, link);
}
