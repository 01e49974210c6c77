/** Notes and tasks as rows of exports. */

import { type TaskList, workLimits } from "../../../contract/notes-and-tasks.ts";
import { formatDay } from "../../calendar/days.ts";
import { instant } from "../../calendar/instant.ts";
import { type Actor, type AuditNote, authorOf } from "../../ledger/audit.ts";
import type { AuditLog } from "../../ledger/audit-log.ts";
import type { Engine } from "../../ledger/engine.ts";
import type { ExportedRow, ExportedRows, ExportedUser, SharedFeatureStores } from "../../ledger/feature.ts";
import {
  count,
  exists,
  type Fragment,
  integer,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
} from "../../ledger/sql.ts";
import {
  type EntitiesByNumber,
  type EntityNumbers,
  type EntityOfRow,
  type EntityRef,
  entityColumns,
  entityOf,
  exportedAuthor,
  exportedEntity,
  exportedEntityColumns,
  findEntities,
  isAmong,
  isAmongEach,
  isOfEntity,
  lockEntity,
  type NamedEntity,
  type NamedPerson,
  namedEntity,
  namedPerson,
  nameOf,
  numberOf,
  refuseStranger,
  tooManyOfThem,
} from "../../ledger/stores/entity-rows.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";

export interface Task {
  readonly id: number;
  readonly entity: NamedEntity;
  readonly title: string;
  /** Days since 1970-01-01, of the organization's timezone. Null: any day. */
  readonly dueDay: number | null;
  readonly assignee: NamedPerson | null;
  /** The name of the last assignee, who is no team member any more. Null once it is assigned again. */
  readonly formerAssignee: string | null;
  readonly createdBy: NamedPerson | null;
  /** Who added it, if no team member did: an imported author, `assistant (key 3)`. */
  readonly author: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Null: it is open. */
  readonly doneAtMs: number | null;
  readonly doneBy: NamedPerson | null;
}

export interface NewTask {
  readonly title: string;
  readonly dueDay: number | null;
  /** The person's id. */
  readonly assignee: number | null;
}

export type TaskChange = Partial<NewTask & { readonly isDone: boolean }>;

/** A task that was done, and by whom. */
export interface DoneTask extends EntityNumbers, Pick<Task, "id" | "title"> {
  readonly person: NamedPerson | null;
  readonly atMs: number;
}

/** An open task of a user or an account. */
export interface OpenTask extends EntityNumbers, Pick<Task, "title" | "dueDay"> {}

export interface TaskFilter {
  readonly list: TaskList;
  /** Today in the organization's timezone. */
  readonly today: number;
  /** A person's id, or null for tasks of nobody. */
  readonly assignee?: number | null | undefined;
}

export interface TaskQuestion extends TaskFilter {
  /** Only tasks for these users and accounts. */
  readonly among?: EntitiesByNumber | undefined;
  readonly limit: number;
  readonly offset: number;
}

type TaskAction = "task.created" | "task.changed" | "task.deleted";

