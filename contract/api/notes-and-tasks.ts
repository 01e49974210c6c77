/** Notes, tasks, contacts and owners of users and accounts, as JSON Schema. */

import Type from "typebox";
import { nameRules } from "../names.ts";
import { contactKinds, taskLists, workLimits } from "../notes-and-tasks.ts";
import { beforeParameter } from "./list-fields.ts";
import { keyRoute } from "./route.ts";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "./schema.ts";

/** A text that may have several lines, and no other control character but tabs. */
export const anyText = (characters: number) =>
  Type.String({
    minLength: 1,
    maxLength: characters,
    pattern: "^[^\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]*$",
    "x-send": `1 to ${characters} characters and no control character but line feeds and tabs`,
  });

const Person = Type.Object({ id: Type.Integer({ minimum: 1 }), name: Type.String() });
const person = (description: string) => nullable(Person, { description });

const entity = Type.Object(
  {
    kind: Type.Enum(["user", "account"]),
    id: Field.text("userId or accountId."),
    label: Field.text("The name, else the e-mail address, else the id."),
  },
  { description: "The user or the account." },
);

const author = Field.textOrNull(
  "Who wrote it, if not a team member: `assistant (key 3)`, `read key 3`, or the author of an imported row. Null for a team member.",
);

const NoteBody = closedObject({ text: anyText(workLimits.noteCharacters) });

const noteFields = {
  id: Type.Integer({ minimum: 1 }),
  entity,
  text: Type.String(),
  createdBy: person("The author. Null if the author is not a team member."),
  author,
  createdAt: Field.instant("When the note was written."),
  updatedAt: Field.instant("When the text of the note was last changed."),
};
const NoteAnswer = Type.Object(noteFields);

const NotesParameters = closedObject({
  limit: Parameter.positive(200, 50, "At most this many rows."),
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: "The id of the last note of the previous page." }),
  ),
});
export const NotesAnswer = Type.Object({ notes: listOf("The newest first.", noteFields) });

/** The title of a task. */
export const taskTitle = Type.String({
  ...nameRules,
  maxLength: workLimits.taskTitleCharacters,
  "x-send": `1 to ${workLimits.taskTitleCharacters} characters and no control character`,
});
const due = nullable(Field.day("The due day. Null: no due day."), {
  "x-send": "a date such as 2027-03-31, or null",
});
const assignee = nullable(Type.Integer({ minimum: 1, description: "A team member's id." }), {
  "x-send": "the id of a team member, or null",
});

const TaskCreateBody = closedObject({
  title: taskTitle,
  due: Type.Optional(due),
  assignee: Type.Optional(assignee),
});
const TaskChangeBody = closedObject(
  {
    title: Type.Optional(taskTitle),
    due: Type.Optional(due),
    assignee: Type.Optional(assignee),
    isDone: Type.Optional(
      Type.Boolean({
        description: "True: the task is done. False: the task is open again.",
        "x-send": "true or false",
      }),
    ),
  },
  { minProperties: 1, "x-send": "a JSON object with at least one of title, due, assignee, isDone" },
);

const taskFields = {
  id: Type.Integer({ minimum: 1 }),
  entity,
  title: Type.String(),
  due: nullable(Field.day("The due day in the organization's timezone. Null: no due day.")),
  isOverdue: Field.boolean("Whether the task is open and its due day is over."),
  assignee: person("The team member who has to do the task. Null: nobody."),
  formerAssignee: Field.textOrNull(
    "The name of the assignee who left the organization, or who is no team member in an import. Null once the task is assigned again.",
  ),
  createdBy: person("The author. Null if the author is not a team member."),
  author,
  createdAt: Field.instant("When the task was added."),
  updatedAt: Field.instant("When the task was last changed."),
  doneAt: nullable(Field.instant("When the task was done. Null while it is open.")),
  doneBy: person("The team member who marked the task as done. Null while it is open."),
};
const TaskAnswer = Type.Object(taskFields);

const EntityTasksAnswer = Type.Object({
  tasks: listOf(
    "Open tasks by due day, tasks without a due day last. Then done tasks, the latest first.",
    taskFields,
  ),
});

export const TasksParameters = closedObject({
  segment: inSegment("tasks"),
  list: Parameter.Enum([...taskLists], {
    default: "open",
    description: "due: open, and due today or before. overdue: open, and due before today.",
  }),
  assignee: Type.Optional(
    Type.String({
      pattern: "^(me|nobody|[0-9]{1,15})$",
      "x-send": "me, nobody, or the id of a team member",
      description:
        "Only tasks that are assigned to the team member with this id; me: to the signed-in team member; nobody: to nobody.",
    }),
  ),
  limit: Parameter.positive(200, 50, "At most this many rows."),
  offset: Parameter.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 0,
    description: "Rows to skip.",
  }),
});
export const TasksAnswer = Type.Object({
  total: Field.count("Tasks on all pages together."),
  tasks: listOf(
    "Open tasks by due day, tasks without a due day last. Done tasks: the latest first.",
    taskFields,
  ),
});

