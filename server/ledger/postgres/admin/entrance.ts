/**
 * How people come in: links that are used once, and sessions. A link is deleted in the commit that uses it; whoever uses
 * it on two nodes at once waits for the same row (the claim's lock, the organization, the person) and then finds no link.
 */
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
import type { Sql, Tx } from "../client/connect.ts";
import { advisoryLocks } from "../client/locks.ts";
import { inTransaction } from "../client/transaction.ts";
import type { PostgresAudit } from "./audit.ts";
import { deletePasswordLinks, findLink, lockLink } from "./link-rows.ts";
import { isThere, lockOrganization } from "./organizations.ts";
import {
  endSessions,
  findMember,
  findPerson,
  insertPerson,
  isEmailTaken,
  join,
  lockPerson,
  organizationsOf,
  personWithEmail,
  refuseFullOrganization,
  refusePersonEverywhere,
  updatePerson,
} from "./people-rows.ts";

type Joining = { readonly id: number } | Omit<NewPerson, "email">;

export class PostgresEntrance implements EntranceStore {
  readonly #sql: Sql;
  readonly #audit: PostgresAudit;
  readonly #hourly = new Hourly();

  constructor(sql: Sql, audit: PostgresAudit) {
    this.#sql = sql;
    this.#audit = audit;
  }

