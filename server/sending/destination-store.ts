/** Stores destinations. */

import type { AuditAction } from "../../contract/audit.ts";
import { isOwnDigestName } from "../../contract/destinations/destinations.ts";
import type { JsonObject } from "../../contract/json.ts";
import { type Actor, serviceItself } from "../ledger/audit.ts";
import type { AuditLog } from "../ledger/audit-log.ts";
import { forUpdate } from "../ledger/dialect.ts";
import type { Engine } from "../ledger/engine.ts";
import {
  exists,
  integer,
  Json,
  json,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../ledger/sql.ts";
import { hashCode, newCode } from "../ledger/stores/members.ts";
import { lockKnownOrganization, lockOrganization } from "../ledger/stores/organization-rows.ts";
import { destinationColumns, destinationRow } from "./delivery-rows.ts";
import { holdPending } from "./delivery-store.ts";
import {
  type ChangedDestination,
  changedFields,
  type Destination,
  type DestinationChange,
  type DestinationWithCounts,
  destinationAgreedNote,
  destinationAskedNote,
  destinationChangedNote,
  destinationCreatedNote,
  destinationDeletedNote,
  destinationDisabledNote,
  destinationNameTaken,
  destinationPausedNote,
  elsewhere,
  mustAgree,
  type NewDestination,
  notAgreed,
  notSigned,
  refuseTooManyAsked,
  refuseTooManyDestinations,
  refuseTooManyOwnChanges,
  unsubscribed,
} from "./destinations.ts";

const messages = (state: "pending" | "held") =>
  integer(`(SELECT count(*) FROM deliveries WHERE destination = destinations.id AND state = '${state}')`);

const withCounts = new RowOf<DestinationWithCounts>({
  ...destinationColumns,
  pending: messages("pending"),
  held: messages("held"),
});
const idRow = new RowOf<Pick<Destination, "id">>({ id: integer() });

const detailRow = new RowOf<{ readonly detail: JsonObject }>({ detail: json() });
const nameRow = new RowOf<Pick<Destination, "name">>({ name: text() });

/** The store of destinations. Every change and its entry in the audit log are one commit. */
export function destinationStore(engine: Engine) {
  return {
    /** By name. */
    list: (organization: number): Promise<readonly DestinationWithCounts[]> =>
      engine.alone(select(withCounts)`FROM destinations WHERE organization = ${organization} ORDER BY name`),

    /** Destinations of all organizations that get messages about a whole organization, disabled and
     * unconfirmed ones left out. */
    asking: (): Promise<readonly DestinationWithCounts[]> =>
      engine.alone(
        select(withCounts)`
          FROM destinations WHERE notices != '[]' AND state IN ('active', 'paused') ORDER BY organization, id`,
      ),

    /** Destinations of all organizations that failures have disabled and whose owners are to be told. Each is
     * given out again every ten minutes, for two days after it was disabled. */
    claimUntold: async (nowMs: number): Promise<readonly DestinationWithCounts[]> =>
      (await engine.alone(exists`FROM destinations WHERE ${isToTell(nowMs)}`))
        ? engine.transaction(() => claimUntold(nowMs))
        : [],

    /** The owners know. A change of a disabled destination says so, too. */
    told: async (id: number): Promise<void> => {
      await engine.alone(run`UPDATE destinations SET tell_owners_at_ms = NULL WHERE id = ${id}`);
    },

    find: (organization: number, id: number): Promise<DestinationWithCounts | undefined> =>
      engine.alone(find(organization, id)),

    /** The recipient of e-mail has to agree.
     * @throws Refusal when another destination has the name, there are too many, or there is no such
     * organization
     * @throws ApiError (rate_limit_exceeded) when too many recipients were asked to agree within a day */
    add: (
      organization: number,
      { kind, name, address, secrets, notices, sendsEmails = false }: NewDestination,
      by: Actor,
      nowMs: number,
    ): Promise<DestinationWithCounts> =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        if (!isOwnDigestName(name)) yield* refuseTooMany(organization);
        yield* refuseName(organization, name);
        const { id } = yield* returningOne(idRow)`
          INSERT INTO destinations (organization, kind, name, address, secrets, notices, sends_emails, state, failed_tries,
            created_at_ms, updated_at_ms)
          VALUES (${organization}, ${kind}, ${name}, ${address}, ${Json.of(secrets)}, ${Json.of(notices)}, ${sendsEmails ? 1 : 0},
            ${kind === "email" ? "unconfirmed" : "active"}, 0, ${nowMs}, ${nowMs})`;
        yield* audit.note(organization, destinationCreatedNote({ id, kind, name }), by, nowMs);
        const added = yield* findAdded(organization, id);
        if (kind === "email") yield* noteAsked(audit, added, by, nowMs);
        return added;
      }),

    /** Changes the given fields. Without a difference nothing is written, and the log has no entry. A
     * destination that becomes active begins without failures. The recipient of e-mail has to agree to
     * another address, and before a disabled destination starts again. An unconfirmed one with the same
     * address gets a new code, too.
     * @returns undefined when the organization has no such destination
     * @throws Refusal when another destination has the name
     * @throws ApiError (conflict) when a state was given before the recipient agreed, otherwise as `add`.
     * ApiError (rate_limit_exceeded) also when the period of a member's own digest was changed too often
     * within a day */
    change: (
      organization: number,
      id: number,
      wanted: DestinationChange,
      by: Actor,
      nowMs: number,
    ): Promise<ChangedDestination | undefined> =>
      engine.transaction((audit) => change(audit, { organization, id }, wanted, by, nowMs)),

    /** Signs messages of a webhook with a new secret beside the one before. An older one ends.
     * @returns false when the organization has no such destination
     * @throws ApiError (conflict) when it is no webhook */
    addSecret: (
      organization: number,
      id: number,
      secret: string,
      by: Actor,
      nowMs: number,
    ): Promise<boolean> =>
      engine.transaction((audit) => addSecret(audit, { organization, id }, secret, by, nowMs)),

    /** The recipient of an e-mail destination agrees, by the code that only a mail to the address has.
     * @returns undefined when there is no such destination with this code */
    agree: (id: number, code: string, nowMs: number): Promise<Destination | undefined> =>
      engine.transaction(function* (audit) {
        const found = yield* findByCode(id, code);
        if (found?.state !== "unconfirmed") return found;
        const after: Destination = { ...found, state: "active" };
        yield* write(id, after, nowMs);
        yield* audit.note(found.organization, destinationAgreedNote(found), serviceItself, nowMs);
        return after;
      }),

    /** The recipient unsubscribes: the destination is disabled. @returns as `agree` */
    unsubscribe: (id: number, code: string, nowMs: number): Promise<Destination | undefined> =>
      engine.transaction((audit) => unsubscribe(audit, id, code, nowMs)),

    /** Its deliveries go with it. @returns false when the organization has no such destination */
    remove: (organization: number, id: number, by: Actor, nowMs: number): Promise<boolean> =>
      engine.transaction((audit) => remove(audit, { organization, id }, by, nowMs)),
  };
}

