/** The tables of notes and tasks, as the migration creates them on both engines. Never edit a released
 * text. */
import type { TableTypes } from "../../ledger/tables.ts";

/** Notes and tasks about users and accounts: one of the two numbers is 0. They name their entity by its
 * number, which no other one gets. */
export function workTables({ id, integer, text, end }: TableTypes): string {
  const ofEntity = `
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    user_number ${integer} NOT NULL,
    account_number ${integer} NOT NULL,
    created_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL`;
  return `
  CREATE TABLE notes (
    id ${id},${ofEntity},
    text ${text} NOT NULL,
    CHECK ((user_number = 0) <> (account_number = 0))
  )${end};
  CREATE INDEX notes_of_entity ON notes (organization, user_number, account_number, created_at_ms, id);
  CREATE INDEX notes_of_person ON notes (created_by);

  CREATE TABLE tasks (
    id ${id},${ofEntity},
    title ${text} NOT NULL,
    due_day ${integer},
    assignee ${integer} REFERENCES people (id) ON DELETE SET NULL,
    former_assignee ${text},
    done_at_ms ${integer},
    done_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    CHECK ((user_number = 0) <> (account_number = 0))
  )${end};
  CREATE INDEX tasks_of_entity ON tasks (organization, user_number, account_number, created_at_ms, id);
  CREATE INDEX tasks_open ON tasks (organization, due_day, id) WHERE done_at_ms IS NULL;
  CREATE INDEX tasks_done ON tasks (organization, done_at_ms, id) WHERE done_at_ms IS NOT NULL;
  CREATE INDEX tasks_of_assignee ON tasks (assignee);
  CREATE INDEX tasks_created_by ON tasks (created_by);
  CREATE INDEX tasks_done_by ON tasks (done_by);
`;
}

/** The author who is no team member, and the hash by which a row that is imported again is known. */
export const authorColumns = ({ text }: TableTypes) =>
  ["notes", "tasks"]
    .map(
      (table) => `
  ALTER TABLE ${table} ADD COLUMN author ${text};
  ALTER TABLE ${table} ADD COLUMN import_key ${text};
  CREATE UNIQUE INDEX ${table}_imported ON ${table} (organization, import_key) WHERE import_key IS NOT NULL;`,
    )
    .join("");
