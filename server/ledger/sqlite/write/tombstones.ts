/**
 * Erased users, with the time of the erasure, and the ids that were linked to them. Every identify reads
 * this, so an organization without erasures costs one look-up in a set. An id is kept as an HMAC under a key
 * of this ledger. Ids are short and guessable, so a plain hash could be found by trial.
 */
import type { Database } from "bun:sqlite";
import type { PersonKey } from "../../rules/held-events.ts";
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

  /** The last erasure of this user, or of the user to whom the id was linked at that time. Undefined if there
   * is none. */
  erasedAtMs({ organization, ...person }: PersonKey): number | undefined {
    if (!this.#organizations.has(organization)) return undefined;
    const { newest, linked } = this.#statements;
    const asLinked = linked.get(organization, this.#hmac(organization, personText(person)))?.at;
    if (person.kind === "visitor") return asLinked;
    const asUser = newest.get(organization, this.#hmac(organization, person.id))?.at ?? undefined;
    return asLinked === undefined ? asUser : Math.max(asLinked, asUser ?? asLinked);
  }

  /** The last erasure of this account. */
  accountErasedAtMs(organization: number, accountId: string): number | undefined {
    if (!this.#organizations.has(organization)) return undefined;
    return this.#statements.linked.get(organization, this.#hmac(organization, accountText(accountId)))?.at;
  }

  /** Called after the commit that wrote the organization's tombstone. */
  remember(organization: number): void {
    this.#organizations.add(organization);
  }

  /** The keyed hash of an erased id. */
  #hmac(organization: number, id: string): string {
    return tombstoneOf(this.#key, organization, id);
  }
}
