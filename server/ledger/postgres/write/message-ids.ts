/** Message ids of the last 24 hours. The transaction of their message claims them. Older ids are deleted. */
import { limits } from "../../../../contract/limits.ts";
import {
  hashWithoutKind,
  type LastingId,
  type MessageIdHasher,
  uuidOf,
} from "../../rules/message-id-hash.ts";
import type { MessageKey } from "../../transact.ts";
import type { Sql, Tx } from "../connect.ts";
import { tryLock } from "../locks.ts";
import { inTransaction } from "../transaction.ts";
import { byIndex } from "./organization-locks.ts";

/** An older id may be claimed again while it is still stored. Its deletion only frees space. */
const rememberedMs = limits.messageIdMemoryHours * 3_600_000;
const forgottenAtOnce = 5_000;
/** The most deletion steps of a call. With this, a call a second deletes 50,000 ids, or 4,000 million a
 * day. */
const steps = 10;

/** The migration that adds the kind to ids. Older ids were stored without their kind. */
export const messageIdKinds = `
  ALTER TABLE ledger_form ADD COLUMN message_kinds_from_ms bigint NOT NULL DEFAULT 0;
  UPDATE ledger_form SET message_kinds_from_ms = extract(epoch FROM clock_timestamp()) * 1000
  WHERE EXISTS (SELECT FROM organizations);
`;

/** Claims the ids that were not acknowledged in the last 24 hours. If another transaction is writing one of
 * them, this waits for its commit.
 * @returns the claimed ids */
export function claimIds(tx: Tx, keys: readonly MessageKey[], hasher: MessageIdHasher, nowMs: number) {
  const unscoped = new Map<string, string | null>();
  for (const key of keys) {
    const hash = hasher.hash(key);
    unscoped.set(uuidOf(hash), key.kind === "identify" ? uuidOf(hashWithoutKind(hash)) : null);
  }
  return tx<{ id: string }[]>`
    INSERT INTO message_ids (id, at_ms)
    SELECT id, ${nowMs}::bigint
    FROM unnest(${[...unscoped.keys()]}::uuid[], ${[...unscoped.values()]}::uuid[]) AS given (id, unscoped)
    WHERE unscoped IS NULL OR NOT EXISTS (
      SELECT FROM message_ids AS known WHERE known.id = unscoped AND known.at_ms > ${nowMs - rememberedMs}::bigint
        AND known.at_ms <= (SELECT message_kinds_from_ms FROM ledger_form))
    ORDER BY id
    ON CONFLICT (id) DO UPDATE SET at_ms = excluded.at_ms
    WHERE message_ids.at_ms <= ${nowMs - rememberedMs}::bigint
    RETURNING id`;
}

/** A row of `lasting_message_ids` as text. */
export function textOfLasting({ organization, utcDay, high, low }: LastingId): string {
  return `${organization} ${utcDay} ${high} ${low}`;
}

/** Claims the ids that are to be remembered for good and are not yet, as `claimIds` does.
 * @returns the claimed ids */
export function claimLastingIds(tx: Tx, ids: readonly LastingId[]) {
  return tx<LastingId[]>`
    INSERT INTO lasting_message_ids (organization, utc_day, high, low)
    SELECT organization, utc_day, high, low FROM ${tableOfLasting(tx, ids)}
    ORDER BY organization, utc_day, high, low
    ON CONFLICT DO NOTHING
    RETURNING organization, utc_day AS "utcDay", high, low`;
}

/** Releases claimed ids whose messages are not stored. */
export function releaseLastingIds(tx: Tx, ids: readonly LastingId[]) {
  return tx`
    DELETE FROM lasting_message_ids AS claimed USING ${tableOfLasting(tx, ids)}
    WHERE claimed.organization = given.organization AND claimed.utc_day = given.utc_day
      AND claimed.high = given.high AND claimed.low = given.low`;
}

function tableOfLasting(tx: Tx, ids: readonly LastingId[]) {
  return tx`unnest(${ids.map(({ organization }) => organization)}::bigint[],
    ${ids.map(({ utcDay }) => utcDay)}::bigint[], ${ids.map(({ high }) => high)}::bigint[],
    ${ids.map(({ low }) => low)}::bigint[]) AS given (organization, utc_day, high, low)`;
}

/** Deletes ids that are older than 24 hours, oldest first. Does nothing while another node deletes some. */
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
