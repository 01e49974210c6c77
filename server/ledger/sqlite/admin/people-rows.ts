/** The rows of people, and what the parts of their store share. */
import type { Database } from "bun:sqlite";
import type { Role } from "../../../../contract/roles.ts";
import type { Link, LinkKind, Person } from "../../ports/people.ts";
import { refuseEverywhere, refuseFull } from "../../rules/people-notes.ts";

interface PersonRow {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly password_hash: string;
  readonly created_at_ms: number;
  readonly email_verified: 0 | 1;
  readonly fallback_email: string | null;
}

export interface LinkRow {
  readonly id: number;
  readonly kind: LinkKind;
  readonly organization: number | null;
  readonly email: string | null;
  readonly role: Role | null;
  readonly person: number | null;
  readonly created_at_ms: number;
  readonly expires_at_ms: number | null;
  readonly invited_by_name: string | null;
}

const personColumns = "id, email, name, password_hash, created_at_ms, email_verified, fallback_email";

/** Statements about people, as functions of plain values. All are synchronous: they may stand in a transaction. */
export class PeopleRows {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  /** Whether there is anybody. */
  any(): boolean {
    return this.#statements.any.get() !== null;
  }

  find(id: number): Person | undefined {
    return personOf(this.#statements.find.get(id));
  }

  withEmail(email: string): Person | undefined {
    return personOf(this.#statements.withEmail.get(email));
  }

  insert(person: Omit<Person, "id">): Person {
    const { email, name, passwordHash, createdAtMs, isEmailVerified } = person;
    const values = [email, name, passwordHash, createdAtMs, isEmailVerified ? 1 : 0] as const;
    const inserted = personOf(this.#statements.insert.get(...values));
    if (inserted === undefined) throw new Error("SQLite returned no row for a new person.");
    return inserted;
  }

  update({ id, email, name, passwordHash, isEmailVerified, fallbackEmail }: Person): void {
    this.#statements.update.run(email, name, passwordHash, isEmailVerified ? 1 : 0, fallbackEmail, id);
  }

  /** Whether another person has the e-mail, or falls back to it. */
  isTaken(email: string, id: number): boolean {
    return this.#statements.taken.get(email, id) !== null;
  }

  role(organization: number, person: number): Role | undefined {
    return this.#statements.role.get(organization, person)?.role;
  }

  join(organization: number, person: number, role: Role, atMs: number): void {
    this.#statements.join.run(organization, person, role, atMs);
  }

  /** @throws Refusal when an organization has all the members that it may have */
  refuseFull(organization: number): void {
    refuseFull(this.#statements.members.get(organization)?.rows ?? 0);
  }

  /** @throws Refusal when a person is in as many organizations as one may be */
  refuseEverywhere(person: number): void {
    refuseEverywhere(this.organizationsOf(person).length);
  }

  /** The organizations that the person is a member of. */
  organizationsOf(person: number): readonly number[] {
    return this.#statements.organizationsOf.all(person).map(({ organization }) => organization);
  }

  endSessions(person: number): void {
    this.#statements.endSessions.run(person);
  }

  /** Deletes links: all of a kind, of a person's, or the one with an id. */
  deleteLinks(
    which: { readonly kind: LinkKind } | { readonly person: number } | { readonly id: number },
  ): void {
    if ("kind" in which) this.#statements.deleteKind.run(which.kind);
    else if ("person" in which) this.#statements.deleteOfPerson.run(which.person);
    else this.#statements.deleteLink.run(which.id);
  }
}

function prepare(db: Database) {
  return {
    any: db.prepare<{ id: number }, []>("SELECT id FROM people LIMIT 1"),
    find: db.prepare<PersonRow, [number]>(`SELECT ${personColumns} FROM people WHERE id = ?`),
    withEmail: db.prepare<PersonRow, [string]>(`SELECT ${personColumns} FROM people WHERE email = ?`),
    insert: db.prepare<PersonRow, [string, string, string, number, 0 | 1]>(
      `INSERT INTO people (email, name, password_hash, created_at_ms, email_verified) VALUES (?, ?, ?, ?, ?)
       RETURNING ${personColumns}`,
    ),
    update: db.prepare(
      `UPDATE people SET email = ?, name = ?, password_hash = ?, email_verified = ?, fallback_email = ?
       WHERE id = ?`,
    ),
    taken: db.prepare<{ id: number }, [string, number]>(
      "SELECT id FROM people WHERE (email = ?1 OR fallback_email = ?1) AND id <> ?2 LIMIT 1",
    ),
    role: db.prepare<{ role: Role }, [number, number]>(
      "SELECT role FROM memberships WHERE organization = ? AND person = ?",
    ),
    join: db.prepare(
      "INSERT INTO memberships (organization, person, role, joined_at_ms) VALUES (?, ?, ?, ?)",
    ),
    members: db.prepare<{ rows: number }, [number]>(
      "SELECT count(*) AS rows FROM memberships WHERE organization = ?",
    ),
    organizationsOf: db.prepare<{ organization: number }, [number]>(
      "SELECT organization FROM memberships WHERE person = ? ORDER BY organization",
    ),
    endSessions: db.prepare("DELETE FROM people_sessions WHERE person = ?"),
    deleteKind: db.prepare("DELETE FROM people_links WHERE kind = ?"),
    deleteOfPerson: db.prepare("DELETE FROM people_links WHERE kind = 'password' AND person = ?"),
    deleteLink: db.prepare("DELETE FROM people_links WHERE id = ?"),
  };
}

function personOf(row: PersonRow | null): Person | undefined {
  if (row === null) return undefined;
  const { id, email, name, password_hash: passwordHash, created_at_ms: createdAtMs } = row;
  const isEmailVerified = row.email_verified === 1;
  return { id, email, name, passwordHash, createdAtMs, isEmailVerified, fallbackEmail: row.fallback_email };
}

/** A link as its row has it. */
export function linkOf(row: LinkRow): Link {
  const { id, kind, organization, email, role, person } = row;
  return {
    ...{ id, kind, organization, email, role, person },
    createdAtMs: row.created_at_ms,
    expiresAtMs: row.expires_at_ms,
    invitedBy: row.invited_by_name,
  };
}
