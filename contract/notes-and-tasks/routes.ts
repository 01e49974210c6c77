/** The routes of intake about notes, tasks, contacts and owners. */
import { keyRoute } from "../api/route.ts";
import * as work from "./schemas.ts";
import { workLimits } from "./work.ts";

const maxBodyBytes = workLimits.bodyBytes;
const notes = { query: work.NotesParameters, answer: work.NotesAnswer } as const;
const addNote = { body: work.NoteBody, maxBodyBytes, status: 201, answer: work.NoteAnswer } as const;
const addTask = { body: work.TaskCreateBody, status: 201, answer: work.TaskAnswer } as const;
const setChurnReason = { body: work.ChurnReasonBody, status: 204 } as const;
const setOwner = { body: work.OwnerBody, status: 204 } as const;

export const workRoutes = {
  "POST /api/users/:userId/contacts": keyRoute.manage({
    summary: "Mark a user as contacted: adds the passive event `contacted` to the timeline",
    body: work.ContactBody,
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
    body: work.NoteBody,
    maxBodyBytes,
    answer: work.NoteAnswer,
  }),
  "DELETE /api/notes/:id": keyRoute.manage({ summary: "Delete a note", status: 204 }),
  "GET /api/users/:userId/tasks": keyRoute.read({
    summary: "Tasks for a user",
    answer: work.EntityTasksAnswer,
  }),
  "POST /api/users/:userId/tasks": keyRoute.manage({ summary: "Add a task for a user", ...addTask }),
  "GET /api/accounts/:accountId/tasks": keyRoute.read({
    summary: "Tasks for an account",
    answer: work.EntityTasksAnswer,
  }),
  "POST /api/accounts/:accountId/tasks": keyRoute.manage({
    summary: "Add a task for an account",
    ...addTask,
  }),
  "GET /api/tasks": keyRoute.read({
    summary: "Tasks of all users and accounts: open, due, overdue or done, of one team member or unassigned",
    query: work.TasksParameters,
    answer: work.TasksAnswer,
  }),
  "PATCH /api/tasks/:id": keyRoute.manage({
    summary: "Change a task, mark it as done, or open it again",
    body: work.TaskChangeBody,
    answer: work.TaskAnswer,
  }),
  "DELETE /api/tasks/:id": keyRoute.manage({ summary: "Delete a task", status: 204 }),
} as const;
