/** Stores deliveries: what waits to be sent, and the log of what was sent. */
import { destinationLimits } from "../../../../../contract/destinations/destinations.ts";
import { type Actor, serviceItself } from "../../../audit.ts";
import type { AuditLog } from "../../../engine/audit-log.ts";
import { forKeyShare, forUpdate, ids, records } from "../../../engine/dialect.ts";
import { deleteInParts, type Engine } from "../../../engine/engine.ts";
import { integer, part, RowOf, returning, run, select, text, type Work } from "../../../engine/sql.ts";
import {
  type Delivery,
  type DeliveryStore,
  heldNotSent,
  heldSettledNote,
  notSentAgain,
  type OutgoingMessage,
  sentAgainNote,
  type TriedDelivery,
} from "../../../ports/actions/deliveries.ts";
import {
  afterAttempt,
  type Destination,
  destinationDisabledNote,
} from "../../../ports/actions/destinations.ts";
import type { RuleEntity } from "../../../ports/actions/rule-entities.ts";
import { existing } from "../alert-states.ts";
import { claim, isFree } from "./claims.ts";
import { deliveryRow, destinationRow, testDueAtMs } from "./delivery-rows.ts";

const idRow = new RowOf<{ readonly id: number }>({ id: integer() });
const addedRow = new RowOf<Pick<Delivery, "id" | "destination" | "messageId">>({
  id: integer(),
  destination: integer(),
  messageId: text(),
});

const keptMs = destinationLimits.keptDays * 86_400_000;

/** The store of deliveries. */
export function deliveryStore(engine: Engine): DeliveryStore {
  return {
    list: (organization, { destination, messageId, state, limit, before }) =>
      engine.alone(
        select(deliveryRow)`
          FROM deliveries WHERE organization = ${organization}
            ${destination === undefined ? part`` : part`AND destination = ${destination}`}
            ${messageId === undefined ? part`` : part`AND message_id = ${messageId}`}
            ${state === undefined ? part`` : part`AND state = ${state}`}
            ${before === undefined ? part`` : part`AND id < ${before}`}
          ORDER BY id DESC LIMIT ${limit}`,
      ),

    add: async (organization, destination, message, atMs, entities = []) => {
      const nowMs = await engine.sharedNowMs(atMs);
      await engine.transaction(function* () {
        const isThere = yield* existing(organization, entities);
        if (!entities.every(isThere)) return;
        const dueAtMs = message.type === "test" ? testDueAtMs : nowMs;
        yield* addDeliveries(organization, [{ destination, message, dueAtMs, entities }], nowMs);
      });
    },

    claim: async (room, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction(() => claim(room, nowMs));
    },

    tried: async (tried, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      await engine.transaction((audit) => record(audit, tried, nowMs));
    },

    again: async (organization, id, by, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction((audit) => sendAgain(audit, organization, id, by, nowMs));
    },

    settleHeld: async (organization, destination, held, by, atMs) => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction((audit) => settleHeld(audit, { organization, destination, held }, by, nowMs));
    },
  };
}

/** The insertion of a message. Without a destination that gets messages nothing is inserted. */
const insertion = (
  organization: number,
  destination: number,
  { messageId, type, body }: OutgoingMessage,
  dueAtMs: number,
  nowMs: number,
) => part`
    INSERT INTO deliveries (organization, destination, message_id, type, body, state, tries, due_at_ms,
      claimed_until_ms, created_at_ms)
    SELECT CAST(${organization} AS bigint), id, ${messageId}, ${type}, ${body},
      CASE state WHEN 'active' THEN 'pending' ELSE 'held' END, 0, CAST(${dueAtMs} AS bigint), 0, CAST(${nowMs} AS bigint)
    FROM destinations WHERE organization = ${organization} AND id = ${destination} AND state IN ('active', 'paused')
      ${forKeyShare}`;

/** A message for a destination, and the users and accounts that it names. */
export interface NewDelivery {
  readonly destination: number;
  readonly message: OutgoingMessage;
  readonly dueAtMs: number;
  readonly entities: readonly RuleEntity[];
}

