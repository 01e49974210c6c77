/**
 * What track requests have to know of their users, kept in memory: a lookup in SQLite on every request took
 * a third of the throughput.
 *
 * Invariant: it never knows anything that is not committed. Whoever writes a user tells it only after the
 * commit; a cache filled before would make a rolled-back user trackable, with a number that the next user
 * gets as well.
 *
 * It is bounded by two generations: when the young one holds half the capacity it becomes the old one, and
 * the old one is forgotten. Users who are seen move to the young one, so the busy ones stay.
 */
import type { KnownUser } from "../../ports/transact.ts";
import { ByOrganization } from "../engine/by-organization.ts";

export class KnownUsers {
  readonly #capacityPerGeneration: number;
  #young = new ByOrganization<KnownUser>();
  #old = new ByOrganization<KnownUser>();

  /** @param capacity the most users that are kept, about 150 bytes each. */
  constructor(capacity: number) {
    this.#capacityPerGeneration = Math.max(1, Math.floor(capacity / 2));
  }

  get(organization: number, userId: string): KnownUser | undefined {
    const young = this.#young.get(organization, userId);
    if (young !== undefined) return young;
    const old = this.#old.get(organization, userId);
    if (old !== undefined) this.remember(organization, userId, old);
    return old;
  }

  /** To be called with what is committed, never before. */
  remember(organization: number, userId: string, known: KnownUser): void {
    this.#young.set(organization, userId, known);
    if (this.#young.size < this.#capacityPerGeneration) return;
    this.#old = this.#young;
    this.#young = new ByOrganization();
  }

  /** To be called when the deletion of the organization is begun. */
  forgetOrganization(organization: number): void {
    this.#young.deleteAll(organization);
    this.#old.deleteAll(organization);
  }

  /** To be called when the deletion of the user is committed. */
  forget(organization: number, userId: string): void {
    this.#young.delete(organization, userId);
    this.#old.delete(organization, userId);
  }
}
