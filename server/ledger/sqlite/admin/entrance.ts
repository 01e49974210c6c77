/** How people come in: links that are used once, and sessions. A link is deleted in the commit that uses it. */
import type { Database } from "bun:sqlite";
import { peopleLimits } from "../../../../contract/member-limits.ts";
import { personActor, serviceItself } from "../../ports/audit.ts";
import {
  type EntranceStore,
  type Link,
  type LinkKind,
  type NewPerson,
  type Person,
  type Session,
  sessionMs,
  verifiedEmail,
  withFallbackEmail,
} from "../../ports/people.ts";
import { Hourly } from "../../rules/hourly.ts";
import {
  claimedNote,
  emailLostNote,
  joinedNote,
  noAccount,
  passwordResetNote,
} from "../../rules/people-notes.ts";
import { inTransaction } from "../engine/sync-transaction.ts";
import type { SqliteAudit } from "./audit.ts";
import { isThere } from "./organizations.ts";
import { type LinkRow, linkOf, PeopleRows } from "./people-rows.ts";

interface SessionRow {
  readonly id: number;
  readonly person: number;
  readonly used_at_ms: number;
}

export class SqliteEntrance implements EntranceStore {
  readonly #db: Database;
  readonly #statements: ReturnType<typeof prepare>;
  readonly #rows: PeopleRows;
  readonly #audit: SqliteAudit;
  readonly #hourly = new Hourly();

  constructor(db: Database, audit: SqliteAudit) {
    this.#db = db;
    this.#statements = prepare(db);
    this.#rows = new PeopleRows(db);
    this.#audit = audit;
  }

  async link(kind: LinkKind, sha256: string, nowMs: number): Promise<Link | undefined> {
    return this.#link(kind, sha256, nowMs);
  }

  async claim(sha256: string, person: NewPerson, nowMs: number): Promise<Person | undefined> {
    return inTransaction(this.#db, () => {
      if (this.#rows.any() || this.#link("claim", sha256, nowMs) === undefined) return undefined;
      const owner = this.#rows.insert({ ...person, ...verifiedEmail, createdAtMs: nowMs });
      const actor = personActor(owner);
      for (const { id } of this.#statements.ownerless.all()) {
        this.#rows.join(id, owner.id, "owner", nowMs);
        this.#audit.note(id, claimedNote(owner), actor, nowMs);
      }
      this.#rows.deleteLinks({ kind: "claim" });
      return owner;
    });
  }

  async accept(
    sha256: string,
    who: { readonly id: number } | Omit<NewPerson, "email">,
    nowMs: number,
  ): Promise<Person | undefined> {
    return inTransaction(this.#db, () => {
      const { id, organization, email, role } = this.#link("invitation", sha256, nowMs) ?? {};
      if (id === undefined || !organization || !email || !role) return undefined;
      const person = "id" in who ? this.#verified(email, who.id) : this.#newPerson({ ...who, email }, nowMs);
      // Between the look at the link and this commit the e-mail may have been taken, or changed.
      if (person === undefined) return undefined;
      this.#rows.deleteLinks({ id });
      if (this.#rows.role(organization, person.id) !== undefined) return person;
      // What was so when somebody was invited need not be so any more.
      this.#rows.refuseFull(organization);
      this.#rows.refuseEverywhere(person.id);
      this.#rows.join(organization, person.id, role, nowMs);
      this.#audit.note(organization, joinedNote(person, role), personActor(person), nowMs);
      return person;
    });
  }

