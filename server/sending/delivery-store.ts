/** Stores deliveries: what waits to be sent, and the log of what was sent. */

import { type DestinationKind, destinationLimits } from "../../contract/destinations/destinations.ts";
import { type Actor, serviceItself } from "../ledger/audit.ts";
import type { AuditLog } from "../ledger/audit-log.ts";
import { forKeyShare, forUpdate, ids, records } from "../ledger/dialect.ts";
import { deleteInParts, type Engine } from "../ledger/engine.ts";
import {
  exists,
  flag,
  integer,
  Json,
  json,
  nullable,
  part,
  RowOf,
  returning,
  run,
  select,
  text,
  type Work,
  word,
} from "../ledger/sql.ts";
import { type EntityNumbers, existing, type RuleEntity } from "../ledger/stores/entity-rows.ts";
import { lockOrganization } from "../ledger/stores/organization-rows.ts";
import { claim, isFree } from "./claims.ts";
import {
  type AboutAlerts,
  type ClaimedDelivery,
  type ClaimRoom,
  type Delivery,
  type DeliveryPage,
  heldNotSent,
  heldSettledNote,
  notSentAgain,
  type OutgoingMessage,
  type RenderedDelivery,
  sentAgainNote,
  type TriedDelivery,
  type UnrenderedDelivery,
} from "./deliveries.ts";
import { deliveryRow, destinationRow, testDueAtMs } from "./delivery-rows.ts";
import { afterAttempt, type Destination, destinationDisabledNote } from "./destinations.ts";

const idRow = new RowOf<Pick<Delivery, "id">>({ id: integer() });
const unrenderedRow = new RowOf<UnrenderedDelivery>({
  id: integer("deliveries.id"),
  organization: integer("deliveries.organization"),
  type: word(),
  about: json(),
  createdAtMs: integer("deliveries.created_at_ms"),
  kind: word(),
  sendsEmails: flag(),
});
/** A message that names a user, and its destination. */
export interface PersonDelivery extends Omit<Delivery, "organization" | "destination" | "said"> {
  readonly destination: string;
  readonly destinationKind: DestinationKind;
}

const personRow = new RowOf<PersonDelivery>({
  id: integer("deliveries.id"),
  destination: text("destinations.name"),
  destinationKind: word("destinations.kind"),
  messageId: text(),
  type: word(),
  body: text(),
  state: word("deliveries.state"),
  attempts: integer("tries"),
  dueAtMs: integer(),
  attemptedAtMs: nullable(integer("tried_at_ms")),
  status: nullable(integer()),
  createdAtMs: integer("deliveries.created_at_ms"),
});
const gatheringRow = new RowOf<Pick<UnrenderedDelivery, "id" | "about">>({ id: integer(), about: json() });

/** The most deliveries of a look. */
const renderedTogether = 200;

const keptMs = destinationLimits.keptDays * 86_400_000;

/** The store of deliveries. Times are by the caller's clock. With PostgreSQL its own clock takes their place,
 * because nodes compare them. */