/** Adds messages, as `DeliveryStore.add`, in two statements: 20 messages alone took 40. */
export function* addDeliveries(
  organization: number,
  added: readonly NewDelivery[],
  nowMs: number,
): Work<void> {
  if (added.length === 0) return;
  const given = records(
    added.map(({ destination, message: { messageId, type, body }, dueAtMs }) => {
      return { destination, messageId, type, body, dueAtMs };
    }),
    { destination: "bigint", messageId: "text", type: "text", body: "text", dueAtMs: "bigint" },
  );
  const rows = yield* returning(addedRow)`
    INSERT INTO deliveries (organization, destination, message_id, type, body, state, tries, due_at_ms,
      claimed_until_ms, created_at_ms)
    SELECT CAST(${organization} AS bigint), to_send.id, given."messageId", given.type, given.body,
      CASE to_send.state WHEN 'active' THEN 'pending' ELSE 'held' END, 0, given."dueAtMs", 0, CAST(${nowMs} AS bigint)
    FROM ${given} JOIN destinations AS to_send ON to_send.id = given.destination
    WHERE to_send.organization = ${organization} AND to_send.state IN ('active', 'paused')
      ${forKeyShare}
    ON CONFLICT (destination, message_id) DO NOTHING`;
  const keyOf = (destination: number, messageId: string) => JSON.stringify([destination, messageId]);
  const entities = new Map(
    added.map((one) => [keyOf(one.destination, one.message.messageId), one.entities] as const),
  );
  yield* nameEntities(
    organization,
    rows.map(({ id, destination, messageId }) => ({
      delivery: id,
      entities: entities.get(keyOf(destination, messageId)) ?? [],
    })),
  );
}

/** Adds a message, or gives the one with its id this body, as long as no attempt was made. A message that was
 * canceled waits again. One that was dropped is due at another time: then it is a new message.
 * @returns its id. Undefined when an attempt was made, or the destination gets none */
export function* replaceWaiting(
  organization: number,
  destination: number,
  message: OutgoingMessage,
  dueAtMs: number,
  nowMs: number,
): Work<number | undefined> {
  const [replaced] = yield* returning(idRow)`
    ${insertion(organization, destination, message, dueAtMs, nowMs)}
    ON CONFLICT (destination, message_id) DO UPDATE SET body = excluded.body, state = excluded.state,
      due_at_ms = excluded.due_at_ms, created_at_ms = CASE deliveries.due_at_ms
        WHEN excluded.due_at_ms THEN deliveries.created_at_ms ELSE excluded.created_at_ms END
    WHERE deliveries.tries = 0 AND deliveries.claimed_until_ms = 0
      AND deliveries.state IN ('pending', 'held', 'canceled')`;
  if (replaced !== undefined) yield* run`DELETE FROM delivery_entities WHERE delivery = ${replaced.id}`;
  return replaced?.id;
}

/** Remembers the users and accounts that a message names. */
export function* nameEntities(
  organization: number,
  named: readonly { readonly delivery: number; readonly entities: readonly RuleEntity[] }[],
): Work<void> {
  const rows = named.flatMap(({ delivery, entities }) =>
    entities.flatMap((entity) => {
      if (entity.kind === "source") return [];
      const [user, account] = entity.kind === "user" ? [entity.number, 0] : [0, entity.number];
      return [{ delivery, user, account }];
    }),
  );
  if (rows.length === 0) return;
  const given = records(rows, { delivery: "bigint", user: "bigint", account: "bigint" });
  yield* run`
    INSERT INTO delivery_entities (organization, delivery, user_number, account_number)
    SELECT CAST(${organization} AS bigint), delivery, "user", account FROM ${given} WHERE true
    ON CONFLICT DO NOTHING`;
}

/** The id of a message that leaves now. One for the morning gets another id if it was never tried: alerts
 * that come are gathered anew. */
const released = (nowMs: number) => part`
  CASE WHEN type = 'alert.fired' AND due_at_ms > ${nowMs} AND tries = 0 AND claimed_until_ms = 0
    THEN message_id || '_' || CAST(id AS text) ELSE message_id END`;

interface Settled {
  readonly organization: number;
  readonly destination: number;
  readonly held: "send" | "drop";
}

