/** Stores deliveries: what waits to be sent, and the log of what was sent. */
import { destinationLimits } from "../../../../contract/actions/destinations.ts";
import {
  type ClaimedDelivery,
  type Delivery,
  type DeliveryStore,
  notSentAgain,
  type TriedDelivery,
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
  attempts: integer("tries"),
  dueAtMs: integer(),
  attemptedAtMs: nullable(integer("tried_at_ms")),
  status: nullable(integer()),
  said: nullable(text()),
  createdAtMs: integer(),
});
const destinationRow = new RowOf<Destination>(destinationColumns);

/** A delivery whose outcome was not recorded after this time is sent again: its process is gone. */
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

    add: async (organization, destination, { messageId, type, body }, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
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

    claim: async (most, perDestination, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction(function* () {
        const claimed: ClaimedDelivery[] = [];
        for (const destination of yield* waitingDestinations(most, nowMs)) {
          const room = Math.min(perDestination, most - claimed.length);
          const deliveries = yield* claimOf(destination.id, room, nowMs);
          claimed.push(...deliveries.map((delivery) => ({ delivery, destination })));
        }
        return claimed;
      });
    },

    tried: async (id, tried, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      await engine.transaction((audit) => record(audit, id, tried, nowMs));
    },

    again: async (organization, id, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction(() => sendAgain(organization, id, nowMs));
    },

    settleHeld: async (organization, destination, held, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      const sent = part`state = 'pending', tries = 0, due_at_ms = ${nowMs}`;
      return engine.alone(
        run`UPDATE deliveries SET ${held === "send" ? sent : part`state = 'canceled'`}
          WHERE organization = ${organization} AND destination = ${destination} AND state = 'held'`,
      );
    },
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

/** A pending delivery waits for its next attempt, unless it is under way. */
function* sendAgain(organization: number, id: number, nowMs: number): Work<boolean> {
  const [delivery] = yield* select(deliveryRow)`
    FROM deliveries WHERE organization = ${organization} AND id = ${id}`;
  if (delivery === undefined) return false;
  const [destination] = yield* select(destinationRow)`
    FROM destinations WHERE id = ${delivery.destination} ${forUpdate}`;
  if (destination === undefined) return false;
  if (destination.state !== "active") throw notSentAgain(delivery.state, destination.state);
  const changed = yield* run`
    UPDATE deliveries SET state = 'pending', tries = 0, due_at_ms = ${nowMs}, claimed_until_ms = 0
    WHERE id = ${id} AND (state IN ('failed', 'delivered') OR (state = 'pending' AND claimed_until_ms <= ${nowMs}))`;
  if (changed === 0) throw notSentAgain(delivery.state, destination.state);
  return true;
}

function* record(
  audit: AuditLog,
  id: number,
  { status, said, verdict }: TriedDelivery,
  nowMs: number,
): Work<void> {
  const dueAtMs = verdict.is === "retry" ? nowMs + verdict.waitMs : nowMs;
  // An erasure cancels messages and deletes their answers, so none is added after it.
  const [delivery] = yield* returning(deliveryRow)`
    UPDATE deliveries SET state = ${stateAfter(verdict)}, tries = tries + 1, due_at_ms = ${dueAtMs},
      claimed_until_ms = 0, tried_at_ms = ${nowMs}, status = ${status},
      said = CASE state WHEN 'canceled' THEN NULL ELSE ${said} END
    WHERE id = ${id} AND state IN ('pending', 'held', 'canceled')`;
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
  const failing = {
    failingSinceMs: before.failingSinceMs ?? nowMs,
    failedAttempts: before.failedAttempts + 1,
  };
  yield* run`
    UPDATE destinations SET failing_since_ms = ${failing.failingSinceMs}, failed_tries = ${failing.failedAttempts}
    WHERE id = ${before.id}`;
  const because = disabledBecause(failing, verdict.is === "failed" && verdict.isGone, nowMs);
  if (because !== null && before.state === "active") yield* disable(audit, before, because, nowMs);
}

/** A destination may be paused or disabled, and its messages dropped, while an attempt is under way. */
function stateAfter({ is }: TriedDelivery["verdict"]) {
  if (is === "delivered") return part`'delivered'`;
  return part`CASE state WHEN 'pending' THEN ${is === "retry" ? "pending" : "failed"} ELSE state END`;
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

/** Holds the pending messages of a destination. */
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
