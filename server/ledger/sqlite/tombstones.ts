/**
 * Which users were erased, and when. Asked for every identify, so an organization that erased nobody costs a
 * look into a set. An id is kept as an HMAC under a key of this ledger: ids are short and guessable, a plain
 * hash of one could be found by trying.
 */
import type { Database } from "bun:sqlite";
import { createHmac } from "node:crypto";

function prepare(db: Database) {
  return {
    key: db.prepare<{ key: Uint8Array }, []>("SELECT key FROM erasure_key"),
    organizations: db.prepare<{ organization: number }, []>("SELECT DISTINCT organization FROM erasures"),
    newest: db.prepare<{ at: number | null }, [number, string]>(
      "SELECT max(requested_at_ms) AS at FROM erasures WHERE organization = ? AND user_hmac = ?",
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
    return createHmac("sha256", this.#key).update(`${organization} ${userId}`).digest("hex");
  }

  /** When this user was erased last; undefined for one who never was. */
  erasedAtMs(organization: number, userId: string): number | undefined {
    if (!this.#organizations.has(organization)) return undefined;
    return this.#statements.newest.get(organization, this.hmac(organization, userId))?.at ?? undefined;
  }

  /** To be told after the commit that wrote the organization's tombstone. */
  remember(organization: number): void {
    this.#organizations.add(organization);
  }
}