/** The entry of a change of a task, as with notes. @param fields the names of those that changed */
function taskNote(
  action: TaskAction,
  id: number,
  entity: EntityNumbers,
  fields?: readonly string[],
): AuditNote {
  const what = fields === undefined ? "a task" : `${fields.join(", ")} of a task`;
  return {
    action,
    summary: `${verbs[action]} ${what} for ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { task: id, ...numberOf(entity), ...(fields !== undefined && { fields }) },
  };
}

const verbs = { "task.created": "Added", "task.changed": "Changed", "task.deleted": "Deleted" } as const;

interface TaskCounts {
  readonly ofEntity: number;
  /** Of the organization. */
  readonly open: number;
}

function hasTooMany({ ofEntity, open }: TaskCounts): boolean {
  return ofEntity >= workLimits.tasksPerEntity || open >= workLimits.openTasksPerOrganization;
}

/** @throws Refusal when there are as many tasks as there may be */
function refuseTooManyTasks(counts: TaskCounts): void {
  const { tasksPerEntity, openTasksPerOrganization } = workLimits;
  if (!hasTooMany(counts)) return;
  const isOfEntity = counts.ofEntity >= tasksPerEntity;
  throw tooManyOfThem(isOfEntity ? `${tasksPerEntity} tasks here` : `${openTasksPerOrganization} open tasks`);
}

interface TaskRow
  extends EntityOfRow,
    Pick<
      Task,
      "id" | "title" | "dueDay" | "formerAssignee" | "author" | "createdAtMs" | "updatedAtMs" | "doneAtMs"
    > {
  readonly assigneeId: number | null;
  readonly assigneeName: string | null;
  readonly creatorId: number | null;
  readonly creator: string | null;
  readonly doerId: number | null;
  readonly doer: string | null;
}

const taskRow = new RowOf<TaskRow>({
  ...entityColumns,
  id: integer("tasks.id"),
  title: text(),
  dueDay: nullable(integer()),
  formerAssignee: nullable(text()),
  author: nullable(text("tasks.author")),
  createdAtMs: integer("tasks.created_at_ms"),
  updatedAtMs: integer("tasks.updated_at_ms"),
  doneAtMs: nullable(integer()),
  assigneeId: nullable(integer("assigned.id")),
  assigneeName: nullable(text("assigned.name")),
  creatorId: nullable(integer("creators.id")),
  creator: nullable(text("creators.name")),
  doerId: nullable(integer("doers.id")),
  doer: nullable(text("doers.name")),
});
const idRow = new RowOf<Pick<Task, "id">>({ id: integer() });
const openRow = new RowOf<OpenTask>({
  user: integer("user_number"),
  account: integer("account_number"),
  title: text(),
  dueDay: nullable(integer()),
});
const doneRow = new RowOf<Omit<DoneTask, "person"> & Pick<TaskRow, "doerId" | "doer">>({
  id: integer("tasks.id"),
  user: integer("user_number"),
  account: integer("account_number"),
  title: text(),
  doerId: nullable(integer("people.id")),
  doer: nullable(text("people.name")),
  atMs: integer("done_at_ms"),
});
const joined = part`FROM tasks ${entityOf("tasks")}
  LEFT JOIN people AS assigned ON assigned.id = tasks.assignee
  LEFT JOIN people AS creators ON creators.id = tasks.created_by
  LEFT JOIN people AS doers ON doers.id = tasks.done_by`;
const byDay = part`due_day IS NULL, due_day, tasks.id`;
const latestFirst = part`done_at_ms DESC, tasks.id DESC`;

/** The store of tasks. Every change and its entry in the audit log are one commit. */
export function taskStore(engine: Engine) {
  return { ...taskLists(engine), ...taskChanges(engine) };
}

export type TaskStore = ReturnType<typeof taskStore>;

function taskLists(engine: Engine) {
  return {
    /** Across all users and accounts. Open tasks by their day, those without one last; done ones, the latest
     * first. */
    list: (organization: number, question: TaskQuestion) =>
      engine.snapshot(
        (function* () {
          const { list, among, limit, offset } = question;
          const where = part`
            WHERE tasks.organization = ${organization} AND ${isAsked(question)} AND ${isAmong(among)}`;
          const total = yield* count`FROM tasks ${where}`;
          const order = list === "done" ? latestFirst : byDay;
          const tasks = yield* findTasks(part`${where} ORDER BY ${order} LIMIT ${limit} OFFSET ${offset}`);
          return { total, tasks };
        })(),
      ),

    /** The users and accounts of all tasks that are asked for, each once. */
    entities: (organization: number, filter: TaskFilter) =>
      engine.alone(
        findEntities(part`FROM tasks WHERE tasks.organization = ${organization} AND ${isAsked(filter)}`),
      ),

    /** Of one user or account: open ones by their day, then done ones, the latest first. */
    ofEntity: (organization: number, entity: EntityRef) =>
      engine.alone(
        findTasks(part`
          WHERE ${isOfEntity(organization, "tasks", entity)}
          ORDER BY done_at_ms IS NOT NULL, done_at_ms DESC, ${byDay}`),
      ),

    /** The open tasks of some users and accounts, by their day, those without one last. */
    openOf: (organization: number, among: EntitiesByNumber) =>
      engine.alone(select(openRow)`
        FROM tasks WHERE ${isAmongEach("tasks", organization, among)} AND done_at_ms IS NULL
        ORDER BY due_day IS NULL, due_day, id`),

    /** Tasks that were done since an instant, in the order of their ids. @param after only of higher ids */
    doneSince: (organization: number, sinceMs: number, after: number, limit: number) =>
      engine.alone(
        (function* (): Work<readonly DoneTask[]> {
          const rows = yield* select(doneRow)`
            FROM tasks LEFT JOIN people ON people.id = tasks.done_by
            WHERE tasks.organization = ${organization} AND done_at_ms >= ${sinceMs} AND tasks.id > ${after}
            ORDER BY tasks.id LIMIT ${limit}`;
          return rows.map(({ doerId, doer, ...row }) => ({ ...row, person: namedPerson(doerId, doer) }));
        })(),
      ),

    /** As with notes. */
    all: (organization: number, after: number, limit: number) =>
      engine.alone(
        findTasks(part`
          WHERE tasks.organization = ${organization} AND tasks.id > ${after} ORDER BY tasks.id LIMIT ${limit}`),
      ),
  };
}

function taskChanges(engine: Engine) {
  return {
    /** @returns undefined when there is no such user or account
     * @throws Refusal when there are too many, or the assignee is no team member */
    add: (organization: number, entity: EntityRef, task: NewTask, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        const numbers = yield* lockEntity(organization, entity);
        if (numbers === undefined) return undefined;
        refuseTooManyTasks(yield* countTasks(organization, numbers));
        yield* refuseStranger(organization, task.assignee);
        const id = yield* addTask(audit, organization, numbers, task, by, nowMs);
        return (yield* findRow(organization, id))?.task;
      }),

    /** @returns undefined when the organization has no such task. @throws Refusal when the assignee is no
     * team member */
    change: (organization: number, id: number, change: TaskChange, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findRow(organization, id);
        if (before === undefined) return undefined;
        const fields = changedFields(before.task, change);
        if (fields.length === 0) return before.task;
        if (fields.includes("assignee")) yield* refuseStranger(organization, change.assignee ?? null);
        if (change.isDone === false && fields.includes("done")) {
          refuseTooManyTasks(yield* countTasks(organization, before.numbers, true));
        }
        yield* write(before.task, change, by, nowMs);
        yield* audit.note(organization, taskNote("task.changed", id, before.numbers, fields), by, nowMs);
        return (yield* findRow(organization, id))?.task;
      }),

    /** @returns false when the organization has no such task */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const before = yield* findRow(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM tasks WHERE id = ${id}`;
        yield* audit.note(organization, taskNote("task.deleted", id, before.numbers), by, nowMs);
        return true;
      }),
  };
}

