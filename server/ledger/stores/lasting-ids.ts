/** Forgets message ids that are remembered for good, inside the caller's transaction. */

import { records } from "../dialect.ts";
import { type LastingId, lastingIdOfHeld } from "../rules/message-id-hash.ts";
import { run, type Work } from "../sql.ts";

const columns = { organization: "bigint", utcDay: "bigint", high: "bigint", low: "bigint" } as const;

/** Forgets the ids of held items that are dropped, so that they can be sent or imported again. */
export function* forgetIdsOfDropped(organization: number, bodies: readonly string[]): Work<void> {
  const ids = bodies.flatMap((body): LastingId[] => {
    const id = lastingIdOfHeld(organization, body);
    return id === undefined ? [] : [id];
  });
  if (ids.length === 0) return;
  yield* run`
    DELETE FROM lasting_message_ids WHERE (organization, utc_day, high, low) IN (
      SELECT organization, "utcDay", high, low FROM ${records(ids, columns)})`;
}
