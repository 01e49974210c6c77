/**
 * People who sign in: who they are, of which organizations they are members, their sessions, and the links by which
 * they come in. Of the secrets (session ids, codes in links) only SHA-256 is kept: they are 256 random bits.
 */
import { createHash, randomBytes } from "node:crypto";
import { peopleLimits } from "../../../contract/member-limits.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor } from "./audit.ts";
import type { Organization } from "./organizations.ts";

/** A session ends so long after it began, however often it is used. */
export const sessionMs = peopleLimits.sessionDays * 86_400_000;
/** Seeing somebody is written down this often. */
export const seenEveryMs = 3_600_000;
/** Every start of a service that nobody has claimed prints a link; so many of them are valid. */
export const maxClaimLinks = 10;

export interface Person {
  readonly id: number;
  /** In its one form: see `loginEmail`. */
  readonly email: string;
  readonly name: string;
  /** argon2id, with its parameters and salt. */
  readonly passwordHash: string;
  readonly createdAtMs: number;
  /** Whether the e-mail came by a claim link, an invitation or the command line; false when the person changed it, and for
   * people of 0.1.0. */
  readonly isEmailVerified: boolean;
  /** The e-mail before the person changed it: theirs again when another person proves to have the present one. */
  readonly fallbackEmail: string | null;
}

/** What a link to an e-mail proves. */
export const verifiedEmail = { isEmailVerified: true, fallbackEmail: null } as const;

/** The person with the e-mail that they chose themselves. */
export function withChosenEmail(person: Person, email: string): Person {
  if (email === person.email) return person;
  const fallback = person.fallbackEmail ?? person.email;
  return { ...person, email, isEmailVerified: false, fallbackEmail: fallback === email ? null : fallback };
}

/** The person with the e-mail that they had before they chose one that is another person's; undefined when they have none,
 * so that they keep it. */
export function withFallbackEmail(person: Person): Person | undefined {
  const { fallbackEmail: email } = person;
  return email === null ? undefined : { ...person, email, fallbackEmail: null, isEmailVerified: false };
}

export type NewPerson = Pick<Person, "email" | "name" | "passwordHash">;

/** A person's place in an organization. */
export interface Membership {
  readonly organization: Organization;
  readonly role: Role;
}

/** An organization's member. */
export interface Member {
  /** The person's id. */
  readonly id: number;
  readonly name: string;
  readonly email: string;
  readonly role: Role;
  readonly joinedAtMs: number;
  /** To the hour. */
  readonly lastSeenAtMs: number | null;
}

export interface Session {
  readonly id: number;
  readonly person: Person;
  /** The last use that was written down. */
  readonly usedAtMs: number;
}

/** `claim` makes the first person; `invitation` a member; `password` sets a new password. */
export type LinkKind = "claim" | "invitation" | "password";

/** A link that can still be used, once. */
export interface Link {
  readonly id: number;
  readonly kind: LinkKind;
  /** Of an invitation. */
  readonly organization: number | null;
  readonly email: string | null;
  readonly role: Role | null;
  /** Whose password is to be set. */
  readonly person: number | null;
  readonly createdAtMs: number;
  /** Null while it is valid until it is used. */
  readonly expiresAtMs: number | null;
  /** Null for the command line. */
  readonly invitedBy: string | null;
}

/** An organization that a person founds. */
export interface NewOrganization {
  readonly name: string;
  readonly timezone: string;
  /** Else what organizations start with. */
  readonly requestsPerSecond?: number;
}

/** What may be asked by the command line too. */
export interface MemberStore {
  /** Whether anybody has an account. */
  isClaimed(): Promise<boolean>;
  find(id: number): Promise<Person | undefined>;
  withEmail(email: string): Promise<Person | undefined>;
  /** Changes what is given; other organizations hear of it in their audit logs. An e-mail is not verified by it.
   * @param verifiedHash of the password that was sent with the change
   * @throws Refusal when another person has the e-mail, or the password is another one by now */
  change(
    id: number,
    change: Partial<NewPerson>,
    by: Actor,
    nowMs: number,
    verifiedHash?: string,
  ): Promise<Person>;
  /** By the organizations' names. */
  membershipsOf(person: number): Promise<readonly Membership[]>;
  /** The person's place in this organization, noted as seen; undefined when there is none. */
  membership(person: number, organization: number, nowMs: number): Promise<Membership | undefined>;
  /** A new organization with the person as its owner. @throws Refusal when its name is taken. */
  createOrganization(organization: NewOrganization, by: Actor, nowMs: number): Promise<Organization>;

