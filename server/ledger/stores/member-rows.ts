/**
 * The rows of people and memberships. A transaction that changes who is a member of an organization holds the
 * organization's row, and one that changes a person holds the person's, in this order. What it counts or finds after that
 * cannot change before its commit.
 */
import type { Role } from "../../../contract/roles.ts";
import type { Actor, AuditNote } from "../ports/audit.ts";
import type { Member, Person } from "../ports/members.ts";
import { refuseEverywhere, refuseFull } from "../rules/member-notes.ts";
import type { AuditLog } from "./engine/audit-log.ts";
import { forNoKeyUpdate } from "./engine/dialect.ts";
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
} from "./engine/sql.ts";

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

/** The person with this id, locked: no other transaction changes them, makes them a member or signs them in meanwhile. */
export function* lockPerson(id: number): Work<Person | undefined> {
  const [person] = yield* select(personRow)`FROM people WHERE id = ${id} ${forNoKeyUpdate}`;
  return person;
}

/** The person with this e-mail. */
export function* personWithEmail(email: string): Work<Person | undefined> {
  const [person] = yield* select(personRow)`FROM people WHERE email = ${email}`;
  return person;
}

/** Adds a person, after any other transaction that is taking the same e-mail.
 * @returns undefined when the e-mail is taken */
export function* insertPerson(added: Omit<Person, "id">): Work<Person | undefined> {
  const { email, name, passwordHash, createdAtMs, isEmailVerified } = added;
  const [person] = yield* returning(personRow)`
    INSERT INTO people (email, name, password_hash, created_at_ms, email_verified)
    VALUES (${email}, ${name}, ${passwordHash}, ${createdAtMs}, ${isEmailVerified ? 1 : 0})
    ON CONFLICT (email) DO NOTHING`;
  return person;
}

/** Writes what of a person can change. The e-mail's unique index may refuse it: see `isTaken`. */
export function updatePerson({ id, email, name, passwordHash, isEmailVerified, fallbackEmail }: Person) {
  return run`
    UPDATE people SET email = ${email}, name = ${name}, password_hash = ${passwordHash},
      email_verified = ${isEmailVerified ? 1 : 0}, fallback_email = ${fallbackEmail}
    WHERE id = ${id}`;
}

/** Whether another person has the e-mail, or falls back to it. */
export function isEmailTaken(email: string, id: number) {
  return exists`FROM people WHERE (email = ${email} OR fallback_email = ${email}) AND id <> ${id}`;
}

/** A person's place in an organization. */
export function* findMember(organization: number, person: number): Work<Member | undefined> {
  const [member] = yield* select(memberRow)`
    FROM memberships JOIN people ON id = person WHERE organization = ${organization} AND person = ${person}`;
  return member;
}

/** All members of an organization, by their names. */
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

/** @throws Refusal when the organization, which has to be locked, has all the members that it may have */
export function* refuseFullOrganization(organization: number): Work<void> {
  refuseFull(yield* count`FROM memberships WHERE organization = ${organization}`);
}

/** @throws Refusal when the person, who has to be locked, is in as many organizations as one may be */
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