export type DestinationStore = ReturnType<typeof destinationStore>;

function* refuseTooMany(organization: number): Work<void> {
  const there = yield* select(nameRow)`FROM destinations WHERE organization = ${organization}`;
  refuseTooManyDestinations(there.map(({ name }) => name));
}

function* claimUntold(nowMs: number): Work<readonly DestinationWithCounts[]> {
  const untold = yield* select(withCounts)`
    FROM destinations WHERE ${isToTell(nowMs)} ORDER BY id ${forUpdate}`;
  for (const { id } of untold) {
    yield* run`UPDATE destinations SET tell_owners_at_ms = ${nowMs + toldAgainMs} WHERE id = ${id}`;
  }
  return untold;
}

/** A time that is too far ahead is of a clock that was ahead. */
const isToTell = (nowMs: number) =>
  part`(tell_owners_at_ms <= ${nowMs} OR tell_owners_at_ms > ${nowMs + toldAgainMs})
    AND updated_at_ms > ${nowMs - toldForMs}`;

const toldAgainMs = 10 * 60_000;
const toldForMs = 2 * 86_400_000;

function* change(
  audit: AuditLog,
  { organization, id }: Pick<Destination, "organization" | "id">,
  wanted: DestinationChange,
  by: Actor,
  nowMs: number,
): Work<ChangedDestination | undefined> {
  const before = yield* lock(organization, id);
  if (before === undefined) return undefined;
  if (before.state === "unconfirmed" && wanted.state !== undefined) throw notAgreed();
  if (wanted.name !== undefined && wanted.name !== before.name) yield* refuseName(organization, wanted.name);
  const isAsked = mustAgree(before, wanted);
  const wholly = changed(before, wanted, isAsked);
  const fields = changedFields(before, wanted, wholly);
  if (isAsked || fields.length > 0) yield* write(id, wholly, nowMs);
  if (wanted.state === "paused") yield* holdPending(id);
  if (fields.length > 0) {
    if (fields.includes("notices")) yield* refuseOwnChanges(before, nowMs);
    const note = destinationChangedNote(before, wholly.name, fields);
    yield* audit.note(organization, note, by, nowMs);
  }
  const after = yield* findAdded(organization, id);
  if (isAsked) yield* noteAsked(audit, after, by, nowMs);
  return { ...after, mustAgree: isAsked };
}

