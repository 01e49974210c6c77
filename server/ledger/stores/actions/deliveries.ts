/** Stores deliveries: what waits to be sent, and the log of what was sent. */
import { destinationLimits } from "../../../../contract/actions/destinations.ts";
import type {
  ClaimedDelivery,
  Delivery,
  DeliveryStore,
  TriedDelivery,
} from "../../ports/actions/deliveries.ts";
import {
  type Destination,
  destinationDisabledNote,
  disabledBecause,
} from "../../ports/actions/destinations.ts";
import { serviceItself } from "../../ports/audit.ts";
import type { AuditLog } from "../engine/audit-log.ts";
import { forUpdate, skipLocked } from "../engine/dialect.ts";
import { deleteInParts, type Engine } from "../engine/engine.ts";
import {
  count,
  integer,
  nullable,
  part,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
  word,
} from "../engine/sql.ts";
import { destinationColumns } from "./destination-columns.ts";

const deliveryRow = new RowOf<Delivery>({
  id: integer(),
  organization: integer(),
  destination: integer(),
  messageId: text(),
  type: word(),
  body: text(),
  state: word(),
  tries: integer(),
  dueAtMs: integer(),
  triedAtMs: nullable(integer()),
  status: nullable(integer()),
  said: nullable(text()),
  createdAtMs: integer(),
});
const destinationRow = new RowOf<Destination>(destinationColumns);

/** A try that was not recorded after this time is tried again: its process is gone. */
const claimMs = 60_000;
const keptMs = destinationLimits.keptDays * 86_400_000;

/** The store of deliveries. */
export function deliveryStore(engine: Engine): DeliveryStore {
  return {
    list: (organization, { destination, state, limit, before }) =>
      engine.alone(
        select(deliveryRow)`
          FROM deliveries WHERE organization = ${organization}
            ${destination === undefined ? part`` : part`AND destination = ${destination}`}
            ${state === undefined ? part`` : part`AND state = ${state}`}
            ${before === undefined ? part`` : part`AND id < ${before}`}
          ORDER BY id DESC LIMIT ${limit}`,
      ),

    add: async (organization, destination, { messageId, type, body }, nowMs) => {
      await engine.alone(
        run`INSERT INTO deliveries (organization, destination, message_id, type, body, state, tries, due_at_ms,
            claimed_until_ms, created_at_ms)
          SELECT ${organization}, id, ${messageId}, ${type}, ${body},
            CASE state WHEN 'active' THEN 'pending' ELSE 'held' END, 0, ${nowMs}, 0, ${nowMs}
          FROM destinations WHERE organization = ${organization} AND id = ${destination}
            AND state IN ('active', 'paused')
          ON CONFLICT (destination, message_id) DO NOTHING`,
      );
    },

    claim: (most, perDestination, nowMs) =>
      engine.transaction(function* () {
        const claimed: ClaimedDelivery[] = [];
        for (const destination of yield* waitingDestinations(most, nowMs)) {
          const room = Math.min(perDestination, most - claimed.length);
          const deliveries = yield* claimOf(destination.id, room, nowMs);
          claimed.push(...deliveries.map((delivery) => ({ delivery, destination })));
        }
        return claimed;
      }),

    tried: (id, tried, nowMs) => engine.transaction((audit) => record(audit, id, tried, nowMs)),

    again: async (organization, id, nowMs) => {
      const changed = await engine.alone(
        run`UPDATE deliveries SET state = 'pending', tries = 0, due_at_ms = ${nowMs}, claimed_until_ms = 0
          WHERE organization = ${organization} AND id = ${id}`,
      );
      return changed > 0;
    },

    settleHeld: (organization, destination, held, nowMs) =>
      engine.alone(
        run`UPDATE deliveries SET state = ${held === "send" ? "pending" : "canceled"}, due_at_ms = ${nowMs}
          WHERE organization = ${organization} AND destination = ${destination} AND state = 'held'`,
      ),
  };
}

