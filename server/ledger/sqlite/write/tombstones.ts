/**
 * Which users were erased, and when, and the ids that were linked to them. Asked for every identify, so an organization that erased nobody costs a
 * look into a set. An id is kept as an HMAC under a key of this ledger: ids are short and guessable, a plain
 * hash of one could be found by trying.
 */
import type { Database } from "bun:sqlite";
import { type PersonId, type PersonKey, personKinds } from "../../ports/parking.ts";
import { accountText, personText } from "../../rules/person-text.ts";
import { tombstoneOf } from "../../rules/user-rows.ts";

function prepare(db: Database) {
  return {
    key: db.prepare<{ key: Uint8Array }, []>("SELECT key FROM erasure_key"),
    organizations: db.prepare<{ organization: number }, []>(
      "SELECT organization FROM erasures UNION SELECT organization FROM erased_ids",
    ),
    newest: db.prepare<{ at: number | null }, [number, string]>(
      "SELECT max(requested_at_ms) AS at FROM erasures WHERE organization = ? AND user_hmac = ?",
    ),
    linked: db.prepare<{ at: number }, [number, string]>(
      "SELECT erased_at_ms AS at FROM erased_ids WHERE organization = ? AND person_hmac = ?",
    ),
    eraseLinked: db.prepare(
      `INSERT INTO erased_ids (organization, person_hmac, erased_at_ms) VALUES (?, ?, ?)
       ON CONFLICT DO UPDATE SET erased_at_ms = max(erased_at_ms, excluded.erased_at_ms)`,
    ),
  };
}

export class Tombstones {
  readonly #statements: ReturnType<typeof prepare>;
  readonly #key: Uint8Array;
  readonly #organizations: Set<number>;

  constructor(db: Database) {
    this.#statements = prepare(db);
    const stored = this.#statements.key.get();
    if (stored === null) throw new Error("The ledger has lost the key of its erasures.");
    this.#key = stored.key;
    this.#organizations = new Set(
      this.#statements.organizations.all().map(({ organization }) => organization),
    );
  }

  /** What is kept of the id of an erased user. */
  hmac(organization: number, userId: string): string {
    return tombstoneOf(this.#key, organization, userId);
  }

  /** When this user was erased last, or whom the id was linked to then; undefined for an id of which nobody was. */
  erasedAtMs({ organization, ...person }: PersonKey): number | undefined {
    if (!this.#organizations.has(organization)) return undefined;
    const { newest, linked } = this.#statements;
    const asLinked = linked.get(organization, this.hmac(organization, personText(person)))?.at;
    if (person.kind === "visitor") return asLinked;
    const asUser = newest.get(organization, this.hmac(organization, person.id))?.at ?? undefined;
    return asLinked === undefined ? asUser : Math.max(asLinked, asUser ?? asLinked);
  }

  /** When this account was erased last. */
  accountErasedAtMs(organization: number, accountId: string): number | undefined {
    if (!this.#organizations.has(organization)) return undefined;
    return this.#statements.linked.get(organization, this.accountHmac(organization, accountId))?.at;
  }

  /** What is kept of the id of an erased account. */
  accountHmac(organization: number, accountId: string): string {
    return this.hmac(organization, accountText(accountId));
  }

  /** Keeps that an account was erased, inside the caller's transaction. */
  eraseAccount(organization: number, accountId: string, atMs: number): void {
    this.#statements.eraseLinked.run(organization, this.accountHmac(organization, accountId), atMs);
  }

  /** Whether an id was erased, be it a user's or a visitor's. */
  has(organization: number, id: string): boolean {
    return personKinds.some((kind) => this.erasedAtMs({ organization, kind, id }) !== undefined);
  }

  /** Keeps that ids were erased which are no user's own, inside the caller's transaction. */
  eraseLinked(organization: number, people: readonly PersonId[], atMs: number): void {
    for (const person of people) {
      this.#statements.eraseLinked.run(organization, this.hmac(organization, personText(person)), atMs);
    }
  }

  /** To be told after the commit that wrote the organization's tombstone. */
  remember(organization: number): void {
    this.#organizations.add(organization);
  }
}