function* refuseOwnChanges({ organization, name }: Destination, nowMs: number): Work<void> {
  if (!isOwnDigestName(name)) return;
  const notes = yield* notesOfDay(organization, "destination.changed", nowMs);
  const own = notes.filter(({ to, fields }) => to === name && Bun.deepEquals(fields, ["notices"]));
  refuseTooManyOwnChanges(own.length);
}

function* addSecret(
  audit: AuditLog,
  { organization, id }: Pick<Destination, "organization" | "id">,
  secret: string,
  by: Actor,
  nowMs: number,
): Work<boolean> {
  const before = yield* lock(organization, id);
  if (before === undefined) return false;
  if (before.kind !== "webhook") throw notSigned();
  const secrets = [secret, ...before.secrets.slice(0, 1)];
  yield* write(id, { ...before, secrets }, nowMs);
  yield* audit.note(organization, destinationChangedNote(before, before.name, ["secrets"]), by, nowMs);
  return true;
}

function* unsubscribe(
  audit: AuditLog,
  id: number,
  code: string,
  nowMs: number,
): Work<Destination | undefined> {
  const found = yield* findByCode(id, code);
  if (found === undefined || found.state === "disabled") return found;
  const after: Destination = { ...found, state: "disabled", stoppedBecause: unsubscribed };
  yield* write(id, after, nowMs);
  yield* holdPending(id);
  const note = destinationDisabledNote(found, unsubscribed);
  yield* audit.note(found.organization, note, serviceItself, nowMs);
  return after;
}

function* remove(
  audit: AuditLog,
  { organization, id }: Pick<Destination, "organization" | "id">,
  by: Actor,
  nowMs: number,
): Work<boolean> {
  yield* lockOrganization(organization);
  const before = yield* find(organization, id);
  if (before === undefined) return false;
  yield* run`DELETE FROM destinations WHERE id = ${id}`;
  yield* audit.note(organization, destinationDeletedNote(before), by, nowMs);
  return true;
}

/** A copy sends nothing before an owner allows it, no mail to owners either. @returns how many destinations
 * were active */
