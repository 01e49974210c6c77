/** The rows of links that are used once: invitations, links that set a password, and links for the first
 * person. */
import type { Role } from "../../../contract/roles.ts";
import { forUpdate } from "../dialect.ts";
import { integer, nullable, part, RowOf, returningOne, run, select, text, type Work, word } from "../sql.ts";

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

interface Invitation {
  readonly organization: number;
  readonly email: string;
  readonly role: Role;
  readonly sha256: string;
  readonly expiresAtMs: number;
}

const columns = {
  id: integer("invite_links.id"),
  kind: word<LinkKind>(),
  organization: nullable(integer()),
  email: nullable(text("invite_links.email")),
  role: nullable(word<Role>()),
  person: nullable(integer()),
  createdAtMs: integer("invite_links.created_at_ms"),
  expiresAtMs: nullable(integer()),
};
const link = new RowOf<Link>({ ...columns, invitedBy: nullable(text("NULL")) });
const invitation = new RowOf<Link>({ ...columns, invitedBy: nullable(text("people.name")) });
const linkId = new RowOf<Pick<Link, "id">>({ id: integer() });

/** The link with this hash that can still be used. */
export function* findLink(kind: LinkKind, sha256: string, nowMs: number): Work<Link | undefined> {
  const [found] = yield* select(link)`FROM invite_links WHERE ${withHash(kind, sha256, nowMs)}`;
  return found;
}

/** The link with this hash that can still be used, locked until the commit. A transaction that waited for
 * another one that used the link finds none. */
export function* lockLink(kind: LinkKind, sha256: string, nowMs: number): Work<Link | undefined> {
  const [found] = yield* select(link)`FROM invite_links WHERE ${withHash(kind, sha256, nowMs)} ${forUpdate}`;
  return found;
}

/** An organization's invitations that can still be accepted. */
export function findInvitations(organization: number, nowMs: number) {
  return select(invitation)`
    FROM invite_links LEFT JOIN people ON people.id = invited_by
    WHERE kind = 'invitation' AND organization = ${organization} AND expires_at_ms > ${nowMs}
    ORDER BY invite_links.id`;
}

/** Adds an invitation. It replaces an earlier one to the same e-mail. The organization has to be locked.
 * @returns its id */
export function* replaceInvitation(
  { organization, email, role, sha256, expiresAtMs }: Invitation,
  invitedBy: number | null,
  nowMs: number,
): Work<number> {
  yield* run`
    DELETE FROM invite_links WHERE kind = 'invitation' AND organization = ${organization} AND email = ${email}`;
  const { id } = yield* returningOne(linkId)`
    INSERT INTO invite_links (kind, organization, email, role, sha256, invited_by, created_at_ms, expires_at_ms)
    VALUES ('invitation', ${organization}, ${email}, ${role}, ${sha256}, ${invitedBy}, ${nowMs}, ${expiresAtMs})`;
  return id;
}

/** Deletes a person's invitations to an organization. */
export function deleteInvitationsBy(organization: number, person: number) {
  return run`
    DELETE FROM invite_links WHERE kind = 'invitation' AND organization = ${organization} AND invited_by = ${person}`;
}

/** Deletes the links with which a person could set a password. The person has to be locked. */
export function deletePasswordLinks(person: number) {
  return run`DELETE FROM invite_links WHERE kind = 'password' AND person = ${person}`;
}

function withHash(kind: LinkKind, sha256: string, nowMs: number) {
  return part`kind = ${kind} AND sha256 = ${sha256} AND (expires_at_ms IS NULL OR expires_at_ms > ${nowMs})`;
}
