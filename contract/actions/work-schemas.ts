/** Notes, tasks, contacts and owners of users and accounts, as JSON Schema. */
import Type from "typebox";
import { closedObject, Field, inSegment, listOf, nullable, Parameter } from "../api/schema.ts";
import { nameRules } from "../names.ts";
import { contactKinds, taskLists, workLimits } from "./work.ts";

/** A text that may have several lines, and no other control character but tabs. */
const anyText = (characters: number) =>
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

export const NoteBody = closedObject({ text: anyText(workLimits.noteCharacters) });

const noteFields = {
  id: Type.Integer({ minimum: 1 }),
  entity,
  text: Type.String(),
  createdBy: person("The author; null when that is not a team member."),
  createdAt: Field.instant("When it was written."),
  updatedAt: Field.instant("When its text was changed last."),
};
export const NoteAnswer = Type.Object(noteFields);

export const NotesParameters = closedObject({
  limit: Parameter.positive(200, 50, "At most this many."),
  before: Type.Optional(
    Type.Integer({ minimum: 1, description: "To read on: the id of the last note before." }),
  ),
});
export const NotesAnswer = Type.Object({ notes: listOf("The newest first.", noteFields) });

const title = Type.String({
  ...nameRules,
  maxLength: workLimits.taskTitleCharacters,
  "x-send": `1 to ${workLimits.taskTitleCharacters} characters and no control character`,
});
const due = nullable(Field.day("By when. Null when it is not said."), {
  "x-send": "a date, 2027-03-31 say, or null",
});
const assignee = nullable(Type.Integer({ minimum: 1, description: "A team member's id." }), {
  "x-send": "the id of a team member, or null",
});

export const TaskCreateBody = closedObject({
  title,
  due: Type.Optional(due),
  assignee: Type.Optional(assignee),
});
export const TaskChangeBody = closedObject(
  {
    title: Type.Optional(title),
    due: Type.Optional(due),
    assignee: Type.Optional(assignee),
    isDone: Type.Optional(Type.Boolean({ description: "False opens it again.", "x-send": "true or false" })),
  },
  { minProperties: 1, "x-send": "a JSON object with at least one of title, due, assignee, isDone" },
);

const taskFields = {
  id: Type.Integer({ minimum: 1 }),
  entity,
  title: Type.String(),
  due: nullable(Field.day("In the organization's timezone. Null when it is not said.")),
  isOverdue: Field.boolean("Whether it is open, and its day is over."),
  assignee: person("The team member who shall do it."),
  formerAssignee: Field.textOrNull(
    "The name of the assignee who left the organization. Null once it is assigned again.",
  ),
  createdBy: person("Null when that was not a team member."),
  createdAt: Field.instant("When it was added."),
  updatedAt: Field.instant("When it was changed last."),
  doneAt: nullable(Field.instant("When it was done; null while it is open.")),
  doneBy: person("The team member who marked it as done."),
};
export const TaskAnswer = Type.Object(taskFields);

export const EntityTasksAnswer = Type.Object({
  tasks: listOf(
    "Open ones by their day, those without one last; then done ones, the latest first.",
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
        "Only tasks of the team member with this id; me: one's own; nobody: those without an assignee.",
    }),
  ),
  limit: Parameter.positive(200, 50, "At most this many."),
  offset: Parameter.Integer({
    minimum: 0,
    maximum: 100_000,
    default: 0,
    description: "So many are passed over.",
  }),
});
export const TasksAnswer = Type.Object({
  total: Field.count("Tasks on all pages together."),
  tasks: listOf("Open ones by their day, those without one last; done ones, the latest first.", taskFields),
});

export const OwnerBody = closedObject({
  owner: nullable(Type.Integer({ minimum: 1, description: "A team member's id." }), {
    "x-send": "the id of a team member, or null",
  }),
});

export const ChurnReasonBody = closedObject({
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

/** How an owner is found. */
export const ownerText =
  "The team member whose e-mail address or name is the trait `owner` of a user, or the attribute `owner` of an account. A user without one has that of the account.";

/** The owner of a user or an account in lists. */
export const ownerFields = {
  owner: Field.textOrNull(`The owner's name. ${ownerText}`),
  ownerId: nullable(Type.Integer({ minimum: 1 }), { description: "The owner's id as a team member." }),
};

/** Until when a user or an account is a control. */
export const controlField = {
  controlUntil: nullable(
    Field.day(
      "The last day on which it is a control of an alert rule's hold-out. Until then it is on no list of those to be called. A user of such an account is a control as well. Null for others.",
    ),
  ),
};

/** Only users or accounts of one owner. */
export const ownerFilter = Type.Optional(
  Type.String({
    pattern: "^(me|nobody|[0-9]{1,15})$",
    "x-send": "me, nobody, or the id of a team member",
    description: `Only those whose owner has this id; me: one's own; nobody: those without an owner. ${ownerText}`,
  }),
);

export const ContactBody = closedObject(
  {
    timestamp: Type.Optional(
      Type.String({
        maxLength: 100,
        description: "When the user was contacted: a day, or a date-time. Without it: now.",
        "x-send": "a date, or an ISO 8601 date-time",
      }),
    ),
    kind: Type.Optional(Type.Enum([...contactKinds], { "x-send": `one of ${contactKinds.join(", ")}` })),
    text: Type.Optional(anyText(workLimits.noteCharacters)),
  },
  { "x-send": "a JSON object, which may be empty" },
);

/** To read a timeline on. */
export const beforeParameter = Type.Optional(
  Type.String({
    pattern:
      "^-?[0-9]{1,14}\\.([0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|(alert|task_done|task|note)-[0-9]{1,15})$",
    description:
      "To read on: `next` of the answer before. It is a time in Unix milliseconds, and the id of an event or the kind and number of an alert, a note or a task.",
    "x-send": "the `next` of an answer",
  }),
);

export const ContactsParameters = closedObject({
  limit: Parameter.positive(1_000, 50, "At most this many."),
  before: beforeParameter,
});
export const ContactsAnswer = Type.Object({
  contacts: listOf("The latest first.", {
    id: Field.text("The event's own id."),
    timestamp: Field.instant("When the user was contacted."),
    day: Field.day("In the organization's timezone."),
    kind: nullable(Type.Enum([...contactKinds]), { description: "Null when it was not said." }),
    by: Field.textOrNull("The team member, or what the event says."),
    text: Field.textOrNull("A text about it."),
    userId: Type.String(),
    userLabel: Field.text("The user's name, else e-mail address, else id."),
  }),
  next: Field.textOrNull("To be sent as `before` for older ones; null at the end."),
});
