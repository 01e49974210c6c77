/** Mails with the links of team members. */
import { peopleLimits } from "../../contract/member-limits.ts";
import type { Role } from "../../contract/roles.ts";
import type { Mail } from "./mail.ts";
import { plainMail } from "./message-body.ts";

/** The mail with an invitation. */
export function invitationMail(
  { email, role, link }: { readonly email: string; readonly role: Role; readonly link: string },
  organization: string,
): Mail {
  const text = `You are invited to ${organization} in Rekindle, as ${role}. This link works once, for ${peopleLimits.invitationDays} days:`;
  return plainMail(email, `Invitation to ${organization}`, text, link);
}

/** The mail with a link for a new password. */
export function passwordMail(email: string, link: string): Mail {
  const text = `Set a new password for Rekindle. This link works once, for ${peopleLimits.resetLinkHours} hours:`;
  return plainMail(email, "A new password for Rekindle", text, link);
}