/** The plus keeps SQLite from the index of claims: it would read all that waits for a later retry. */
const isDue = (nowMs: number) =>
  part`state = 'pending' AND due_at_ms <= ${nowMs} AND +claimed_until_ms <= ${nowMs}`;

/** Destinations that work come first, so that those that hang delay no other. */
function waitingDestinations(most: number, nowMs: number) {
  return select(destinationRow)`
    FROM destinations WHERE state = 'active' AND EXISTS (
      SELECT 1 FROM deliveries WHERE destination = destinations.id AND ${isDue(nowMs)})
    ORDER BY failing_since_ms IS NOT NULL, id LIMIT ${most}`;
}

/** Claims the deliveries of a destination that wait longest. @param room for those that are under way, too */
function* claimOf(destination: number, room: number, nowMs: number): Work<readonly Delivery[]> {
  const underWay = yield* count`
    FROM deliveries WHERE destination = ${destination} AND state = 'pending' AND claimed_until_ms > ${nowMs}`;
  if (underWay >= room) return [];
  return yield* returning(deliveryRow)`
    UPDATE deliveries SET claimed_until_ms = ${nowMs + claimMs}
    WHERE id IN (
      SELECT id FROM deliveries WHERE destination = ${destination} AND ${isDue(nowMs)}
      ORDER BY due_at_ms, id LIMIT ${room - underWay} ${skipLocked})`;
}

function* record(
  audit: AuditLog,
  id: number,
  { status, said, verdict }: TriedDelivery,
  nowMs: number,
): Work<void> {
  const state = { delivered: "delivered", retry: "pending", failed: "failed" }[verdict.is];
  const dueAtMs = verdict.is === "retry" ? nowMs + verdict.waitMs : nowMs;
  const [delivery] = yield* returning(deliveryRow)`
    UPDATE deliveries SET state = ${state}, tries = tries + 1, due_at_ms = ${dueAtMs}, claimed_until_ms = 0,
      tried_at_ms = ${nowMs}, status = ${status}, said = ${said}
    WHERE id = ${id} AND state = 'pending'`;
  if (delivery === undefined) return;
  const [before] = yield* select(destinationRow)`
    FROM destinations WHERE id = ${delivery.destination} ${forUpdate}`;
  if (before === undefined) return;
  if (verdict.is === "delivered") {
    yield* run`
      UPDATE destinations SET failing_since_ms = NULL, failed_tries = 0, delivered_at_ms = ${nowMs}
      WHERE id = ${before.id}`;
    return;
  }
  const failing = { failingSinceMs: before.failingSinceMs ?? nowMs, failedTries: before.failedTries + 1 };
  yield* run`
    UPDATE destinations SET failing_since_ms = ${failing.failingSinceMs}, failed_tries = ${failing.failedTries}
    WHERE id = ${before.id}`;
  const because = disabledBecause(failing, verdict.is === "failed" && verdict.isGone, nowMs);
  if (because !== null && before.state === "active") yield* disable(audit, before, because, nowMs);
}

/** Messages that wait are held, so that nothing is lost when the destination works again. */
function* disable(audit: AuditLog, destination: Destination, because: string, nowMs: number): Work<void> {
  yield* run`
    UPDATE destinations SET state = 'disabled', stopped_because = ${because}, updated_at_ms = ${nowMs}
    WHERE id = ${destination.id}`;
  yield* holdPending(destination.id);
  const note = destinationDisabledNote(destination, because);
  yield* audit.note(destination.organization, note, serviceItself, nowMs);
}

/** Holds what waits for a destination. */
export function holdPending(destination: number) {
  return run`UPDATE deliveries SET state = 'held' WHERE destination = ${destination} AND state = 'pending'`;
}

/** Deletes deliveries that are done and older than the log reaches. */
export function tidyDeliveries(engine: Engine, nowMs: number): Promise<void> {
  return deleteInParts(
    engine,
    (most) => run`
      DELETE FROM deliveries WHERE id IN (
        SELECT id FROM deliveries WHERE created_at_ms < ${nowMs - keptMs} AND state NOT IN ('pending', 'held')
        ORDER BY created_at_ms LIMIT ${most})`,
  );
}