  async resetPassword(sha256: string, passwordHash: string, nowMs: number): Promise<Person | undefined> {
    return inTransaction(this.#db, () => {
      const link = this.#link("password", sha256, nowMs);
      const before = link?.person ? this.#rows.find(link.person) : undefined;
      if (before === undefined) return undefined;
      const after = { ...before, passwordHash };
      this.#rows.update(after);
      this.#rows.deleteLinks({ person: after.id });
      this.#rows.endSessions(after.id);
      for (const organization of this.#rows.organizationsOf(after.id)) {
        this.#audit.note(organization, passwordResetNote(after), personActor(after), nowMs);
      }
      return after;
    });
  }

  async begin(person: number, sha256: string, nowMs: number): Promise<void> {
    inTransaction(this.#db, () => {
      if (this.#rows.find(person) === undefined) throw noAccount();
      this.#statements.begin.run(person, sha256, nowMs, nowMs);
      this.#statements.trim.run(person);
    });
  }

  async session(sha256: string, nowMs: number): Promise<Session | undefined> {
    const row = this.#statements.session.get(sha256, nowMs - sessionMs);
    const person = row === null ? undefined : this.#rows.find(row.person);
    return row === null || person === undefined
      ? undefined
      : { id: row.id, person, usedAtMs: row.used_at_ms };
  }

  async used(id: number, nowMs: number): Promise<void> {
    this.#statements.used.run(nowMs, id);
  }

  async end(id: number): Promise<void> {
    this.#statements.end.run(id);
  }

  async endAll(person: number): Promise<void> {
    this.#rows.endSessions(person);
  }

  async endEverything(): Promise<void> {
    inTransaction(this.#db, () => {
      this.#db.run("DELETE FROM people_sessions");
      this.#db.run("DELETE FROM people_links");
    });
  }

  /** Deletes sessions and links that have expired; at most once an hour. */
  tidy(nowMs: number): void {
    if (!this.#hourly.isDue(nowMs)) return;
    this.#statements.expireSessions.run(nowMs - sessionMs);
    this.#statements.expireLinks.run(nowMs);
  }

  /** The person with this id, whose e-mail is verified now; undefined when it is another's. */
  #verified(email: string, id: number): Person | undefined {
    const known = this.#rows.withEmail(email);
    if (known?.id !== id) return undefined;
    const person = { ...known, ...verifiedEmail };
    this.#rows.update(person);
    return person;
  }

  /** A new person, who takes the e-mail from one who only chose it; undefined when it is another's. */
  #newPerson(person: NewPerson, nowMs: number): Person | undefined {
    const known = this.#rows.withEmail(person.email);
    if (known !== undefined) {
      const returned = withFallbackEmail(known);
      if (returned === undefined || this.#rows.isTaken(returned.email, known.id)) return undefined;
      this.#rows.update(returned);
      for (const organization of this.#rows.organizationsOf(known.id)) {
        this.#audit.note(organization, emailLostNote(known, returned), serviceItself, nowMs);
      }
    }
    return this.#rows.insert({ ...person, ...verifiedEmail, createdAtMs: nowMs });
  }

  #link(kind: LinkKind, sha256: string, nowMs: number): Link | undefined {
    const row = this.#statements.link.get(kind, sha256, nowMs);
    return row === null ? undefined : linkOf(row);
  }
}

function prepare(db: Database) {
  return {
    link: db.prepare<LinkRow, [LinkKind, string, number]>(
      `SELECT *, NULL AS invited_by_name FROM people_links
       WHERE kind = ? AND sha256 = ? AND (expires_at_ms IS NULL OR expires_at_ms > ?)`,
    ),
    ownerless: db.prepare<{ id: number }, []>(
      `SELECT id FROM organizations
       WHERE ${isThere} AND id NOT IN (SELECT organization FROM memberships WHERE role = 'owner') ORDER BY id`,
    ),
    begin: db.prepare(
      "INSERT INTO people_sessions (person, sha256, created_at_ms, used_at_ms) VALUES (?, ?, ?, ?)",
    ),
    trim: db.prepare(
      `DELETE FROM people_sessions WHERE person = ?1 AND id NOT IN (
         SELECT id FROM people_sessions WHERE person = ?1
         ORDER BY used_at_ms DESC, id DESC LIMIT ${peopleLimits.sessionsPerPerson})`,
    ),
    session: db.prepare<SessionRow, [string, number]>(
      "SELECT id, person, used_at_ms FROM people_sessions WHERE sha256 = ? AND created_at_ms > ?",
    ),
    used: db.prepare("UPDATE people_sessions SET used_at_ms = max(used_at_ms, ?) WHERE id = ?"),
    end: db.prepare("DELETE FROM people_sessions WHERE id = ?"),
    expireSessions: db.prepare("DELETE FROM people_sessions WHERE created_at_ms <= ?"),
    expireLinks: db.prepare("DELETE FROM people_links WHERE expires_at_ms <= ?"),
  };
}
