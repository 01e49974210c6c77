/**
 * The lease of the leader. One node at a time has it, while it renews it. Each holder has an epoch of its
 * own. After another node had the lease, a node with an older epoch is refused.
 */
import { randomUUID } from "node:crypto";
import { Refusal } from "../../../contract/refusal.ts";
import type { Sql, Tx } from "./connect.ts";

/** The lease is valid for this time after the last renewal. */
export const leaseSeconds = 30;

export class LoaderLease {
  readonly #holder = randomUUID();
  #epoch: number | undefined;
  #isOver = false;

  /** Takes or renews the lease. @returns false while another node has it */
  async take(tx: Tx): Promise<boolean> {
    const epoch = this.#isOver ? undefined : await this.#extend(tx);
    if (epoch !== undefined) this.#epoch = epoch;
    return epoch !== undefined;
  }

  /** @throws Refusal when another node has had the lease since this node took it. */
  async refuseLate(tx: Tx): Promise<void> {
    const epoch = this.#isOver ? undefined : await this.#extend(tx);
    if (epoch === undefined || (this.#epoch !== undefined && epoch !== this.#epoch)) {
      throw new Refusal("Another node has taken over loading: ask again what is frozen.");
    }
    this.#epoch = epoch;
  }

  /** Later calls neither take nor renew it. */
  end(): void {
    this.#isOver = true;
  }

  /** Releases the lease, so that another node can lead at once. */
  async release(sql: Sql): Promise<void> {
    await sql`UPDATE loader_lease SET until = '-infinity' WHERE holder = ${this.#holder}`;
  }

  /** The row stays locked until the end of the transaction, so that no other node takes the lease
   * meanwhile. */
  async #extend(tx: Tx): Promise<number | undefined> {
    const [taken] = await tx<{ epoch: number }[]>`
      UPDATE loader_lease SET
        epoch = CASE WHEN holder = ${this.#holder} THEN epoch ELSE epoch + 1 END,
        holder = ${this.#holder},
        until = clock_timestamp() + make_interval(secs => ${leaseSeconds})
      WHERE holder = ${this.#holder} OR until < clock_timestamp()
      RETURNING epoch`;
    return taken?.epoch;
  }
}