/** Adds a task in the transaction of a store. @returns its id */
function* addTask(
  audit: AuditLog,
  organization: number,
  numbers: EntityNumbers,
  { title, dueDay, assignee }: NewTask,
  by: Actor,
  nowMs: number,
): Work<number> {
  const { id } = yield* returningOne(idRow)`
    INSERT INTO tasks (organization, user_number, account_number, created_by, author, created_at_ms,
      updated_at_ms, title, due_day, assignee)
    VALUES (${organization}, ${numbers.user}, ${numbers.account}, ${by.person?.id ?? null}, ${authorOf(by)},
      ${nowMs}, ${nowMs}, ${title}, ${dueDay}, ${assignee})`;
  yield* audit.note(organization, taskNote("task.created", id, numbers), by, nowMs);
  return id;
}

/** Adds the tasks of an alert rule's step, all or none. Who is no team member any more gets none.
 * @returns false when there are too many tasks */
export function* addTasksOfRule(
  audit: AuditLog,
  organization: number,
  numbers: EntityNumbers,
  tasks: readonly NewTask[],
  by: Actor,
  nowMs: number,
): Work<boolean> {
  const counts = yield* countTasks(organization, numbers);
  if (hasTooMany({ ofEntity: counts.ofEntity + tasks.length - 1, open: counts.open + tasks.length - 1 }))
    return false;
  for (const task of tasks) {
    const isMember =
      task.assignee !== null &&
      (yield* exists`FROM memberships WHERE organization = ${organization} AND person = ${task.assignee}`);
    const assignee = isMember ? task.assignee : null;
    yield* addTask(audit, organization, numbers, { ...task, assignee }, by, nowMs);
  }
  return true;
}

function isAsked({ list, today, assignee }: TaskFilter): Fragment {
  const ofPerson =
    assignee === undefined
      ? part`true`
      : assignee === null
        ? part`assignee IS NULL`
        : part`assignee = ${assignee}`;
  if (list === "done") return part`done_at_ms IS NOT NULL AND ${ofPerson}`;
  const open = part`done_at_ms IS NULL AND ${ofPerson}`;
  if (list === "open") return open;
  return list === "due" ? part`${open} AND due_day <= ${today}` : part`${open} AND due_day < ${today}`;
}