function* settleHeld(
  audit: AuditLog,
  { organization, destination: id, held }: Settled,
  by: Actor,
  nowMs: number,
): Work<number> {
  const [destination] = yield* select(destinationRow)`
    FROM destinations WHERE organization = ${organization} AND id = ${id} ${forUpdate}`;
  if (destination === undefined) return 0;
  if (held === "send" && destination.state !== "active") throw heldNotSent(destination.state);
  const sent = part`state = 'pending', tries = 0, due_at_ms = ${nowMs}, message_id = ${released(nowMs)}`;
  const messages = yield* run`
    UPDATE deliveries SET ${held === "send" ? sent : part`state = 'canceled', due_at_ms = ${nowMs}`}
    WHERE destination = ${id} AND state = 'held'`;
  if (messages > 0) {
    yield* audit.note(organization, heldSettledNote(destination, held, messages), by, nowMs);
  }
  return messages;
}

/** A pending delivery waits for its next attempt, unless it is under way. */
function* sendAgain(
  audit: AuditLog,
  organization: number,
  id: number,
  by: Actor,
  nowMs: number,
): Work<boolean> {
  const [delivery] = yield* select(deliveryRow)`
    FROM deliveries WHERE organization = ${organization} AND id = ${id}`;
  if (delivery === undefined) return false;
  const [destination] = yield* select(destinationRow)`
    FROM destinations WHERE id = ${delivery.destination} ${forUpdate}`;
  if (destination === undefined) return false;
  if (destination.state !== "active") throw notSentAgain(delivery.state, destination.state);
  // An erasure deleted what the message said.
  if (delivery.body === "") throw notSentAgain("canceled", destination.state);
  const changed = yield* run`
    UPDATE deliveries SET state = 'pending', tries = 0, due_at_ms = ${nowMs}, claimed_until_ms = 0,
      message_id = ${released(nowMs)}
    WHERE id = ${id} AND (state IN ('failed', 'delivered') OR (state = 'pending' AND ${isFree(nowMs)}))`;
  if (changed === 0) throw notSentAgain(delivery.state, destination.state);
  yield* audit.note(organization, sentAgainNote(delivery, destination), by, nowMs);
  return true;
}

/** Locks the destinations first, as all changes of them do. */
function* record(audit: AuditLog, all: readonly TriedDelivery[], nowMs: number): Work<void> {
  const destinations = yield* select(destinationRow)`
    FROM destinations WHERE id IN (
      SELECT destination FROM deliveries WHERE id IN (SELECT id FROM ${ids(all.map(({ id }) => id))}))
    ORDER BY id ${forUpdate}`;
  const byId = new Map(destinations.map((destination) => [destination.id, destination]));
  for (const tried of all) {
    const [delivery] = yield* recordOne(tried, nowMs);
    const before = delivery && byId.get(delivery.destination);
    if (before === undefined) continue;
    const after = afterAttempt(before, tried.verdict, nowMs);
    byId.set(after.id, after);
  }
  for (const before of destinations) {
    const after = byId.get(before.id);
    if (after === undefined || after === before) continue;
    yield* run`
      UPDATE destinations SET failing_since_ms = ${after.failingSinceMs}, failed_tries = ${after.failedAttempts},
        delivered_at_ms = ${after.deliveredAtMs}
      WHERE id = ${after.id}`;
    if (after.state !== before.state) yield* disable(audit, after, nowMs);
  }
}

/** An erasure cancels messages and deletes their answers, so none is added after it. */
function recordOne({ id, status, said, verdict }: TriedDelivery, nowMs: number) {
  const dueAtMs = verdict.is === "retry" ? nowMs + verdict.waitMs : nowMs;
  return returning(deliveryRow)`
    UPDATE deliveries SET state = ${stateAfter(verdict)}, tries = tries + 1, due_at_ms = ${dueAtMs},
      claimed_until_ms = 0, tried_at_ms = ${nowMs}, status = ${status},
      said = CASE state WHEN 'canceled' THEN NULL ELSE ${said} END
    WHERE id = ${id} AND state IN ('pending', 'held', 'canceled')`;
}

/** A destination may be paused or disabled, and its messages dropped, while an attempt is under way. */
function stateAfter({ is }: TriedDelivery["verdict"]) {
  if (is === "delivered") return part`'delivered'`;
  return part`CASE state WHEN 'pending' THEN ${is === "retry" ? "pending" : "failed"} ELSE state END`;
}

/** Messages that wait are held, so that nothing is lost when the destination works again. */
function* disable(audit: AuditLog, destination: Destination, nowMs: number): Work<void> {
  const because = destination.stoppedBecause ?? "";
  yield* run`
    UPDATE destinations SET state = 'disabled', stopped_because = ${because}, tell_owners_at_ms = ${nowMs},
      updated_at_ms = ${nowMs}
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