export function deliveryStore(engine: Engine) {
  return {
    /** The newest first. */
    list: (
      organization: number,
      { destination, messageId, state, limit, before }: DeliveryPage,
    ): Promise<readonly Delivery[]> =>
      engine.alone(
        select(deliveryRow)`
          FROM deliveries WHERE organization = ${organization}
            ${destination === undefined ? part`` : part`AND destination = ${destination}`}
            ${messageId === undefined ? part`` : part`AND message_id = ${messageId}`}
            ${state === undefined ? part`` : part`AND state = ${state}`}
            ${before === undefined ? part`` : part`AND id < ${before}`}
          ORDER BY id DESC LIMIT ${limit}`,
      ),

    /** Adds a message for a destination. Paused destinations hold it; disabled and unconfirmed ones do not
     * get it. A message with the same id that a destination had before is not added again.
     * @param entities the users and accounts that it names: an erasure of one cancels it. It is not added
     * when one of them is gone */
    add: async (
      organization: number,
      destination: number,
      message: OutgoingMessage,
      atMs: number,
      entities: readonly RuleEntity[] = [],
    ): Promise<void> => {
      const nowMs = await engine.sharedNowMs(atMs);
      await engine.transaction(function* () {
        const isThere = yield* existing(organization, entities);
        if (!entities.every(isThere)) return;
        const dueAtMs = message.type === "test" ? testDueAtMs : nowMs;
        const [added] = yield* addDeliveries(organization, [{ destination, message, dueAtMs }], nowMs);
        if (added !== undefined) yield* nameEntities(organization, added.id, entities);
      });
    },

    /** Messages that name a user, those that wait among them, in the order of their ids. A body may name
     * other users, too. @param after only ids above it */
    ofUser: (
      organization: number,
      user: number,
      after: number,
      limit: number,
    ): Promise<readonly PersonDelivery[]> =>
      engine.alone(select(personRow)`
        FROM deliveries JOIN destinations ON destinations.id = deliveries.destination
        WHERE deliveries.organization = ${organization} AND deliveries.id > ${after} AND deliveries.id IN (
          SELECT delivery FROM delivery_entities
          WHERE organization = ${organization} AND user_number = ${user} AND account_number = 0)
        ORDER BY deliveries.id LIMIT ${limit}`),

    /** Due deliveries without a body, of all organizations, in the order of their ids.
     * @param after only ids above it */
    // The plus keeps SQLite from the order of ids: it would read all messages of 30 days.
    toRender: async (after: number, atMs: number): Promise<readonly UnrenderedDelivery[]> => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.alone(select(unrenderedRow)`
        FROM deliveries JOIN destinations ON destinations.id = deliveries.destination
        WHERE deliveries.state = 'pending' AND due_at_ms <= ${nowMs} AND body = '' AND deliveries.id > ${after}
        ORDER BY +deliveries.id LIMIT ${renderedTogether}`);
    },

    /** Keeps bodies for all attempts. A delivery to which alerts were added meanwhile, or of which somebody
     * was erased, is left for the next look. */
    freeze: (organization: number, rendered: readonly RenderedDelivery[]): Promise<void> =>
      engine.transaction(() => freeze(organization, rendered)),

    /** Deliveries that are due and have a body, for 60 s: no other process gets them meanwhile. A claim that
     * ends later is over, because the clock was ahead. Those of destinations that do not fail come first. */
    claim: async (room: ClaimRoom, atMs: number): Promise<readonly ClaimedDelivery[]> => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction(() => claim(room, nowMs));
    },

    /** Records attempts in one commit. A failed one may disable the destination, which cancels nothing: its
     * messages are held. A delivery that was held or dropped meanwhile is delivered if the receiver has it.
     * Otherwise its state stays. */
    tried: async (tried: readonly TriedDelivery[], atMs: number): Promise<void> => {
      const nowMs = await engine.sharedNowMs(atMs);
      await engine.transaction((audit) => record(audit, tried, nowMs));
    },

    /** Sends a delivery again, now. The entry in the audit log is in the same commit.
     * @returns false when the organization has no such delivery
     * @throws ApiError (conflict) when it is held, canceled or under way, or its destination is not active */
    again: async (organization: number, id: number, by: Actor, atMs: number): Promise<boolean> => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction((audit) => sendAgain(audit, organization, id, by, nowMs));
    },

    /** Sends or drops the held messages of a destination. Those that are sent have all attempts again. The
     * entry in the audit log is in the same commit. Without messages there is none.
     * @returns the number of messages
     * @throws ApiError (conflict) when they are to be sent and the destination is not active */
    settleHeld: async (
      organization: number,
      destination: number,
      held: "send" | "drop",
      by: Actor,
      atMs: number,
    ): Promise<number> => {
      const nowMs = await engine.sharedNowMs(atMs);
      return engine.transaction((audit) => settleHeld(audit, { organization, destination, held }, by, nowMs));
    },
  };
}

export type DeliveryStore = ReturnType<typeof deliveryStore>;

/** A message for a destination. */
export interface NewDelivery {
  readonly destination: number;
  readonly message: OutgoingMessage;
  /** What it is about, if it has no body yet. */
  readonly about?: AboutAlerts;
  readonly dueAtMs: number;
}

/** Adds messages, as `DeliveryStore.add`. @returns the ids of those that were not there */
export function* addDeliveries(
  organization: number,
  added: readonly NewDelivery[],
  nowMs: number,
): Work<readonly Pick<Delivery, "id">[]> {
  if (added.length === 0) return [];
  const given = records(
    added.map(({ destination, message: { messageId, type, body }, about, dueAtMs }) => {
      return { destination, messageId, type, body, about: about && JSON.stringify(about), dueAtMs };
    }),
    {
      destination: "bigint",
      messageId: "text",
      type: "text",
      body: "text",
      about: "text",
      dueAtMs: "bigint",
    },
  );
  return yield* returning(idRow)`
    INSERT INTO deliveries (organization, destination, message_id, type, body, about, state, tries, due_at_ms,
      claimed_until_ms, created_at_ms)
    SELECT CAST(${organization} AS bigint), to_send.id, given."messageId", given.type, given.body, given.about,
      CASE to_send.state WHEN 'active' THEN 'pending' ELSE 'held' END, 0, given."dueAtMs", 0, CAST(${nowMs} AS bigint)
    FROM ${given} JOIN destinations AS to_send ON to_send.id = given.destination
    WHERE to_send.organization = ${organization} AND to_send.state IN ('active', 'paused')
      ${forKeyShare}
    ON CONFLICT (destination, message_id) DO NOTHING`;
}

