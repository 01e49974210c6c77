import { peopleLimits } from "../../../contract/member-limits.ts";
import { Refusal } from "../../../contract/refusal.ts";
import type { Role } from "../../../contract/roles.ts";
import type { Actor, AuditNote } from "../audit.ts";

import type { AuditLog } from "../audit-log.ts";
import { forNoKeyUpdate } from "../dialect.ts";
import {
  count,
  exists,
  flag,
  integer,
  nullable,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
  word,
} from "../sql.ts";
import type { Organization } from "./organization-rows.ts";

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

/** @param members the number of an organization's members
 * @throws Refusal when the limit is reached */
function refuseFull(members: number): void {
  const { membersPerOrganization: most } = peopleLimits;
  if (members < most) return;
  throw new Refusal(`There are ${most} members, which is all that there may be: remove one first.`);
}

/** @param organizations the number of a person's organizations
 * @throws Refusal when the limit is reached */
function refuseEverywhere(organizations: number): void {
  const { organizationsPerPerson: most } = peopleLimits;
  if (organizations < most) return;
  throw new Refusal(`One person may be a member of ${most} organizations: leave one first.`);
}

const personRow = new RowOf<Person>({
  id: integer(),
  email: text(),
  name: text(),
  passwordHash: text(),
  createdAtMs: integer(),
  isEmailVerified: flag("email_verified"),
  fallbackEmail: nullable(text()),
});
const memberRow = new RowOf<Member>({
  id: integer("person"),
  name: text(),
  email: text(),
  role: word(),
  joinedAtMs: integer(),
  lastSeenAtMs: nullable(integer()),
});
const organizationOfMember = new RowOf<{ readonly organization: number }>({ organization: integer() });

/** The person with this id. */
export function* findPerson(id: number): Work<Person | undefined> {
  const [person] = yield* select(personRow)`FROM people WHERE id = ${id}`;
  return person;
}

/** The person with this id, locked. No other transaction changes them, makes them a member or signs them in
 * meanwhile. */
export function* lockPerson(id: number): Work<Person | undefined> {
  const [person] = yield* select(personRow)`FROM people WHERE id = ${id} ${forNoKeyUpdate}`;
  return person;
}

/** The person with this e-mail. */
export function* personWithEmail(email: string): Work<Person | undefined> {
  const [person] = yield* select(personRow)`FROM people WHERE email = ${email}`;
  return person;
}

/** Adds a person. It waits for any other transaction that is taking the same e-mail.
 * @returns undefined when the e-mail is taken */
export function* insertPerson(added: Omit<Person, "id">): Work<Person | undefined> {
  const { email, name, passwordHash, createdAtMs, isEmailVerified } = added;
  const [person] = yield* returning(personRow)`
    INSERT INTO people (email, name, password_hash, created_at_ms, email_verified)
    VALUES (${email}, ${name}, ${passwordHash}, ${createdAtMs}, ${isEmailVerified ? 1 : 0})
    ON CONFLICT (email) DO NOTHING`;
  return person;
}

/** Writes the fields of a person that can change. The e-mail's unique index may reject it: see `isTaken`. */
export function updatePerson({ id, email, name, passwordHash, isEmailVerified, fallbackEmail }: Person) {
  return run`
    UPDATE people SET email = ${email}, name = ${name}, password_hash = ${passwordHash},
      email_verified = ${isEmailVerified ? 1 : 0}, fallback_email = ${fallbackEmail}
    WHERE id = ${id}`;
}

/** Whether another person has the e-mail, or has it as the fallback. */
export function isEmailTaken(email: string, id: number) {
  return exists`FROM people WHERE (email = ${email} OR fallback_email = ${email}) AND id <> ${id}`;
}

/** A person as a member of an organization. */
export function* findMember(organization: number, person: number): Work<Member | undefined> {
  const [member] = yield* select(memberRow)`
    FROM memberships JOIN people ON id = person WHERE organization = ${organization} AND person = ${person}`;
  return member;
}

/** All members of an organization, sorted by their names. */
export function findMembers(organization: number) {
  return select(memberRow)`
    FROM memberships JOIN people ON id = person WHERE organization = ${organization} ORDER BY name, person`;
}

/** Makes a person a member. Both rows have to be locked. */
export function join(organization: number, person: number, role: Role, atMs: number) {
  return run`
    INSERT INTO memberships (organization, person, role, joined_at_ms)
    VALUES (${organization}, ${person}, ${role}, ${atMs})`;
}

/** The organization has to be locked. @throws Refusal when it has the most members that it may have */
export function* refuseFullOrganization(organization: number): Work<void> {
  refuseFull(yield* count`FROM memberships WHERE organization = ${organization}`);
}

/** The person has to be locked. @throws Refusal when they are in the most organizations that a person may be
 * in */
export function* refusePersonEverywhere(person: number): Work<void> {
  refuseEverywhere((yield* organizationsOf(person)).length);
}

/** The ids of the organizations that the person is a member of. */
function* organizationsOf(person: number): Work<readonly number[]> {
  const rows = yield* select(organizationOfMember)`
    FROM memberships WHERE person = ${person} ORDER BY organization`;
  return rows.map(({ organization }) => organization);
}

/** Adds an entry to the log of every organization that the person is a member of. */
export function* noteEverywhere(
  audit: AuditLog,
  person: number,
  note: AuditNote,
  by: Actor,
  nowMs: number,
): Work<void> {
  for (const organization of yield* organizationsOf(person)) {
    yield* audit.note(organization, note, by, nowMs);
  }
}
