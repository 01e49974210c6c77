/**
 * The fields of users that track requests need, kept in memory. A look-up in SQLite for every request took a
 * third of the throughput.
 *
 * Invariant: the cache changes only after a commit. A cache that is filled earlier would accept tracks of a
 * rolled-back user, with a number that the next user gets, too.
 *
 * It is bounded by two generations. When the young one has half the capacity, it becomes the old one, and the
 * former old one is dropped. A look-up moves a user to the young one, so active users stay.
 */
import type { KnownUser } from "../../transact.ts";
import { ByOrganization } from "../by-organization.ts";

export class KnownUsers {
  readonly #capacityPerGeneration: number;
  #young = new ByOrganization<KnownUser>();
  #old = new ByOrganization<KnownUser>();

  /** @param capacity the most users in the cache, about 150 bytes each. */
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

  /** Called only after the commit. */
  remember(organization: number, userId: string, known: KnownUser): void {
    this.#young.set(organization, userId, known);
    if (this.#young.size < this.#capacityPerGeneration) return;
    this.#old = this.#young;
    this.#young = new ByOrganization();
  }

  /** Called when the deletion of the organization has begun. */
  forgetOrganization(organization: number): void {
    this.#young.deleteAll(organization);
    this.#old.deleteAll(organization);
  }

  /** Called after the commit of the user's deletion. */
  forget(organization: number, userId: string): void {
    this.#young.delete(organization, userId);
    this.#old.delete(organization, userId);
  }
}
