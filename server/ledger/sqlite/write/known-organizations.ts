/** A cache of existing organizations. Every transaction uses it for each of its organizations. */

import { findOrganization, type Organization } from "../../stores/organization-rows.ts";
import type { SqliteEngine } from "../store-engine.ts";

export class KnownOrganizations {
  readonly #engine: SqliteEngine;
  readonly #found = new Set<number>();

  constructor(engine: SqliteEngine) {
    this.#engine = engine;
  }

  /** The organization with this id, without a promise, for callers inside a transaction. */
  find(id: number): Organization | undefined {
    return this.#engine.now(findOrganization(id));
  }

  /** Whether there is such an organization. Only ids that do not exist are looked up every time. */
  has(id: number): boolean {
    if (this.#found.has(id)) return true;
    const isThere = this.find(id) !== undefined;
    if (isThere) this.#found.add(id);
    return isThere;
  }

  /** Called after the commit that begins the organization's deletion. */
  forget(id: number): void {
    this.#found.delete(id);
  }
}
