/** Notes and tasks of team members about users and accounts. */

import type { Feature } from "../../ledger/feature.ts";
import { run, sqlText } from "../../ledger/sql.ts";
import { exportedNotes, type NoteStore, noteStore, notesAbout } from "./notes.ts";
import { authorColumns, workTables } from "./tables.ts";
import { exportedTasks, type TaskStore, taskStore, tasksAbout, unassignTasksOf } from "./tasks.ts";
import { type WorkTimeline, workTimeline } from "./timeline-entries.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly notes: NoteStore;
    readonly tasks: TaskStore;
    readonly workTimeline: WorkTimeline;
  }
}

export const notesAndTasks: Feature = {
  name: "notes-and-tasks",
  tables: [
    { name: "notes", encoded: ["text", "written_as"] },
    { name: "tasks", encoded: ["title", "former_assignee", "written_as"] },
  ],
  migrations: [workTables, authorColumns],
  stores: (engine) => ({
    notes: noteStore(engine),
    tasks: taskStore(engine),
    workTimeline: workTimeline(engine),
  }),
  *erase(organization, { user, account }) {
    for (const table of ["notes", "tasks"]) {
      yield* run`
        DELETE FROM ${sqlText(table)} WHERE organization = ${organization} AND user_number = ${user}
          AND account_number = ${account}`;
    }
  },
  freeAfterMember: { task: unassignTasksOf },
  exports: [exportedNotes, exportedTasks],
  aboutUser: { notes: notesAbout, tasks: tasksAbout },
};
