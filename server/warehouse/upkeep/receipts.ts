/** Erasures from the request to the receipt, wherever the work is done. */

import {
  type AccountReceipt,
  type AskedErasure,
  accountReceiptOf,
  type Erasure,
  type ErasureReceipt,
  receiptOf,
} from "../../ledger/erasures.ts";
import type { SharedLedger } from "../../ledger/ledger.ts";

/** Begins erasures, and waits for their end. */
export class Receipts {
  readonly #erasures: SharedLedger["erasures"];
  readonly #done: (id: number) => Promise<Erasure>;

  /** @param done resolves with an erasure when it is done */
  constructor(erasures: SharedLedger["erasures"], done: (id: number) => Promise<Erasure>) {
    this.#erasures = erasures;
    this.#done = done;
  }

  /** Erases a user; undefined when there is none. */
  async ofUser(
    organization: number,
    userId: string,
    asked: AskedErasure,
  ): Promise<ErasureReceipt | undefined> {
    const begun = await this.#erasures.begin(organization, userId, asked);
    if (begun === undefined) return undefined;
    const { id, ofAccount } = begun;
    const done = await this.#done(id);
    if (ofAccount === null) return receiptOf(userId, done, null);
    const { accountId, erasure } = ofAccount;
    return receiptOf(userId, done, accountReceiptOf(accountId, await this.#done(erasure.id)));
  }

  /** Erases an account; undefined when there is none. */
  async ofAccount(
    organization: number,
    accountId: string,
    asked: AskedErasure,
  ): Promise<AccountReceipt | undefined> {
    const begun = await this.#erasures.beginAccount(organization, accountId, asked);
    return begun === undefined ? undefined : accountReceiptOf(accountId, await this.#done(begun.id));
  }
}
