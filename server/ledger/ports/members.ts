/**
 * Team members: people, their memberships of organizations, their sessions, and the links by which they sign
 * up or set a password. Secrets (session ids, codes in links) are 256 random bits, and only their SHA-256 is
 * kept.
 */
import { createHash, randomBytes } from "node:crypto";
import { peopleLimits } from "../../../contract/member-limits.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor } from "./audit.ts";
import type { Organization } from "./organizations.ts";

/** The life of a session from its begin. Use does not extend it. */
export const sessionMs = peopleLimits.sessionDays * 86_400_000;
/** A member's last visit is written down at most this often. */
export const seenEveryMs = 3_600_000;
/** Every start of an unclaimed service prints a link. This many of the newest links are valid. */
export const maxClaimLinks = 10;

export interface Person {
  readonly id: number;
  /** In its normal form: see `loginEmail`. */
  readonly email: string;
  readonly name: string;
  /** argon2id, with its parameters and salt. */
  readonly passwordHash: string;
  readonly createdAtMs: number;
  /** Whether the e-mail came from a claim link, an invitation or the command line. False if the person
   * changed it, and for people of 0.1.0. */
  readonly isEmailVerified: boolean;
  /** The e-mail before the person changed it. The person gets it back when another person verifies the
   * present one. */
  readonly fallbackEmail: string | null;
}

/** The fields of a person whose e-mail a link has verified. */
export const verifiedEmail = { isEmailVerified: true, fallbackEmail: null } as const;

/** The person with the e-mail that they chose themselves. */
export function withChosenEmail(person: Person, email: string): Person {
  if (email === person.email) return person;
  const fallback = person.fallbackEmail ?? person.email;
  return { ...person, email, isEmailVerified: false, fallbackEmail: fallback === email ? null : fallback };
}

/** The person with the e-mail from before the present one, which belongs to another person. Undefined if
 * there is no earlier one. Then they keep the present one. */
export function withFallbackEmail(person: Person): Person | undefined {
  const { fallbackEmail: email } = person;
  return email === null ? undefined : { ...person, email, fallbackEmail: null, isEmailVerified: false };
}

export type NewPerson = Pick<Person, "email" | "name" | "passwordHash">;

/** A person's membership of an organization. */
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
  /** With a precision of an hour. */
  readonly lastSeenAtMs: number | null;
}

export interface Session {
  readonly id: number;
  readonly person: Person;
  /** The last recorded use. */
  readonly usedAtMs: number;
}

/** `claim` creates the first person, `invitation` a member, and `password` sets a new password. */
export type LinkKind = "claim" | "invitation" | "password";

/** A link that can still be used, once. */
export interface Link {
  readonly id: number;
  readonly kind: LinkKind;
  /** Only of an invitation. */
  readonly organization: number | null;
  readonly email: string | null;
  readonly role: Role | null;
  /** The person who gets a new password. */
  readonly person: number | null;
  readonly createdAtMs: number;
  /** Null: it is valid until it is used. */
  readonly expiresAtMs: number | null;
  /** Null for the command line. */
  readonly invitedBy: string | null;
}

/** An organization that a person creates. */
export interface NewOrganization {
  readonly name: string;
  readonly timezone: string;
  /** Default: the initial limit of organizations. */
  readonly requestsPerSecond?: number;
}

/** The calls that the command line may use, too. */
export interface MemberStore {
  /** Whether there is any person. */
  isClaimed(): Promise<boolean>;
  find(id: number): Promise<Person | undefined>;
  withEmail(email: string): Promise<Person | undefined>;
  /** Changes the given fields. The person's other organizations get an entry in their audit logs. It does not
   * verify an e-mail. @param verifiedHash of the password that was sent with the change
   * @throws Refusal when another person has the e-mail, or the password was changed meanwhile */
  change(
    id: number,
    change: Partial<NewPerson>,
    by: Actor,
    nowMs: number,
    verifiedHash?: string,
  ): Promise<Person>;
  /** In the order of the organizations' names. */
  membershipsOf(person: number): Promise<readonly Membership[]>;
  /** The person's membership of this organization, and records the visit. Undefined if there is none. */
  membership(person: number, organization: number, nowMs: number): Promise<Membership | undefined>;
  /** A new organization with the person as its owner. @throws Refusal when its name is taken. */
  createOrganization(organization: NewOrganization, by: Actor, nowMs: number): Promise<Organization>;

