/** Notes and tasks of team members about users and accounts. */
import { type TaskList, workLimits } from "../../../../contract/actions/work.ts";
import { Refusal } from "../../../../contract/refusal.ts";
import type { Actor, AuditNote } from "../audit.ts";

/** A user or an account, by the id that the company gave it. */
export interface EntityRef {
  readonly kind: "user" | "account";
  readonly id: string;
}

/** A user or an account with its label in lists: name, else e-mail address, else id. */
export interface NamedEntity extends EntityRef {
  readonly label: string;
}

/** A user or an account as messages name it. Its label is no e-mail address. */
export interface EntityInMessages extends NamedEntity {
  /** Null for an account, and for a user without one. */
  readonly email: string | null;
}

/** A team member, also one who left the organization. */
export interface NamedPerson {
  readonly id: number;
  readonly name: string;
}

export interface Note {
  readonly id: number;
  readonly entity: NamedEntity;
  readonly text: string;
  /** Null for the command line. */
  readonly createdBy: NamedPerson | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
}

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

/** Every change and its entry in the audit log are one commit. */
export interface NoteStore {
  /** Of one user or account, the newest first. @param before only older ones than this note */
  ofEntity(
    organization: number,
    entity: EntityRef,
    page: { readonly limit: number; readonly before?: number | undefined },
  ): Promise<readonly Note[]>;
  /** All of the organization, in the order of their ids. @param after only ids above it */
  all(organization: number, after: number, limit: number): Promise<readonly Note[]>;
  /** @returns undefined when there is no such user or account. @throws Refusal when there are too many */
  add(
    organization: number,
    entity: EntityRef,
    text: string,
    by: Actor,
    nowMs: number,
  ): Promise<Note | undefined>;
  /** @returns undefined when the organization has no such note */
  change(organization: number, id: number, text: string, by: Actor, nowMs: number): Promise<Note | undefined>;
  /** @returns false when the organization has no such note */
  remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;
}

/** Users and accounts by their numbers. */
export interface EntitiesByNumber {
  readonly users: readonly number[];
  readonly accounts: readonly number[];
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

/** Every change and its entry in the audit log are one commit. */
export interface TaskStore {
  /** Across all users and accounts. Open tasks by their day, those without one last; done ones, the latest
   * first. */
  list(
    organization: number,
    question: TaskQuestion,
  ): Promise<{ readonly total: number; readonly tasks: readonly Task[] }>;
  /** The users and accounts of all tasks that are asked for, each once. */
  entities(organization: number, filter: TaskFilter): Promise<EntitiesByNumber>;
  /** Of one user or account: open ones by their day, then done ones, the latest first. */
  ofEntity(organization: number, entity: EntityRef): Promise<readonly Task[]>;
  /** The open tasks of some users and accounts, by their day, those without one last. */
  openOf(organization: number, among: EntitiesByNumber): Promise<readonly OpenTask[]>;
  /** As with notes. */
  all(organization: number, after: number, limit: number): Promise<readonly Task[]>;
  /** @returns undefined when there is no such user or account
   * @throws Refusal when there are too many, or the assignee is no team member */
  add(
    organization: number,
    entity: EntityRef,
    task: NewTask,
    by: Actor,
    nowMs: number,
  ): Promise<Task | undefined>;
  /** @returns undefined when the organization has no such task. @throws Refusal when the assignee is no team
   * member */
  change(
    organization: number,
    id: number,
    change: TaskChange,
    by: Actor,
    nowMs: number,
  ): Promise<Task | undefined>;
  /** @returns false when the organization has no such task */
  remove(organization: number, id: number, by: Actor, nowMs: number): Promise<boolean>;
}

/** The number of a user or an account: the other one is 0. */
export interface EntityNumbers {
  readonly user: number;
  readonly account: number;
}

type NoteAction = "note.created" | "note.changed" | "note.deleted";
type TaskAction = "task.created" | "task.changed" | "task.deleted";

const verbs = { created: "Added", changed: "Changed", deleted: "Deleted" } as const;

/** The entry of a change of a note. It has no text and names nobody: an erasure could not delete them in the
 * log. */
export function noteNote(action: NoteAction, id: number, entity: EntityNumbers): AuditNote {
  return {
    action,
    summary: `${verbOf(action)} a note on ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { note: id, ...numberOf(entity) },
  };
}

/** The entry of a change of a task, as with notes. @param fields the names of those that changed */
export function taskNote(
  action: TaskAction,
  id: number,
  entity: EntityNumbers,
  fields?: readonly string[],
): AuditNote {
  const what = fields === undefined ? "a task" : `${fields.join(", ")} of a task`;
  return {
    action,
    summary: `${verbOf(action)} ${what} for ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { task: id, ...numberOf(entity), ...(fields !== undefined && { fields }) },
  };
}

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
export function churnReasonNote(entity: EntityNumbers): AuditNote {
  return {
    action: "churn_reason.changed",
    summary: `Changed the churn reason of ${entity.user > 0 ? "a user" : "an account"}`,
    detail: { ...numberOf(entity) },
  };
}

/** The entry of a contact with a user, without its text. An application's contacts have none. */
export function contactNote(user: EntityNumbers): AuditNote {
  return { action: "contact.created", summary: "Added a contact with a user", detail: { ...numberOf(user) } };
}

function verbOf(action: NoteAction | TaskAction): string {
  return verbs[action.slice(action.indexOf(".") + 1) as keyof typeof verbs];
}

/** The number of an entity, as entries of the log have it. */
export function numberOf({ user, account }: EntityNumbers) {
  return user > 0 ? { user } : { account };
}

/** @throws Refusal when there are as many notes as there may be */
export function refuseTooManyNotes(ofEntity: number, ofOrganization: number): void {
  const { notesPerEntity, notesPerOrganization } = workLimits;
  if (ofEntity >= notesPerEntity) throw tooMany(`${notesPerEntity} notes here`);
  if (ofOrganization >= notesPerOrganization) throw tooMany(`${notesPerOrganization} notes`);
}

/** @throws Refusal when there are as many tasks as there may be */
export function refuseTooManyTasks(ofEntity: number, open: number): void {
  const { tasksPerEntity, openTasksPerOrganization } = workLimits;
  if (ofEntity >= tasksPerEntity) throw tooMany(`${tasksPerEntity} tasks here`);
  if (open >= openTasksPerOrganization) throw tooMany(`${openTasksPerOrganization} open tasks`);
}

function tooMany(which: string): Refusal {
  return new Refusal(`There are ${which} already: delete one before you add another.`);
}

/** The error when a task is to be done by a person who is no team member. */
export function noTeamMember(): Refusal {
  return new Refusal("assignee is not valid: send the id of a team member, or null.");
}
