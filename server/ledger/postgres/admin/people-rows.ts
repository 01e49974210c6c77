/**
 * The rows of people, and what the parts of their store share. Whoever changes who is a member of an organization holds
 * the organization's row, and whoever changes a person the person's, in this order (see locks.ts); what is counted or
 * looked for after that cannot change before the commit.
 */
import type { Role } from "../../../../contract/roles.ts";
import type { Organization } from "../../ports/organizations.ts";
import type { Member, Membership, Person } from "../../ports/people.ts";
import { refuseEverywhere, refuseFull } from "../../rules/people-notes.ts";
import type { Queries, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";
import { organizationColumns, organizationOf } from "./organizations.ts";

/** The person with this id. */
export async function findPerson(queries: Queries, id: number): Promise<Person | undefined> {
  const [row] = await queries<Person[]>`SELECT ${personColumns(queries)} FROM people WHERE id = ${id}`;
  return row && personOf(row);
}

/** The person with this id, locked: nobody else changes them, lets them in anywhere or signs them in meanwhile. */
export async function lockPerson(tx: Tx, id: number): Promise<Person | undefined> {
  const [row] = await tx<Person[]>`
    SELECT ${personColumns(tx)} FROM people WHERE id = ${id} FOR NO KEY UPDATE`;
  return row && personOf(row);
}

/** The person with this e-mail. */
export async function personWithEmail(queries: Queries, email: string): Promise<Person | undefined> {
  const [row] = await queries<Person[]>`
    SELECT ${personColumns(queries)} FROM people WHERE email = ${storable(email)}`;
  return row && personOf(row);
}

/** Makes a person. Whoever makes one with an e-mail that another transaction is taking waits for that one.
 * @returns undefined when the e-mail is taken */
export async function insertPerson(tx: Tx, person: Omit<Person, "id">): Promise<Person | undefined> {
  const { email, name, passwordHash, createdAtMs, isEmailVerified } = person;
  const [row] = await tx<Person[]>`
    INSERT INTO people (email, name, password_hash, created_at_ms, email_verified)
    VALUES (${storable(email)}, ${storable(name)}, ${passwordHash}, ${createdAtMs}, ${isEmailVerified ? 1 : 0})
    ON CONFLICT (email) DO NOTHING RETURNING ${personColumns(tx)}`;
  return row && personOf(row);
}

/** Writes what of a person can change. The constraint on e-mails may refuse it: see errors.ts. */
export async function updatePerson(tx: Tx, person: Person): Promise<void> {
  const { id, email, name, passwordHash, isEmailVerified, fallbackEmail } = person;
  await tx`
    UPDATE people SET email = ${storable(email)}, name = ${storable(name)}, password_hash = ${passwordHash},
      email_verified = ${isEmailVerified ? 1 : 0},
      fallback_email = ${fallbackEmail === null ? null : storable(fallbackEmail)}
    WHERE id = ${id}`;
}

/** Whether another person has the e-mail, or falls back to it. */
export async function isEmailTaken(tx: Tx, email: string, id: number): Promise<boolean> {
  const text = storable(email);
  const [other] = await tx`
    SELECT id FROM people WHERE (email = ${text} OR fallback_email = ${text}) AND id <> ${id} LIMIT 1`;
  return other !== undefined;
}

/** A person's place in an organization. */
export async function findMember(
  queries: Queries,
  organization: number,
  person: number,
): Promise<Member | undefined> {
  const [row] = await queries<Member[]>`
    SELECT ${memberColumns(queries)} FROM memberships JOIN people ON id = person
    WHERE organization = ${organization} AND person = ${person}`;
  return row && memberOf(row);
}

/** All members of an organization, by their names. */
export async function findMembers(queries: Queries, organization: number): Promise<readonly Member[]> {
  const rows = await queries<Member[]>`
    SELECT ${memberColumns(queries)} FROM memberships JOIN people ON id = person
    WHERE organization = ${organization} ORDER BY name, person`;
  return rows.map(memberOf);
}

/** A person's places: in all organizations, or in one. */
export async function findMemberships(
  queries: Queries,
  person: number,
  organization: number | null,
): Promise<readonly (Membership & { readonly lastSeenAtMs: number | null })[]> {
  const rows = await queries<(Organization & Pick<Member, "role" | "lastSeenAtMs">)[]>`
    SELECT ${organizationColumns(queries)}, role, last_seen_at_ms AS "lastSeenAtMs"
    FROM memberships JOIN organizations ON id = organization
    WHERE person = ${person} AND (${organization}::bigint IS NULL OR organization = ${organization})`;
  return rows.map(({ role, lastSeenAtMs, ...row }) => ({
    organization: organizationOf(row),
    role,
    lastSeenAtMs,
  }));
}

/** How many owners an organization has. */
export async function countOwners(tx: Tx, organization: number): Promise<number> {
  const [counted] = await tx<{ owners: number }[]>`
    SELECT count(*) AS owners FROM memberships WHERE organization = ${organization} AND role = 'owner'`;
  return counted?.owners ?? 0;
}

/** Makes a person a member. Both rows have to be locked. */
export async function join(
  tx: Tx,
  organization: number,
  person: number,
  role: Role,
  atMs: number,
): Promise<void> {
  await tx`
    INSERT INTO memberships (organization, person, role, joined_at_ms)
    VALUES (${organization}, ${person}, ${role}, ${atMs})`;
}

/** @throws Refusal when the organization, which has to be locked, has all the members that it may have */
export async function refuseFullOrganization(tx: Tx, organization: number): Promise<void> {
  const [counted] = await tx<{ rows: number }[]>`
    SELECT count(*) AS rows FROM memberships WHERE organization = ${organization}`;
  refuseFull(counted?.rows ?? 0);
}

/** @throws Refusal when the person, who has to be locked, is in as many organizations as one may be */
export async function refusePersonEverywhere(tx: Tx, person: number): Promise<void> {
  refuseEverywhere((await organizationsOf(tx, person)).length);
}

/** The ids of the organizations that the person is a member of. */
export async function organizationsOf(tx: Tx, person: number): Promise<readonly number[]> {
  const rows = await tx<{ organization: number }[]>`
    SELECT organization FROM memberships WHERE person = ${person} ORDER BY organization`;
  return rows.map(({ organization }) => organization);
}

/** Ends all sessions of a person, who has to be locked. */
export async function endSessions(tx: Tx, person: number): Promise<void> {
  await tx`DELETE FROM people_sessions WHERE person = ${person}`;
}

function memberColumns(queries: Queries) {
  return queries`person AS id, name, email, role, joined_at_ms AS "joinedAtMs",
    last_seen_at_ms AS "lastSeenAtMs"`;
}

function memberOf(row: Member): Member {
  return { ...row, name: restored(row.name), email: restored(row.email) };
}

function personColumns(queries: Queries) {
  return queries`id, email, name, password_hash AS "passwordHash", created_at_ms AS "createdAtMs",
    email_verified = 1 AS "isEmailVerified", fallback_email AS "fallbackEmail"`;
}

function personOf(row: Person): Person {
  const { fallbackEmail } = row;
  return {
    ...row,
    email: restored(row.email),
    name: restored(row.name),
    fallbackEmail: fallbackEmail === null ? null : restored(fallbackEmail),
  };
}