/** Pauses every active destination: two installations must not send the same messages. @returns how many */
export function* pauseAll(audit: AuditLog, nowMs: number): Work<number> {
  yield* run`UPDATE destinations SET tell_owners_at_ms = NULL WHERE tell_owners_at_ms IS NOT NULL`;
  const active = yield* select(destinationRow)`FROM destinations WHERE state = 'active' ${forUpdate}`;
  for (const destination of active) {
    yield* write(destination.id, { ...destination, state: "paused", stoppedBecause: elsewhere }, nowMs);
    yield* holdPending(destination.id);
    const note = destinationPausedNote(destination, elsewhere);
    yield* audit.note(destination.organization, note, serviceItself, nowMs);
  }
  return active.length;
}

/** The entry of a mail that asks to agree, as far as the organization may send one. */
function* noteAsked(audit: AuditLog, destination: Destination, by: Actor, nowMs: number): Work<void> {
  const { organization } = destination;
  const asked = yield* notesOfDay(organization, "destination.asked", nowMs);
  refuseTooManyAsked(
    destination.name,
    asked.map(({ name }) => String(name)),
  );
  yield* audit.note(organization, destinationAskedNote(destination), by, nowMs);
}

/** The details of such entries of the audit log within a day. */
function* notesOfDay(organization: number, action: AuditAction, nowMs: number): Work<readonly JsonObject[]> {
  const rows = yield* select(detailRow)`
    FROM audit_log WHERE organization = ${organization} AND action = ${action} AND at_ms > ${nowMs - dayMs}`;
  return rows.map(({ detail }) => detail);
}

const dayMs = 86_400_000;

/** A destination that starts begins without failures. */
function changed(before: Destination, change: DestinationChange, isAsked: boolean): Destination {
  const after = { ...before, ...change };
  const fresh = { ...after, stoppedBecause: null, failingSinceMs: null, failedAttempts: 0 };
  if (isAsked) return { ...fresh, state: "unconfirmed", secrets: [newCode().code] };
  if (change.state === "active") return fresh;
  return change.state === "paused" ? { ...after, stoppedBecause: null } : after;
}

function write(id: number, after: Destination, nowMs: number) {
  const { name, address, secrets, notices, sendsEmails, state, stoppedBecause } = after;
  const { failingSinceMs, failedAttempts } = after;
  return run`
    UPDATE destinations SET name = ${name}, address = ${address}, secrets = ${Json.of(secrets)},
      notices = ${Json.of(notices)}, sends_emails = ${sendsEmails ? 1 : 0}, state = ${state}, stopped_because = ${stoppedBecause},
      failing_since_ms = ${failingSinceMs}, failed_tries = ${failedAttempts}, tell_owners_at_ms = NULL,
      updated_at_ms = ${nowMs}
    WHERE id = ${id}`;
}

function* find(organization: number, id: number): Work<DestinationWithCounts | undefined> {
  const [row] = yield* select(withCounts)`
    FROM destinations WHERE organization = ${organization} AND id = ${id}`;
  return row;
}

/** Locks the organization and its destination until the commit: its recipient may agree or unsubscribe at the
 * same time. */
function* lock(organization: number, id: number): Work<Destination | undefined> {
  yield* lockOrganization(organization);
  const [row] = yield* select(destinationRow)`
    FROM destinations WHERE organization = ${organization} AND id = ${id} ${forUpdate}`;
  return row;
}

function* findByCode(id: number, code: string): Work<Destination | undefined> {
  const [row] = yield* select(
    destinationRow,
  )`FROM destinations WHERE id = ${id} AND kind = 'email' ${forUpdate}`;
  return row !== undefined && hashCode(row.secrets[0] ?? "") === hashCode(code) ? row : undefined;
}

function* findAdded(organization: number, id: number): Work<DestinationWithCounts> {
  const found = yield* find(organization, id);
  if (found === undefined) throw new Error("A destination that was just written is not there.");
  return found;
}

function* refuseName(organization: number, name: string): Work<void> {
  const isTaken = yield* exists`FROM destinations WHERE organization = ${organization} AND name = ${name}`;
  if (isTaken) throw destinationNameTaken(name);
}
