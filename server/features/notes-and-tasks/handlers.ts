/** Notes and tasks about users and accounts, and their owners. The right to read shows them. Changes need the
 * right to manage. */

import { errorMessages } from "../../../contract/errors.ts";
import { churnReasonTrait, ownerTrait, workLimits } from "../../../contract/notes-and-tasks.ts";
import { ApiError, noSuch } from "../../../contract/refusal.ts";
import { formatDay, parseDay } from "../../calendar/days.ts";
import { instant, instantOrNull } from "../../calendar/instant.ts";
import { zoneOf } from "../../calendar/zone.ts";
import type { Place } from "../../http/api/gate.ts";
import type { IntakeHandlers, IntakeParts } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import { whenTaken } from "../../http/api/taken.ts";
import { changeTrait } from "../../intake/change-trait.ts";
import { errorOf } from "../../intake/decide/requests.ts";
import type { AuditNote } from "../../ledger/audit.ts";
import {
  type EntityNumbers,
  type EntityRef,
  type NamedPerson,
  numberOf,
} from "../../ledger/stores/entity-rows.ts";
import type { Organization } from "../../ledger/stores/organization-rows.ts";
import type { Note } from "./notes.ts";
import type { Task } from "./tasks.ts";
import { tasksOfSegment } from "./tasks-of-segment.ts";

/** The entry of another owner. @param owner the team member's name; null: nobody */
export function ownerNote(entity: EntityNumbers, owner: NamedPerson | null): AuditNote {
  const whose = entity.user > 0 ? "a user" : "an account";
  return {
    action: "owner.changed",
    summary: owner === null ? `Took away the owner of ${whose}` : `Made ${owner.name} the owner of ${whose}`,
    detail: { ...numberOf(entity), owner: owner?.id ?? null },
  };
}

