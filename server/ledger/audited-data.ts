/** The entry of an erasure in the audit log: see changing.ts. */
import { type Changing, note } from "./changing.ts";
import type { ErasureReceipt } from "./ledger.ts";

/** Notes that a user was erased; who it was is not kept. */
export function noteErasure(changing: Changing<never>, receipt: ErasureReceipt): Promise<void> {
  const { events, versions, deadLetters } = receipt;
  return note(changing, {
    action: "user.erased",
    summary: `Erased a user with ${events} event${events === 1 ? "" : "s"}`,
    detail: { events, versions, deadLetters },
  });
}
