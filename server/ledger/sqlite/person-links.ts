/** Which ids are whose. Everything here is to be called inside the caller's transaction. */
import type { Database } from "bun:sqlite";
import type { PersonKey, PersonLink } from "../parking.ts";

function prepare(db: Database) {
  return {
    find: db.prepare<PersonLink, [number, string]>(
      "SELECT user_id AS userId, at_ms AS atMs FROM person_links WHERE organization = ? AND id = ?",
    ),
    to: db.prepare<{ id: string }, [number, string]>(
      "SELECT id FROM person_links WHERE organization = ? AND user_id = ?",
    ),
    set: db.prepare(
      `INSERT INTO person_links (organization, id, user_id, at_ms) VALUES (?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET user_id = excluded.user_id, at_ms = excluded.at_ms`,
    ),
    delete: db.prepare("DELETE FROM person_links WHERE organization = ? AND id = ?"),
    deleteTo: db.prepare("DELETE FROM person_links WHERE organization = ? AND user_id = ?"),
    deleteOldestTo: db.prepare<unknown, [number, string, number]>(
      `DELETE FROM person_links WHERE organization = ?1 AND id IN (
         SELECT id FROM person_links WHERE organization = ?1 AND user_id = ?2
         ORDER BY at_ms DESC, id LIMIT -1 OFFSET ?3)`,
    ),
  };
}

export class PersonLinks {
  readonly #statements: ReturnType<typeof prepare>;

  constructor(db: Database) {
    this.#statements = prepare(db);
  }

  find(organization: number, id: string): PersonLink | undefined {
    return this.#statements.find.get(organization, id) ?? undefined;
  }

  /** The ids that are linked to this one. */
  to(organization: number, userId: string): readonly string[] {
    return this.#statements.to.all(organization, userId).map(({ id }) => id);
  }

  /** Links an id, or, without a link, no longer. */
  write({ organization, id }: PersonKey, link: PersonLink | null): void {
    if (link === null) this.#statements.delete.run(organization, id);
    else this.#statements.set.run(organization, id, link.userId, link.atMs);
  }

  /** Forgets all but the newest of those that are linked to this id. */
  keepNewest(organization: number, userId: string, most: number): void {
    this.#statements.deleteOldestTo.run(organization, userId, most);
  }

  /** Forgets all that leads to this id, or from it. */
  forget(organization: number, id: string): void {
    this.#statements.delete.run(organization, id);
    this.#statements.deleteTo.run(organization, id);
  }
}
