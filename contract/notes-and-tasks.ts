/** Limits and kinds of what team members write about users and accounts: notes, tasks and contacts. Pages
 * import it, so it imports no schema. */

export const workLimits = {
  noteCharacters: 4_000,
  taskTitleCharacters: 200,
  notesPerEntity: 1_000,
  notesPerOrganization: 100_000,
  /** Done ones among them. */
  tasksPerEntity: 500,
  openTasksPerOrganization: 10_000,
  churnReasonCharacters: 200,
  /** Of the name of an imported author, assignee or owner. */
  authorCharacters: 200,
  /** Of a body with a note, whose characters may take four bytes each, or six where JSON escapes them. */
  bodyBytes: 32_768,
} as const;

/** Which tasks a list has. `due`: open, and due today or before. `overdue`: open, and due before today. */
export const taskLists = ["open", "due", "overdue", "done"] as const;
export type TaskList = (typeof taskLists)[number];

/** What a team wrote in another tool and brings along by an import. */
export const workTypes = ["notes", "tasks", "contacts", "owners"] as const;
export type WorkType = (typeof workTypes)[number];

/** How a user was contacted. */
export const contactKinds = ["call", "email", "meeting", "chat", "other"] as const;
export type ContactKind = (typeof contactKinds)[number];

/** Kinds of entries of a timeline: an event of the application or of a source, an alert, or the work of a
 * team member. */
export const timelineKinds = ["event", "alert", "task_done", "task", "note", "pulse"] as const;
export type TimelineKind = (typeof timelineKinds)[number];

/** The trait of a user and the attribute of an account that name its owner, a team member. */
export const ownerTrait = "owner";

/** The trait of a user and the attribute of an account that say why they left. */
export const churnReasonTrait = "churnReason";