  list(organization: number): Promise<readonly Member[]>;
  /** Makes somebody who has an account an owner at once, a member or not.
   * @throws Refusal when there are too many members, or the person is in too many organizations */
  makeOwner(organization: number, person: number, by: Actor, nowMs: number): Promise<void>;
  /** @returns undefined when the person is no member. @throws Refusal when nobody would be owner any more. */
  setRole(
    organization: number,
    person: number,
    role: Role,
    by: Actor,
    nowMs: number,
  ): Promise<Member | undefined>;
  /** Removes a member, and revokes the read keys that the member made, or makes them those of an owner.
   * @param keysTo the owner's id
   * @returns undefined when the person is no member.
   * @throws Refusal when nobody would be owner any more, or `keysTo` is none of the other owners. */
  remove(
    organization: number,
    person: number,
    by: Actor,
    nowMs: number,
    keysTo?: number | null,
  ): Promise<Member | undefined>;

  /** The organization's invitations that can still be accepted. */
  invitations(organization: number, nowMs: number): Promise<readonly Link[]>;
  /** An invitation in place of the one before to the same e-mail. @returns its id.
   * @throws Refusal when the e-mail is a member's, or there are too many invitations or members. */
  invite(
    invitation: { organization: number; email: string; role: Role; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<number>;
  /** @returns false when the organization has no such invitation. */
  revokeInvitation(organization: number, invitation: number, by: Actor, nowMs: number): Promise<boolean>;
  /** A link with which the person sets a new password, in place of the one before. */
  addPasswordLink(
    link: { person: number; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<void>;
  /** A link with which the first person makes an account; the last few of them are valid. */
  addClaimLink(sha256: string, nowMs: number): Promise<void>;
}

/** What only the process that serves people does. */
export interface LoginStore {
  /** The living link with this hash. */
  link(kind: LinkKind, sha256: string, nowMs: number): Promise<Link | undefined>;
  /** Makes the first person, owner of every organization without one, and uses up the link.
   * @returns undefined when the link is not valid any more, or anybody has an account. */
  claim(sha256: string, person: NewPerson, nowMs: number): Promise<Person | undefined>;
  /** Makes a member: of a known person, or of a new one. Uses up the link.
   * The link verifies the e-mail. A new person takes it from one who only chose it: see `withFallbackEmail`.
   * @returns undefined when the link is not valid any more, or the person is known meanwhile, or not any more.
   * @throws Refusal when there are too many members, or the person is in too many organizations; the link stays */
  accept(
    sha256: string,
    person: { readonly id: number } | Omit<NewPerson, "email">,
    nowMs: number,
  ): Promise<Person | undefined>;
  /** Sets a new password, ends all of the person's sessions, and uses up the link.
   * @returns undefined when the link is not valid any more. */
  resetPassword(sha256: string, passwordHash: string, nowMs: number): Promise<Person | undefined>;

  begin(person: number, sha256: string, nowMs: number): Promise<void>;
  /** The living session with this hash. */
  session(sha256: string, nowMs: number): Promise<Session | undefined>;
  /** Writes down that the session is used: of too many sessions of a person, those end that were used longest ago. */
  used(id: number, nowMs: number): Promise<void>;
  end(id: number): Promise<void>;
  endAll(person: number): Promise<void>;
  /** Ends all sessions of everybody, and takes back all links. */
  endEverything(): Promise<void>;
}

/** An e-mail in the one form by which people are found: without spaces around, in small letters. */
export function loginEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}

/** A code for a link or a session: 256 random bits, of which the ledger keeps the hash. */
export function newCode(): { readonly code: string; readonly sha256: string } {
  const code = randomBytes(32).toString("base64url");
  return { code, sha256: hashCode(code) };
}

/** How a code is stored and found: SHA-256, in hexadecimal digits. */
export function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