/** The names of the fields that a change really changes. */
function changedFields(
  before: Task,
  { title = before.title, dueDay = before.dueDay, assignee, isDone }: TaskChange,
): readonly string[] {
  const isOther = assignee !== undefined && assignee !== (before.assignee?.id ?? null);
  // Without an assignee, it is still news that nobody shall follow the one who left.
  const isSettled = assignee === null && before.formerAssignee !== null;
  const changed = {
    title: title !== before.title,
    "due day": dueDay !== before.dueDay,
    assignee: isOther || isSettled,
    done: isDone !== undefined && isDone !== (before.doneAtMs !== null),
  };
  return Object.entries(changed).flatMap(([name, is]) => (is ? [name] : []));
}

function write(before: Task, change: TaskChange, by: Actor, nowMs: number) {
  const { title = before.title, dueDay = before.dueDay, assignee, isDone } = change;
  const done =
    isDone === undefined || isDone === (before.doneAtMs !== null)
      ? part``
      : part`, done_at_ms = ${isDone ? nowMs : null}, done_by = ${isDone ? (by.person?.id ?? null) : null}`;
  const assigned = assignee === undefined ? part`` : part`, assignee = ${assignee}, former_assignee = NULL`;
  return run`
    UPDATE tasks SET title = ${title}, due_day = ${dueDay}, updated_at_ms = ${nowMs} ${assigned} ${done}
    WHERE id = ${before.id}`;
}

/** Tasks. @param which the end of the statement, from WHERE on */
export function* findTasks(which: Fragment): Work<readonly Task[]> {
  const rows = yield* select(taskRow)`${joined} ${which}`;
  return rows.map(taskOf);
}

function* findRow(
  organization: number,
  id: number,
): Work<{ readonly task: Task; readonly numbers: EntityNumbers } | undefined> {
  const [row] = yield* select(taskRow)`
    ${joined} WHERE tasks.organization = ${organization} AND tasks.id = ${id}`;
  if (row === undefined) return undefined;
  return { task: taskOf(row), numbers: { user: row.userNumber, account: row.accountNumber } };
}

function taskOf(row: TaskRow): Task {
  const { id, title, dueDay, formerAssignee, author, createdAtMs, updatedAtMs, doneAtMs } = row;
  return {
    id,
    entity: namedEntity(row),
    title,
    dueDay,
    assignee: namedPerson(row.assigneeId, row.assigneeName),
    formerAssignee,
    createdBy: namedPerson(row.creatorId, row.creator),
    author,
    createdAtMs,
    updatedAtMs,
    doneAtMs,
    doneBy: namedPerson(row.doerId, row.doer),
  };
}

/** @param isReopened the task is counted for its user or account already */
function* countTasks(
  organization: number,
  { user, account }: EntityNumbers,
  isReopened = false,
): Work<TaskCounts> {
  const ofOrganization = part`FROM tasks WHERE organization = ${organization}`;
  const ofEntity = isReopened
    ? 0
    : yield* count`${ofOrganization} AND user_number = ${user} AND account_number = ${account}`;
  return { ofEntity, open: yield* count`${ofOrganization} AND done_at_ms IS NULL` };
}

/** Leaves the open tasks of a person who is removed without an assignee. @returns how many there are */
export function* unassignTasksOf(
  organization: number,
  { id, name }: { readonly id: number; readonly name: string },
): Work<number> {
  return yield* run`
    UPDATE tasks SET assignee = NULL, former_assignee = ${name}
    WHERE organization = ${organization} AND assignee = ${id} AND done_at_ms IS NULL`;
}

/** Tasks as rows of exports. */
export const exportedTasks: ExportedRows = {
  name: "tasks",
  columns: [
    ...exportedEntityColumns,
    "title",
    "due",
    "assignee",
    "formerAssignee",
    "createdBy",
    "createdAt",
    "updatedAt",
    "doneAt",
    "doneBy",
  ],
  page: async ({ tasks }, organization, after, limit) =>
    (await tasks.all(organization, after, limit)).map(exportedTask),
};

/** The tasks about a user. */
export async function* tasksAbout({ tasks }: SharedFeatureStores, { organization, userId }: ExportedUser) {
  const ofUser = await tasks.ofEntity(organization, { kind: "user", id: userId });
  yield ofUser.map((task) => exportedTask(task).line);
}

function exportedTask(task: Task): ExportedRow {
  const { id, title, dueDay, assignee, formerAssignee, doneAtMs, doneBy } = task;
  const line = {
    ...exportedEntity(task),
    title,
    due: dueDay === null ? null : formatDay(dueDay),
    assignee: nameOf(assignee),
    formerAssignee,
    ...exportedAuthor(task),
    doneAt: doneAtMs === null ? null : instant(doneAtMs),
    doneBy: nameOf(doneBy),
  };
  return { id, line };
}
