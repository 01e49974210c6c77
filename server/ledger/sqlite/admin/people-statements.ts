/** The statements about members and links. */
import type { Database } from "bun:sqlite";
import type { Role } from "../../../../contract/roles.ts";
import { type Member, maxClaimLinks } from "../../ports/people.ts";
import type { LinkRow } from "./people-rows.ts";

const memberColumns = `person AS id, name, email, role, joined_at_ms AS joinedAtMs,
  last_seen_at_ms AS lastSeenAtMs`;

/** Prepares them all. */
export function peopleStatements(db: Database) {
  return {
    seen: db.prepare(
      `UPDATE memberships SET last_seen_at_ms = ?
       WHERE organization = ? AND person = ? AND coalesce(last_seen_at_ms, 0) <= ?`,
    ),
    members: db.prepare<Member, [number]>(
      `SELECT ${memberColumns} FROM memberships JOIN people ON id = person
       WHERE organization = ? ORDER BY name, person`,
    ),
    member: db.prepare<Member, [number, number]>(
      `SELECT ${memberColumns} FROM memberships JOIN people ON id = person
       WHERE organization = ? AND person = ?`,
    ),
    owners: db.prepare<{ rows: number }, [number]>(
      "SELECT count(*) AS rows FROM memberships WHERE organization = ? AND role = 'owner'",
    ),
    setRole: db.prepare("UPDATE memberships SET role = ? WHERE organization = ? AND person = ?"),
    leave: db.prepare("DELETE FROM memberships WHERE organization = ? AND person = ?"),
    revokeKeys: db.prepare<{ id: number }, [number, number, number]>(
      `UPDATE read_keys SET revoked_at_ms = ?
       WHERE organization = ? AND made_by = ? AND revoked_at_ms IS NULL RETURNING id`,
    ),
    giveKeys: db.prepare<{ id: number }, [number, number, number]>(
      `UPDATE read_keys SET made_by = ?
       WHERE organization = ? AND made_by = ? AND revoked_at_ms IS NULL RETURNING id`,
    ),
    invitations: db.prepare<LinkRow, [number, number]>(
      `SELECT people_links.*, people.name AS invited_by_name
       FROM people_links LEFT JOIN people ON people.id = invited_by
       WHERE kind = 'invitation' AND organization = ? AND expires_at_ms > ? ORDER BY people_links.id`,
    ),
    invite: db.prepare<{ id: number }, [number, string, Role, string, number | null, number, number]>(
      `INSERT INTO people_links (kind, organization, email, role, sha256, invited_by, created_at_ms, expires_at_ms)
       VALUES ('invitation', ?, ?, ?, ?, ?, ?, ?) RETURNING id`,
    ),
    uninvite: db.prepare<{ email: string; role: Role }, [number, number]>(
      `DELETE FROM people_links WHERE kind = 'invitation' AND organization = ? AND id = ?
       RETURNING email, role`,
    ),
    uninviteBy: db.prepare(
      "DELETE FROM people_links WHERE kind = 'invitation' AND organization = ? AND invited_by = ?",
    ),
    uninviteEmail: db.prepare(
      "DELETE FROM people_links WHERE kind = 'invitation' AND organization = ? AND email = ?",
    ),
    addPasswordLink: db.prepare(
      `INSERT INTO people_links (kind, sha256, person, created_at_ms, expires_at_ms)
       VALUES ('password', ?, ?, ?, ?)`,
    ),
    addClaimLink: db.prepare("INSERT INTO people_links (kind, sha256, created_at_ms) VALUES ('claim', ?, ?)"),
    trimClaimLinks: db.prepare(
      `DELETE FROM people_links WHERE kind = 'claim' AND id NOT IN (
         SELECT id FROM people_links WHERE kind = 'claim' ORDER BY id DESC LIMIT ${maxClaimLinks})`,
    ),
  };
}
