/** The rows of links: invitations, and those with which a password is set or the first person is made. */
import type { Role } from "../../../../contract/roles.ts";
import type { Link, LinkKind } from "../../ports/people.ts";
import type { Queries, Tx } from "../client/connect.ts";
import { restored, storable } from "../client/text.ts";

type Invitation = { organization: number; email: string; role: Role; sha256: string; expiresAtMs: number };

/** The living link with this hash. */
export async function findLink(
  queries: Queries,
  kind: LinkKind,
  sha256: string,
  nowMs: number,
): Promise<Link | undefined> {
  const [row] = await queries<Link[]>`
    SELECT ${linkColumns(queries)}, NULL AS "invitedBy" FROM people_links ${withHash(queries, kind, sha256, nowMs)}`;
  return row && linkOf(row);
}

/** The living link with this hash, which nobody else uses or takes back until the commit. Whoever waited for somebody
 * who has used it finds none. */
export async function lockLink(
  tx: Tx,
  kind: LinkKind,
  sha256: string,
  nowMs: number,
): Promise<Link | undefined> {
  const [row] = await tx<Link[]>`
    SELECT ${linkColumns(tx)}, NULL AS "invitedBy" FROM people_links ${withHash(tx, kind, sha256, nowMs)} FOR UPDATE`;
  return row && linkOf(row);
}

/** An organization's invitations that can still be accepted. */
export async function findInvitations(
  queries: Queries,
  organization: number,
  nowMs: number,
): Promise<readonly Link[]> {
  const rows = await queries<Link[]>`
    SELECT ${linkColumns(queries)}, people.name AS "invitedBy"
    FROM people_links LEFT JOIN people ON people.id = invited_by
    WHERE kind = 'invitation' AND organization = ${organization} AND expires_at_ms > ${nowMs}
    ORDER BY people_links.id`;
  return rows.map(linkOf);
}

/** Makes an invitation in place of the one before to the same e-mail; the organization has to be locked. @returns its id */
export async function replaceInvitation(
  tx: Tx,
  { organization, email, role, sha256, expiresAtMs }: Invitation,
  invitedBy: number | null,
  nowMs: number,
): Promise<number> {
  await tx`
    DELETE FROM people_links
    WHERE kind = 'invitation' AND organization = ${organization} AND email = ${storable(email)}`;
  const [added] = await tx<{ id: number }[]>`
    INSERT INTO people_links (kind, organization, email, role, sha256, invited_by, created_at_ms, expires_at_ms)
    VALUES ('invitation', ${organization}, ${storable(email)}, ${role}, ${sha256}, ${invitedBy}, ${nowMs}, ${expiresAtMs})
    RETURNING id`;
  if (added === undefined) throw new Error("PostgreSQL returned no row for a new invitation.");
  return added.id;
}

/** Takes back what a person invited to an organization. */
export async function deleteInvitationsBy(tx: Tx, organization: number, person: number): Promise<void> {
  await tx`
    DELETE FROM people_links
    WHERE kind = 'invitation' AND organization = ${organization} AND invited_by = ${person}`;
}

/** Deletes the links with which a person, who has to be locked, could set a password. */
export async function deletePasswordLinks(tx: Tx, person: number): Promise<void> {
  await tx`DELETE FROM people_links WHERE kind = 'password' AND person = ${person}`;
}

function withHash(queries: Queries, kind: LinkKind, sha256: string, nowMs: number) {
  return queries`
    WHERE kind = ${kind} AND sha256 = ${sha256} AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`;
}

function linkColumns(queries: Queries) {
  return queries`people_links.id, kind, organization, people_links.email, role, person,
    people_links.created_at_ms AS "createdAtMs", expires_at_ms AS "expiresAtMs"`;
}

function linkOf(row: Link): Link {
  const { email, invitedBy } = row;
  return {
    ...row,
    email: email === null ? null : restored(email),
    invitedBy: invitedBy === null ? null : restored(invitedBy),
  };
}