/** Adds alerts to the message with this id. @returns false without such a message, and if it has a body or
 * waits no more */
export function* gather(
  { destination, message: { messageId } }: NewDelivery,
  { alerts, total, ...about }: AboutAlerts,
): Work<boolean> {
  const [waiting] = yield* select(gatheringRow)`
    FROM deliveries WHERE destination = ${destination} AND message_id = ${messageId} AND body = ''
      AND about IS NOT NULL AND state IN ('pending', 'held') ${forUpdate}`;
  if (waiting === undefined) return false;
  const before = waiting.about;
  // An account that loses its last owner twice on a day has one alert.
  const all = new Set([...before.alerts, ...alerts]);
  const known = before.alerts.length + alerts.length - all.size;
  const after = { ...about, alerts: [...all], total: before.total + total - known };
  yield* run`UPDATE deliveries SET about = ${Json.of(after)} WHERE id = ${waiting.id}`;
  return true;
}

/** The lock comes first, as in decisions and erasures. */
function* freeze(organization: number, rendered: readonly RenderedDelivery[]): Work<void> {
  yield* lockOrganization(organization);
  const isThere = yield* existing(
    organization,
    rendered.flatMap(({ entities }) => entities),
  );
  for (const { id, about, body, entities } of rendered) {
    if (!entities.every(isThere)) continue;
    const frozen = yield* run`
      UPDATE deliveries SET body = ${body ?? ""}, state = ${body === null ? "canceled" : "pending"}
      WHERE id = ${id} AND organization = ${organization} AND body = '' AND state = 'pending'
        AND about = ${Json.of(about)}`;
    if (frozen > 0) yield* nameEntities(organization, id, entities);
  }
}

/** Remembers the users and accounts that a message names. */
function* nameEntities(organization: number, delivery: number, entities: readonly RuleEntity[]): Work<void> {
  const rows = entities.flatMap((entity) => {
    if (entity.kind === "source") return [];
    const [user, account] = entity.kind === "user" ? [entity.number, 0] : [0, entity.number];
    return [{ delivery, user, account }];
  });
  if (rows.length === 0) return;
  const given = records(rows, { delivery: "bigint", user: "bigint", account: "bigint" });
  yield* run`
    INSERT INTO delivery_entities (organization, delivery, user_number, account_number)
    SELECT CAST(${organization} AS bigint), delivery, "user", account FROM ${given} WHERE true
    ON CONFLICT DO NOTHING`;
}

/** The id of a message that leaves or is dropped now. One for the morning gets another id if it was never
 * tried: alerts that come are gathered anew. */
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
  const messages = yield* run`
    UPDATE deliveries SET message_id = ${released(nowMs)}, due_at_ms = ${nowMs},
      ${held === "send" ? part`state = 'pending', tries = 0` : part`state = 'canceled'`}
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
  // An erasure deleted what the message said, and it is about no alerts.
  const isErased = yield* exists`FROM deliveries WHERE id = ${id} AND body = '' AND about IS NULL`;
  if (isErased) throw notSentAgain("canceled", destination.state);
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

/** An erasure deletes bodies and answers, so no answer is added after it. */
function recordOne({ id, status, said, verdict }: TriedDelivery, nowMs: number) {
  const dueAtMs = verdict.is === "retry" ? nowMs + verdict.waitMs : nowMs;
  return returning(deliveryRow)`
    UPDATE deliveries SET state = ${stateAfter(verdict)}, tries = tries + 1, due_at_ms = ${dueAtMs},
      claimed_until_ms = 0, tried_at_ms = ${nowMs}, status = ${status},
      said = CASE WHEN state = 'canceled' OR body = '' THEN NULL ELSE ${said} END
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

/** Deletes the bodies and answers of messages that name an erased user or account. Those about alerts are
 * rendered again for their next attempt, without it. Others that wait are canceled. */
export function* forgetInMessages(organization: number, { user, account }: EntityNumbers): Work<void> {
  const ofEntity = part`organization = ${organization} AND user_number = ${user} AND account_number = ${account}`;
  yield* run`
    UPDATE deliveries SET body = '', said = NULL,
      state = CASE WHEN about IS NULL AND state IN ('pending', 'held') THEN 'canceled' ELSE state END
    WHERE id IN (SELECT delivery FROM delivery_entities WHERE ${ofEntity})`;
  yield* run`DELETE FROM delivery_entities WHERE ${ofEntity}`;
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