  link(kind: LinkKind, sha256: string, nowMs: number): Promise<Link | undefined> {
    return findLink(this.#sql, kind, sha256, nowMs);
  }

  async claim(sha256: string, person: NewPerson, nowMs: number): Promise<Person | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      await tx`SELECT pg_advisory_xact_lock(${advisoryLocks.claim}::bigint)`;
      const [anybody] = await tx`SELECT id FROM people LIMIT 1`;
      if (anybody !== undefined || (await findLink(tx, "claim", sha256, nowMs)) === undefined)
        return undefined;
      const owner = await insertPerson(tx, { ...person, ...verifiedEmail, createdAtMs: nowMs });
      if (owner === undefined) return undefined;
      const ownerless = await tx<{ id: number }[]>`
        SELECT id FROM organizations
        WHERE ${isThere(tx)} AND id NOT IN (SELECT organization FROM memberships WHERE role = 'owner')
        ORDER BY id`;
      for (const { id } of ownerless) {
        await join(tx, id, owner.id, "owner", nowMs);
        await this.#audit.note(tx, id, claimedNote(owner), personActor(owner), nowMs);
      }
      await tx`DELETE FROM people_links WHERE kind = 'claim'`;
      return owner;
    });
  }

  async accept(sha256: string, who: Joining, nowMs: number): Promise<Person | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      const { organization } = (await findLink(tx, "invitation", sha256, nowMs)) ?? {};
      if (!organization || !(await lockOrganization(tx, organization))) return undefined;
      // Looked for again: whoever held the organization may have used it.
      const { id, email, role } = (await lockLink(tx, "invitation", sha256, nowMs)) ?? {};
      if (id === undefined || !email || !role) return undefined;
      const person = await this.#joining(tx, email, who, nowMs);
      if (person === undefined) return undefined;
      await tx`DELETE FROM people_links WHERE id = ${id}`;
      if ((await findMember(tx, organization, person.id)) !== undefined) return person;
      // What was so when somebody was invited need not be so any more.
      await refuseFullOrganization(tx, organization);
      await refusePersonEverywhere(tx, person.id);
      await join(tx, organization, person.id, role, nowMs);
      await this.#audit.note(tx, organization, joinedNote(person, role), personActor(person), nowMs);
      return person;
    });
  }

  async resetPassword(sha256: string, passwordHash: string, nowMs: number): Promise<Person | undefined> {
    return inTransaction(this.#sql, async (tx) => {
      const { person } = (await findLink(tx, "password", sha256, nowMs)) ?? {};
      const before = person ? await lockPerson(tx, person) : undefined;
      // Looked for again: whoever held the person may have used it.
      if (before === undefined || !(await lockLink(tx, "password", sha256, nowMs))) return undefined;
      const after = { ...before, passwordHash };
      await updatePerson(tx, after);
      await deletePasswordLinks(tx, after.id);
      await endSessions(tx, after.id);
      for (const organization of await organizationsOf(tx, after.id)) {
        await this.#audit.note(tx, organization, passwordResetNote(after), personActor(after), nowMs);
      }
      return after;
    });
  }

  async begin(person: number, sha256: string, nowMs: number): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      if ((await lockPerson(tx, person)) === undefined) throw noAccount();
      await tx`
        INSERT INTO people_sessions (person, sha256, created_at_ms, used_at_ms)
        VALUES (${person}, ${sha256}, ${nowMs}, ${nowMs})`;
      await tx`
        DELETE FROM people_sessions WHERE person = ${person} AND id NOT IN (
          SELECT id FROM people_sessions WHERE person = ${person}
          ORDER BY used_at_ms DESC, id DESC LIMIT ${peopleLimits.sessionsPerPerson})`;
    });
  }

  async session(sha256: string, nowMs: number): Promise<Session | undefined> {
    const [row] = await this.#sql<{ id: number; person: number; usedAtMs: number }[]>`
      SELECT id, person, used_at_ms AS "usedAtMs" FROM people_sessions
      WHERE sha256 = ${sha256} AND created_at_ms > ${nowMs - sessionMs}`;
    const person = row && (await findPerson(this.#sql, row.person));
    return row === undefined || person === undefined ? undefined : { ...row, person };
  }

  async used(id: number, nowMs: number): Promise<void> {
    await this.#sql`
      UPDATE people_sessions SET used_at_ms = greatest(used_at_ms, ${nowMs}) WHERE id = ${id}`;
  }

  async end(id: number): Promise<void> {
    await this.#sql`DELETE FROM people_sessions WHERE id = ${id}`;
  }

  async endAll(person: number): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      await lockPerson(tx, person);
      await endSessions(tx, person);
    });
  }

  async endEverything(): Promise<void> {
    await inTransaction(this.#sql, async (tx) => {
      await tx`DELETE FROM people_sessions`;
      await tx`DELETE FROM people_links`;
    });
  }

  /** Deletes sessions and links that have expired; at most once an hour. What another node is at is left to it. */
  async tidy(nowMs: number): Promise<void> {
    if (!this.#hourly.isDue(nowMs)) return;
    await this.#sql`DELETE FROM people_sessions WHERE id IN (
      SELECT id FROM people_sessions WHERE created_at_ms <= ${nowMs - sessionMs} FOR UPDATE SKIP LOCKED)`;
    await this.#sql`DELETE FROM people_links WHERE id IN (
      SELECT id FROM people_links WHERE expires_at_ms <= ${nowMs} FOR UPDATE SKIP LOCKED)`;
  }

  /** Who joins by an invitation to this e-mail; undefined when the e-mail was taken, or changed, since they looked at
   * the link. */
  async #joining(tx: Tx, email: string, who: Joining, nowMs: number): Promise<Person | undefined> {
    if (!("id" in who)) {
      await this.#freeEmail(tx, email, nowMs);
      return insertPerson(tx, { ...who, ...verifiedEmail, email, createdAtMs: nowMs });
    }
    const known = await lockPerson(tx, who.id);
    if (known?.email !== email) return undefined;
    const person = { ...known, ...verifiedEmail };
    await updatePerson(tx, person);
    return person;
  }

  /** Takes the e-mail from a person who only chose it, if it is one's. */
  async #freeEmail(tx: Tx, email: string, nowMs: number): Promise<void> {
    const { id } = (await personWithEmail(tx, email)) ?? {};
    const known = id === undefined ? undefined : await lockPerson(tx, id);
    const returned = known?.email === email ? withFallbackEmail(known) : undefined;
    if (known === undefined || returned === undefined) return;
    if (await isEmailTaken(tx, returned.email, known.id)) return;
    await updatePerson(tx, returned);
    for (const organization of await organizationsOf(tx, known.id)) {
      await this.#audit.note(tx, organization, emailLostNote(known, returned), serviceItself, nowMs);
    }
  }
}