const OwnerBody = closedObject({
  owner: nullable(Type.Integer({ minimum: 1, description: "A team member's id." }), {
    "x-send": "the id of a team member, or null",
  }),
});

const ChurnReasonBody = closedObject({
  reason: nullable(
    Type.String({
      ...nameRules,
      maxLength: workLimits.churnReasonCharacters,
    }),
    {
      "x-send": `1 to ${workLimits.churnReasonCharacters} characters and no control character, or null`,
    },
  ),
});

const ContactBody = closedObject(
  {
    timestamp: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "When the user was contacted: a day, or a date-time. Default: now.",
        "x-send": "a date, or an ISO 8601 date-time",
      }),
    ),
    kind: Type.Optional(Type.Enum([...contactKinds], { "x-send": `one of ${contactKinds.join(", ")}` })),
    text: Type.Optional(anyText(workLimits.noteCharacters)),
  },
  { "x-send": "a JSON object, which may be empty" },
);

export const ContactsParameters = closedObject({
  limit: Parameter.positive(1_000, 50, "At most this many contacts."),
  before: beforeParameter,
});
export const ContactsAnswer = Type.Object({
  contacts: listOf("The latest first.", {
    id: Field.text("The event's own id."),
    timestamp: Field.instant("When the user was contacted."),
    day: Field.day("In the organization's timezone."),
    kind: nullable(Type.Enum([...contactKinds]), {
      description: "How the user was contacted. Null if unknown.",
    }),
    by: Field.textOrNull(
      "Who contacted the user: the team member, or the name in the event. Null if unknown.",
    ),
    text: Field.textOrNull("A note about the contact."),
    userId: Type.String(),
    userLabel: Field.text("The user's name, else e-mail address, else id."),
  }),
  next: Field.textOrNull("Send it as `before` to get older contacts. Null on the last page."),
});

const maxBodyBytes = workLimits.bodyBytes;
const notes = { query: NotesParameters, answer: NotesAnswer } as const;
const addNote = { body: NoteBody, maxBodyBytes, status: 201, answer: NoteAnswer } as const;
const addTask = { body: TaskCreateBody, status: 201, answer: TaskAnswer } as const;
const setChurnReason = { body: ChurnReasonBody, status: 204 } as const;
const setOwner = { body: OwnerBody, status: 204 } as const;

export const workRoutes = {
  "POST /api/users/:userId/contacts": keyRoute.manage({
    summary: "Mark a user as contacted: adds the passive event `contacted` to the timeline",
    body: ContactBody,
    maxBodyBytes,
    status: 204,
  }),
  "PATCH /api/users/:userId/owner": keyRoute.manage({
    summary: "Set the owner of a user: a new value of the trait `owner`",
    ...setOwner,
  }),
  "PATCH /api/accounts/:accountId/owner": keyRoute.manage({
    summary: "Set the owner of an account: a new value of the attribute `owner`",
    ...setOwner,
  }),
  "PATCH /api/users/:userId/churn-reason": keyRoute.manage({
    summary: "Say why a user left: a new value of the trait `churnReason`",
    ...setChurnReason,
  }),
  "PATCH /api/accounts/:accountId/churn-reason": keyRoute.manage({
    summary: "Say why an account left: a new value of the attribute `churnReason`",
    ...setChurnReason,
  }),
  "GET /api/users/:userId/notes": keyRoute.read({ summary: "Notes on a user", ...notes }),
  "POST /api/users/:userId/notes": keyRoute.manage({ summary: "Write a note on a user", ...addNote }),
  "GET /api/accounts/:accountId/notes": keyRoute.read({ summary: "Notes on an account", ...notes }),
  "POST /api/accounts/:accountId/notes": keyRoute.manage({
    summary: "Write a note on an account",
    ...addNote,
  }),
  "PATCH /api/notes/:id": keyRoute.manage({
    summary: "Change the text of a note",
    body: NoteBody,
    maxBodyBytes,
    answer: NoteAnswer,
  }),
  "DELETE /api/notes/:id": keyRoute.manage({ summary: "Delete a note", status: 204 }),
  "GET /api/users/:userId/tasks": keyRoute.read({
    summary: "Tasks for a user",
    answer: EntityTasksAnswer,
  }),
  "POST /api/users/:userId/tasks": keyRoute.manage({ summary: "Add a task for a user", ...addTask }),
  "GET /api/accounts/:accountId/tasks": keyRoute.read({
    summary: "Tasks for an account",
    answer: EntityTasksAnswer,
  }),
  "POST /api/accounts/:accountId/tasks": keyRoute.manage({
    summary: "Add a task for an account",
    ...addTask,
  }),
  "GET /api/tasks": keyRoute.read({
    summary: "Tasks of all users and accounts: open, due, overdue or done, of one team member or unassigned",
    query: TasksParameters,
    answer: TasksAnswer,
  }),
  "PATCH /api/tasks/:id": keyRoute.manage({
    summary: "Change a task, mark it as done, or open it again",
    body: TaskChangeBody,
    answer: TaskAnswer,
  }),
  "DELETE /api/tasks/:id": keyRoute.manage({ summary: "Delete a task", status: 204 }),
} as const;
