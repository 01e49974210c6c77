/** Claims the message ids of a transaction. They are forgotten in message-ids.ts. */
import { limits } from "../../../../contract/limits.ts";
import type { MessageKey } from "../../ports/transact.ts";
import { hashWithoutKind, type MessageIdHasher, uuidOf } from "../../rules/message-id-hash.ts";
import type { Tx } from "../client/connect.ts";

const rememberedMs = limits.messageIdMemoryHours * 3_600_000;

/** The step that tells ids of identifies from those of tracks: until then all were kept without their kind. */
export const messageIdKinds = `
  ALTER TABLE ledger_form ADD COLUMN message_kinds_from_ms bigint NOT NULL DEFAULT 0;
  UPDATE ledger_form SET message_kinds_from_ms = extract(epoch FROM clock_timestamp()) * 1000
  WHERE EXISTS (SELECT FROM organizations);
`;

/** Claims those of the ids that were not acknowledged within the last 24 hours. If another transaction is writing one of
 * them, this waits for its commit.
 * @returns what was claimed */
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
