/** Entries of the audit log and errors for changes of people. Both databases use them. */
import { counted } from "../../../contract/counted.ts";
import { peopleLimits } from "../../../contract/member-limits.ts";
import { ApiError, Refusal } from "../../../contract/refusal.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor, AuditNote } from "../audit.ts";
import type { Member, Person } from "../stores/member-rows.ts";
import type { Organization } from "../stores/organization-rows.ts";

/** The entry of an organization that a person created. */
export function organizationCreatedNote({ name, timezone }: Organization): AuditNote {
  return {
    action: "organization.created",
    summary: `Created the organization ${name}`,
    detail: { name, timezone },
  };
}

/** The entry in each organization that had no owner before. */
export function claimedNote({ id, name }: Person): AuditNote {
  return {
    action: "installation.claimed",
    summary: `${name} claimed the installation and is owner`,
    detail: { person: id, to: "owner" },
  };
}

/** The entry of a person who accepted an invitation. */
export function joinedNote({ id, name }: Person, role: Role): AuditNote {
  return {
    action: "member.joined",
    summary: `${name} joined as ${role}`,
    detail: { person: id, name, from: null, to: role },
  };
}

/** The entry of a person who became an owner without an earlier membership. */
export function madeOwnerNote({ id, name }: Person): AuditNote {
  return {
    action: "member.joined",
    summary: `${name} was made owner`,
    detail: { person: id, name, from: null, to: "owner" },
  };
}

/** The entry of a member whose role was changed. */
export function roleChangedNote(before: Member, role: Role): AuditNote {
  return {
    action: "member.role_changed",
    summary: `${before.name} is ${role} now, and was ${before.role}`,
    detail: { person: before.id, name: before.name, from: before.role, to: role },
  };
}

/** The work of a removed member: read keys, tasks that were not done, and open alerts. */
export interface Left {
  readonly ids: readonly number[];
  /** The owner who took the keys over. Null if they were revoked. */
  readonly to: number | null;
  /** How many tasks, alerts … have no assignee now, by their name. */
  readonly freed: Readonly<Record<string, number>>;
}

/** The entry of a member who left, or was removed. */
export function removedNote({ id, name, role }: Member, { ids, to, freed }: Left, by: Actor): AuditNote {
  const keys = counted(ids.length, "read key");
  const became = to === null ? `, and revoked ${keys}` : `, and kept ${keys} for person ${to}`;
  const some = Object.entries(freed).filter(([, rows]) => rows > 0);
  const work = some.map(([what, rows]) => counted(rows, what));
  const unassigned = `, and left ${work.join(" and ")} without an assignee`;
  const left = `${ids.length === 0 ? "" : became}${work.length === 0 ? "" : unassigned}`;
  return {
    action: "member.removed",
    summary: `${by.person?.id === id ? `${name} left` : `Removed ${name}`}${left}`,
    detail: {
      person: id,
      name,
      from: role,
      to: null,
      ...(ids.length > 0 && { readKeys: ids, readKeysTo: to }),
      ...Object.fromEntries(some.map(([what, rows]) => [`${what}s`, rows])),
    },
  };
}

/** The entry of an invitation that was made. */
export function invitedNote(email: string, role: Role): AuditNote {
  return { action: "invitation.created", summary: `Invited ${email} as ${role}`, detail: { email, role } };
}

/** The error when a person has made too many invitations. */
export function tooManyInvitations(): ApiError {
  return new ApiError(
    "rate_limit_exceeded",
    `Too many requests: you made ${peopleLimits.invitationsPerDay} invitations within 24 hours. Please make the next one tomorrow.`,
  );
}

/** The entry of an invitation that was revoked. */
export function invitationRevokedNote(email: string, role: Role): AuditNote {
  const summary = `Took back the invitation of ${email}`;
  return { action: "invitation.revoked", summary, detail: { email, role } };
}

/** The entry of a link that sets a password. It does not contain the link. */
export function passwordLinkNote({ id, name }: Person): AuditNote {
  return {
    action: "member.reset_link_created",
    summary: `Made a link with which ${name} sets a new password`,
    detail: { person: id, name },
  };
}

/** The entry of a password that was set by a link. */
export function passwordResetNote({ id, name }: Person): AuditNote {
  return {
    action: "member.password_reset",
    summary: `${name} set a new password by a link`,
    detail: { person: id },
  };
}

/** The entry of a changed profile. Undefined if nothing changed. It does not contain the password. */
export function profileNote(before: Person, after: Person): AuditNote | undefined {
  const changed = (["name", "email"] as const).filter((field) => before[field] !== after[field]);
  const isNewPassword = before.passwordHash !== after.passwordHash;
  if (changed.length === 0 && !isNewPassword) return undefined;
  const valuesOf = (person: Person) => Object.fromEntries(changed.map((field) => [field, person[field]]));
  const fields = [...changed, ...(isNewPassword ? ["password"] : [])];
  return {
    action: "member.profile_changed",
    summary: `${before.name} changed their own ${fields.join(" and ")}`,
    detail: { person: before.id, from: valuesOf(before), to: valuesOf(after), password: isNewPassword },
  };
}

/** The entry of a person whose e-mail another person has verified. */
export function emailLostNote({ id, name, email: from }: Person, { email: to }: Person): AuditNote {
  return {
    action: "member.profile_changed",
    summary: `The e-mail of ${name} is ${to} again: another person was invited by ${from}`,
    detail: { person: id, from: { email: from }, to: { email: to }, password: false },
  };
}

/** The error when the person who takes over read keys is none of the other owners. */
export function noOwnerForKeys(): Refusal {
  return new Refusal("Only another owner of the organization takes over read keys.");
}

/** The error when the maker of a project token or read key is no member of the organization. */
export function noMemberForSecret(): Refusal {
  return new Refusal("You are no member of this organization any more: a member has to make it.");
}

/** The error when the person does not exist any more. */
export function noAccount(): Refusal {
  return new Refusal("This account is not there any more.");
}

/** The error when another person has the e-mail. */
export function emailTaken(): Refusal {
  return new Refusal("email is taken: send another one.");
}

/** @throws Refusal when the verified password was changed meanwhile */
export function refuseOldPassword(person: Person, verifiedHash: string | undefined): void {
  if (verifiedHash === undefined || verifiedHash === person.passwordHash) return;
  throw new Refusal("currentPassword was changed meanwhile: send the new one.");
}

/** @param owners the number of an organization's owners before one of them loses the role
 * @throws Refusal when there is no other owner */
export function refuseLastOwner(owners: number): void {
  if (owners > 1) return;
  throw new Refusal("An organization needs an owner: make somebody else an owner first.");
}

/** The error when the invited person is already a member. */
export function memberAlready(email: string): Refusal {
  return new Refusal(`${email} is a member already: change the role instead.`);
}

/** @param open the number of an organization's open invitations
 * @throws Refusal when the limit is reached */
export function refuseTooManyInvitations(open: number): void {
  if (open < peopleLimits.invitationsPerOrganization) return;
  throw new Refusal(`There are ${open} open invitations already: take one back before you make another.`);
}
