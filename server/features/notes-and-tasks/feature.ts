/** Notes and tasks of team members about users and accounts. */

import type { Feature } from "../../ledger/feature.ts";
import { run, sqlText } from "../../ledger/sql.ts";
import { type ImportedWork, importedWorkStore } from "./imported/store.ts";
import { exportedNotes, type NoteStore, noteStore, notesAbout } from "./notes.ts";
import { authorColumns, workTables } from "./tables.ts";
import { exportedTasks, type TaskStore, taskStore, tasksAbout, unassignTasksOf } from "./tasks.ts";
import { type WorkTimeline, workTimeline } from "./timeline-entries.ts";

declare module "../../ledger/feature.ts" {
  interface FeatureStores {
    readonly notes: NoteStore;
    readonly tasks: TaskStore;
    readonly workTimeline: WorkTimeline;
    readonly importedWork: ImportedWork;
  }

  interface OwnCallsOfFeatures {
    readonly importedWork: keyof ImportedWork;
  }
}

export const notesAndTasks: Feature = {
  name: "notes-and-tasks",
  tables: [
    { name: "notes", encoded: ["text", "author", "import_key"] },
    { name: "tasks", encoded: ["title", "former_assignee", "author", "import_key"] },
  ],
  migrations: [workTables, authorColumns],
  stores: (engine) => ({
    notes: noteStore(engine),
    tasks: taskStore(engine),
    workTimeline: workTimeline(engine),
    importedWork: importedWorkStore(engine),
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
