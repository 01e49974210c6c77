/** Message ids are claimed in claimed-ids.ts; here they are forgotten. */
import { limits } from "../../../../contract/limits.ts";
import type { Sql } from "../client/connect.ts";
import { tryLock } from "../client/locks.ts";
import { inTransaction } from "../client/transaction.ts";
import { byIndex } from "./loaded.ts";

/** An id that is past its 24 hours may be claimed again while it is still stored: forgetting only makes room. */
const rememberedMs = limits.messageIdMemoryHours * 3_600_000;
const forgottenAtOnce = 5_000;
/** So many a second are 4,000 million a day. */
const steps = 10;

/** Deletes some of those that are past their 24 hours, the oldest first; nothing while another node does. */
export async function forgetMessageIds(sql: Sql, nowMs: number): Promise<void> {
  for (let step = 0; step < steps; step += 1) {
    const forgotten = await inTransaction(sql, async (tx) => {
      if (!(await tryLock(tx, "forgetting"))) return 0;
      await byIndex(tx);
      const { count } = await tx`
        DELETE FROM message_ids WHERE ctid = ANY (ARRAY(
          SELECT ctid FROM message_ids WHERE at_ms <= ${nowMs - rememberedMs}::bigint
          ORDER BY at_ms LIMIT ${forgottenAtOnce} FOR UPDATE SKIP LOCKED))`;
      return count;
    });
    if (forgotten < forgottenAtOnce) return;
  }
}