/** The entry of another churn reason, without the reason: it may name a person. */
function churnReasonNote(entity: EntityNumbers): AuditNote {
  return {
    action: "churn_reason.changed",
    summary: `Changed the churn reason of ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { ...numberOf(entity) },
  };
}

export const noteHandlers = {
  "GET /api/users/:userId/notes": (context) => notesOf(context, { kind: "user", id: context.path.userId }),
  "GET /api/accounts/:accountId/notes": (context) =>
    notesOf(context, { kind: "account", id: context.path.accountId }),
  "POST /api/users/:userId/notes": (context) => addNote(context, { kind: "user", id: context.path.userId }),
  "POST /api/accounts/:accountId/notes": (context) =>
    addNote(context, { kind: "account", id: context.path.accountId }),

  "PATCH /api/notes/:id": async ({ ledger, place: { organization, actor }, path, body, nowMs }) => {
    const text = noteText(body.text);
    const note = await ledger.notes.change(organization.id, idIn(path.id, "note"), text, actor, nowMs);
    if (note === undefined) throw noSuch("note");
    return { answer: noteAnswer(note) };
  },

  "DELETE /api/notes/:id": async ({ ledger, place: { organization, actor }, path, nowMs }) => {
    const isGone = await ledger.notes.remove(organization.id, idIn(path.id, "note"), actor, nowMs);
    if (!isGone) throw noSuch("note");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

export const taskHandlers = {
  "GET /api/users/:userId/tasks": (context) => tasksOf(context, { kind: "user", id: context.path.userId }),
  "GET /api/accounts/:accountId/tasks": (context) =>
    tasksOf(context, { kind: "account", id: context.path.accountId }),
  "POST /api/users/:userId/tasks": (context) => addTask(context, { kind: "user", id: context.path.userId }),
  "POST /api/accounts/:accountId/tasks": (context) =>
    addTask(context, { kind: "account", id: context.path.accountId }),

  "GET /api/tasks": async ({ ledger, analysis, place, query, nowMs }) => {
    const { list, segment, limit, offset } = query;
    const today = todayOf(place.organization, nowMs);
    const assignee = query.assignee === undefined ? undefined : personOf(query.assignee, place);
    const filter = { list, today, assignee };
    const among = segment === undefined ? undefined : await tasksOfSegment(analysis, place, segment, filter);
    const question = { ...filter, among, limit, offset };
    const { total, tasks } = await ledger.tasks.list(place.organization.id, question);
    return { answer: { total, tasks: tasks.map((task) => taskAnswer(task, today)) } };
  },

  "PATCH /api/tasks/:id": async ({ ledger, place: { organization, actor }, path, body, nowMs }) => {
    const { title, due, assignee, isDone } = body;
    const change = {
      ...(title !== undefined && { title: title.trim() }),
      ...(due !== undefined && { dueDay: dayOf(due) }),
      ...(assignee !== undefined && { assignee }),
      ...(isDone !== undefined && { isDone }),
    };
    const task = await ledger.tasks.change(organization.id, idIn(path.id, "task"), change, actor, nowMs);
    if (task === undefined) throw noSuch("task");
    return { answer: taskAnswer(task, todayOf(organization, nowMs)) };
  },

  "DELETE /api/tasks/:id": async ({ ledger, place: { organization, actor }, path, nowMs }) => {
    const isGone = await ledger.tasks.remove(organization.id, idIn(path.id, "task"), actor, nowMs);
    if (!isGone) throw noSuch("task");
    return {};
  },
} satisfies Partial<IntakeHandlers>;

export const ownerHandlers = {
  "PATCH /api/users/:userId/owner": (context) => setOwner(context, { kind: "user", id: context.path.userId }),
  "PATCH /api/accounts/:accountId/owner": (context) =>
    setOwner(context, { kind: "account", id: context.path.accountId }),
  "PATCH /api/users/:userId/churn-reason": (context) =>
    setChurnReason(context, { kind: "user", id: context.path.userId }),
  "PATCH /api/accounts/:accountId/churn-reason": (context) =>
    setChurnReason(context, { kind: "account", id: context.path.accountId }),
} satisfies Partial<IntakeHandlers>;

type Ledger = Pick<IntakeParts, "ledger">;
type Setting<Body> = Changing<Body> & Pick<IntakeParts, "intake">;
/** A change by a team member. */
interface Changing<Body> extends Ledger {
  readonly place: Place;
  readonly body: Body;
  readonly nowMs: number;
}

async function notesOf(
  {
    ledger,
    place,
    query,
  }: Ledger & { readonly place: Place; readonly query: { readonly limit: number; readonly before?: number } },
  entity: EntityRef,
) {
  const notes = await ledger.notes.ofEntity(place.organization.id, entity, query);
  return { answer: { notes: notes.map(noteAnswer) } };
}

async function addNote(
  { ledger, place, body, nowMs }: Changing<{ readonly text: string }>,
  entity: EntityRef,
) {
  const { organization, actor } = place;
  const note = await ledger.notes.add(organization.id, entity, noteText(body.text), actor, nowMs);
  if (note === undefined) throw notFound(entity);
  return { answer: noteAnswer(note) };
}

async function tasksOf(
  { ledger, place, nowMs }: Ledger & { readonly place: Place; readonly nowMs: number },
  entity: EntityRef,
) {
  const tasks = await ledger.tasks.ofEntity(place.organization.id, entity);
  const today = todayOf(place.organization, nowMs);
  return { answer: { tasks: tasks.map((task) => taskAnswer(task, today)) } };
}

interface TaskBody {
  readonly title: string;
  readonly due?: string | null;
  readonly assignee?: number | null;
}

async function addTask({ ledger, place, body, nowMs }: Changing<TaskBody>, entity: EntityRef) {
  const { organization, actor } = place;
  const { title, due = null, assignee = null } = body;
  const wanted = { title: title.trim(), dueDay: dayOf(due), assignee };
  const task = await ledger.tasks.add(organization.id, entity, wanted, actor, nowMs);
  if (task === undefined) throw notFound(entity);
  return { answer: taskAnswer(task, todayOf(organization, nowMs)) };
}

/** @throws ApiError for an unknown entity or person, and while nothing is taken */
async function setOwner(context: Setting<{ readonly owner: number | null }>, entity: EntityRef) {
  const { ledger, place, body } = context;
  const owner = body.owner === null ? null : await memberWith(ledger, place.organization.id, body.owner);
  const chosen = { trait: ownerTrait, value: owner?.email ?? null };
  return setTrait(context, entity, { ...chosen, note: (numbers) => ownerNote(numbers, owner) });
}

/** @throws ApiError for an unknown entity, and while nothing is taken */
function setChurnReason(context: Setting<{ readonly reason: string | null }>, entity: EntityRef) {
  const value = context.body.reason?.trim() ?? null;
  return setTrait(context, entity, { trait: churnReasonTrait, value, note: churnReasonNote });
}

async function setTrait(
  { ledger, intake, place, nowMs }: Setting<unknown>,
  entity: EntityRef,
  chosen: Pick<Parameters<typeof changeTrait>[1], "trait" | "value" | "note">,
) {
  const { organization, actor: by } = place;
  const zone = zoneOf(organization.timezone);
  const whole = { ...chosen, organization: organization.id, zone, entity, by, nowMs };
  const outcome = await whenTaken({ intake }, organization, () => changeTrait(ledger, whole));
  if (outcome === "not_found") throw notFound(entity);
  const error = errorOf(outcome);
  if (error !== undefined) throw new ApiError(error.name, error.message);
  return {};
}

async function memberWith(
  ledger: Ledger["ledger"],
  organization: number,
  id: number,
): Promise<NamedPerson & { readonly email: string }> {
  const member = (await ledger.members.list(organization)).find((one) => one.id === id);
  if (member !== undefined) return member;
  throw new ApiError(
    "validation_error",
    `${ownerTrait} is not valid: send the id of a team member, or null.`,
  );
}

/** The error of a path with an unknown user or account. */
export function notFound({ kind }: EntityRef): ApiError {
  return new ApiError(
    "not_found",
    kind === "user" ? errorMessages.userNotFound : errorMessages.accountNotFound,
  );
}

/** @throws ApiError for a text that nothing can be seen of */
function noteText(text: string): string {
  const trimmed = text.trim();
  if (trimmed !== "") return trimmed;
  throw new ApiError("validation_error", `text is empty: send 1 to ${workLimits.noteCharacters} characters.`);
}

/** @throws ApiError for a day that is in no calendar */
function dayOf(due: string | null): number | null {
  if (due === null) return null;
  const day = parseDay(due);
  if (day !== undefined) return day;
  throw new ApiError("validation_error", "due is not valid: send a date such as 2027-03-31, or null.");
}

/** @throws ApiError when a read key asks for its own */
function personOf(assignee: string, { actor }: Place): number | null {
  if (assignee === "nobody") return null;
  if (assignee !== "me") return Number(assignee);
  if (actor.person !== null) return actor.person.id;
  throw new ApiError("validation_error", "assignee is not valid: a read key has no `me`, so send an id.");
}

function todayOf({ timezone }: Organization, nowMs: number): number {
  return zoneOf(timezone).dayOf(nowMs);
}

function noteAnswer({ createdAtMs, updatedAtMs, ...note }: Note) {
  return { ...note, createdAt: instant(createdAtMs), updatedAt: instant(updatedAtMs) };
}

function taskAnswer({ dueDay, createdAtMs, updatedAtMs, doneAtMs, ...task }: Task, today: number) {
  return {
    ...task,
    due: dueDay === null ? null : formatDay(dueDay),
    isOverdue: doneAtMs === null && dueDay !== null && dueDay < today,
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
    doneAt: instantOrNull(doneAtMs),
  };
}