  list(organization: number): Promise<readonly Member[]>;
  /** Makes a person an owner at once, with or without an earlier membership.
   * @throws Refusal when there are too many members, or the person is in too many organizations */
  makeOwner(organization: number, person: number, by: Actor, nowMs: number): Promise<void>;
  /** @returns undefined when the person is no member. @throws Refusal when there would be no owner any
   * more. */
  setRole(
    organization: number,
    person: number,
    role: Role,
    by: Actor,
    nowMs: number,
  ): Promise<Member | undefined>;
  /** Removes a member, and revokes the read keys that the member made, or moves them to an owner.
   * @param keysTo the owner's id
   * @returns undefined when the person is no member.
   * @throws Refusal when there would be no owner any more, or `keysTo` is none of the other owners. */
  remove(
    organization: number,
    person: number,
    by: Actor,
    nowMs: number,
    keysTo?: number | null,
  ): Promise<Member | undefined>;

  /** The organization's invitations that can still be accepted. */
  invitations(organization: number, nowMs: number): Promise<readonly Link[]>;
  /** Creates an invitation. It replaces an earlier one to the same e-mail. @returns its id.
   * @throws Refusal when the e-mail is a member's, or there are too many invitations or members.
   * @throws ApiError when the person has made too many within a day */
  invite(
    invitation: { organization: number; email: string; role: Role; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<number>;
  /** The invitations to this e-mail within a day, of all organizations, also those that are revoked. */
  invitationsOfDay(email: string, nowMs: number): Promise<number>;
  /** @returns false when the organization has no such invitation. */
  revokeInvitation(organization: number, invitation: number, by: Actor, nowMs: number): Promise<boolean>;
  /** Creates a link with which the person sets a new password. It replaces an earlier link. */
  addPasswordLink(
    link: { person: number; sha256: string; expiresAtMs: number },
    by: Actor,
    nowMs: number,
  ): Promise<void>;
  /** Creates a link with which the first person signs up. The newest `maxClaimLinks` are valid. */
  addClaimLink(sha256: string, nowMs: number): Promise<void>;
}

/** The calls of the process that serves team members. */
export interface LoginStore {
  /** The valid link with this hash. */
  link(kind: LinkKind, sha256: string, nowMs: number): Promise<Link | undefined>;
  /** Creates the first person, as the owner of every organization without one, and uses up the link.
   * @returns undefined when the link is not valid any more, or there already is a person. */
  claim(sha256: string, person: NewPerson, nowMs: number): Promise<Person | undefined>;
  /** Makes a known or a new person a member. Uses up the link. The link verifies the e-mail. A new person
   * gets it even if another person has chosen it without a proof: see `withFallbackEmail`.
   * @returns undefined when the link is not valid any more, or the person became known or unknown meanwhile.
   * @throws Refusal when there are too many members, or the person is in too many organizations. Then the
   * link stays */
  accept(
    sha256: string,
    person: { readonly id: number } | Omit<NewPerson, "email">,
    nowMs: number,
  ): Promise<Person | undefined>;
  /** Sets a new password, ends all of the person's sessions, and uses up the link.
   * @returns undefined when the link is not valid any more. */
  resetPassword(sha256: string, passwordHash: string, nowMs: number): Promise<Person | undefined>;

  begin(person: number, sha256: string, nowMs: number): Promise<void>;
  /** The valid session with this hash. */
  session(sha256: string, nowMs: number): Promise<Session | undefined>;
  /** Records a use of the session. If the person has too many sessions, the least recently used ones end. */
  used(id: number, nowMs: number): Promise<void>;
  end(id: number): Promise<void>;
  endAll(person: number): Promise<void>;
  /** Ends the sessions of all people, and revokes all links. */
  endEverything(): Promise<void>;
}

/** An e-mail in the normal form by which people are found: without spaces around, in small letters. */
export function loginEmail(email: string): string {
  return email.trim().normalize("NFC").toLowerCase();
}

/** A code for a link or a session: 256 random bits. The ledger keeps only the hash. */
export function newCode(): { readonly code: string; readonly sha256: string } {
  const code = randomBytes(32).toString("base64url");
  return { code, sha256: hashCode(code) };
}

/** The hash by which a code is stored and found: SHA-256, in hexadecimal digits. */
export function hashCode(code: string): string {
  return createHash("sha256").update(code).digest("hex");
}
