/** The records of files that owners import in the browser. The files themselves, and what quotes them, are in
 * the data folder and not in the ledger, so that they are in no backup. */
import { type SentMapping, uploadLimits, type uploadStates } from "../../../contract/api/imports.ts";
import { ApiError, Refusal } from "../../../contract/refusal.ts";
import { msPerDay } from "../../calendar/zone.ts";
import type { Actor, AuditNote } from "../../ledger/audit.ts";
import type { Engine } from "../../ledger/engine.ts";
import {
  count,
  exists,
  integer,
  Json,
  json,
  nullable,
  part,
  RowOf,
  returningOne,
  run,
  select,
  text,
  type Work,
  word,
} from "../../ledger/sql.ts";
import { lockKnownOrganization, lockOrganization } from "../../ledger/stores/organization-rows.ts";
import type { TableTypes } from "../../ledger/tables.ts";

type UploadState = (typeof uploadStates)[number];

/** The states in which a machine works on a file. */
export type ActiveState = Extract<UploadState, "reading" | "checking" | "running">;

export interface Upload {
  readonly id: number;
  readonly organization: number;
  /** The machine that has the file; null outside a cluster. */
  readonly node: string | null;
  /** Its folder there. */
  readonly folder: string;
  readonly fileName: string;
  /** As it was sent. */
  readonly bytes: number;
  readonly state: UploadState;
  /** The mapping of the last dry run. */
  readonly mapping: SentMapping | null;
  /** The import's record since the run began. */
  readonly importId: number | null;
  /** The name of the team member who uploaded it. Null if the person does not exist any more. */
  readonly createdBy: string | null;
  readonly createdAtMs: number;
  readonly updatedAtMs: number;
  /** Null once the file is deleted. */
  readonly fileUntilMs: number | null;
  /** Of the run; null before it. */
  readonly rowsDone: number | null;
  readonly stored: number | null;
  readonly duplicates: number | null;
  readonly rejected: number | null;
}

export type NewUpload = Pick<Upload, "node" | "folder" | "fileName" | "bytes">;

/** The table of the first migration. */
export function uploadsTable({ id, integer, text, end }: TableTypes): string {
  return `
  CREATE TABLE import_uploads (
    id ${id},
    organization ${integer} NOT NULL REFERENCES organizations (id) ON DELETE CASCADE,
    node ${text},
    folder ${text} NOT NULL UNIQUE,
    file_name ${text} NOT NULL,
    bytes ${integer} NOT NULL,
    state ${text} NOT NULL,
    mapping ${text},
    import_id ${integer} REFERENCES imports (id) ON DELETE SET NULL,
    created_by ${integer} REFERENCES people (id) ON DELETE SET NULL,
    created_at_ms ${integer} NOT NULL,
    updated_at_ms ${integer} NOT NULL,
    file_until_ms ${integer}
  )${end};
  CREATE INDEX import_uploads_of_organization ON import_uploads (organization);
  CREATE INDEX import_uploads_of_person ON import_uploads (created_by);
  CREATE INDEX import_uploads_of_import ON import_uploads (import_id);
`;
}

const upload = new RowOf<Upload>({
  id: integer("import_uploads.id"),
  organization: integer("import_uploads.organization"),
  node: nullable(text()),
  folder: text(),
  fileName: text("import_uploads.file_name"),
  bytes: integer(),
  state: word(),
  mapping: nullable(json("import_uploads.mapping")),
  importId: nullable(integer()),
  createdBy: nullable(text("people.name")),
  createdAtMs: integer("import_uploads.created_at_ms"),
  updatedAtMs: integer("import_uploads.updated_at_ms"),
  fileUntilMs: nullable(integer()),
  rowsDone: nullable(integer("imports.rows_done")),
  stored: nullable(integer("imports.stored")),
  duplicates: nullable(integer("imports.duplicates")),
  rejected: nullable(integer("imports.rejected")),
});
const withRun = part`
  FROM import_uploads LEFT JOIN people ON people.id = created_by LEFT JOIN imports ON imports.id = import_id`;
const uploadId = new RowOf<Pick<Upload, "id">>({ id: integer() });
const active = part`state IN ('reading', 'checking', 'running')`;

/** The store of uploaded files. Every change of a team member and its entry in the audit log are one
 * commit. */
export function uploadStore(engine: Engine) {
  return {
    /** The newest first. */
    list: (organization: number) =>
      engine.alone(
        select(
          upload,
        )`${withRun} WHERE import_uploads.organization = ${organization} ORDER BY import_uploads.id DESC`,
      ),

    find: async (organization: number, id: number) => {
      const [found] = await engine.alone(find(organization, id));
      return found;
    },

    /** Every file that the machine should have. */
    ofNode: (node: string | null) =>
      engine.alone(
        select(upload)`${withRun}
          WHERE file_until_ms IS NOT NULL AND coalesce(node, '') = ${node ?? ""} ORDER BY import_uploads.id`,
      ),

    /** @throws Refusal when the organization has too many files or does not exist */
    add: (organization: number, added: NewUpload, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockKnownOrganization(organization);
        refuseTooManyFiles(yield* countFiles(organization));
        const { node, folder, fileName, bytes } = added;
        const person = by.person?.id ?? null;
        const { id } = yield* returningOne(uploadId)`
          INSERT INTO import_uploads (organization, node, folder, file_name, bytes, state, created_by,
            created_at_ms, updated_at_ms, file_until_ms)
          VALUES (${organization}, ${node}, ${folder}, ${fileName}, ${bytes}, 'reading', ${person}, ${nowMs},
            ${nowMs}, ${nowMs + uploadLimits.keptDays * msPerDay})`;
        yield* audit.note(
          organization,
          note("import.uploaded", `Uploaded ${fileName} to import it`, { id, fileName, bytes }),
          by,
          nowMs,
        );
        const [stored] = yield* find(organization, id);
        if (stored === undefined) throw new Error("An upload that was just added is not there.");
        return stored;
      }),

    /** @throws Refusal when the organization has so many files that another one is refused */
    refuseFull: async (organization: number) => {
      refuseTooManyFiles(await engine.alone(countFiles(organization)));
    },

    /** Begins the dry run of a mapping. @returns undefined when the organization has no such upload.
     * @throws ApiError while the organization's files are worked on, Refusal without a file */
    startCheck: (organization: number, id: number, mapping: SentMapping, nowMs: number) =>
      engine.transaction(function* () {
        const before = yield* lockIdle(organization, id);
        if (before === undefined) return undefined;
        yield* run`
          UPDATE import_uploads
          SET state = 'checking', mapping = ${Json.of(mapping)}, import_id = NULL, updated_at_ms = ${nowMs}
          WHERE id = ${id}`;
        const [after] = yield* find(organization, id);
        return after;
      }),

    /** Begins the import, or goes on with one that failed. @returns undefined when the organization has no
     * such upload. @throws ApiError while the organization's files are worked on, Refusal without a file or a
     * dry run */
    startRun: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        const before = yield* lockIdle(organization, id);
        if (before === undefined) return undefined;
        if (before.state !== "checked" && before.importId === null) {
          throw new Refusal("The file has no dry run of its mapping: check it first.");
        }
        yield* run`UPDATE import_uploads SET state = 'running', updated_at_ms = ${nowMs} WHERE id = ${id}`;
        const { fileName } = before;
        yield* audit.note(
          organization,
          note("import.run", `Imported ${fileName}`, { id, fileName, mapping: before.mapping }),
          by,
          nowMs,
        );
        const [after] = yield* find(organization, id);
        return after;
      }),

    /** The record of the run. */
    begun: async (id: number, importId: number) => {
      await engine.alone(run`UPDATE import_uploads SET import_id = ${importId} WHERE id = ${id}`);
    },

    /** Whether a machine should go on with this step of a file. */
    isStill: (id: number, state: ActiveState) =>
      engine.alone(exists`FROM import_uploads WHERE id = ${id} AND state = ${state}`),

    /** Ends a step, if it was not ended meanwhile. */
    settle: async (id: number, from: ActiveState, to: UploadState, nowMs: number) => {
      await engine.alone(
        run`UPDATE import_uploads SET state = ${to}, updated_at_ms = ${nowMs} WHERE id = ${id} AND state = ${from}`,
      );
    },

    /** The file is deleted, or too old, or not there any more. */
    fileGone: async (id: number) => {
      await engine.alone(run`UPDATE import_uploads SET ${withoutFile} WHERE id = ${id}`);
    },

    /** @returns false when the organization has no such upload. */
    remove: (organization: number, id: number, by: Actor, nowMs: number) =>
      engine.transaction(function* (audit) {
        yield* lockOrganization(organization);
        const [before] = yield* find(organization, id);
        if (before === undefined) return false;
        yield* run`DELETE FROM import_uploads WHERE id = ${id}`;
        const { fileName } = before;
        yield* audit.note(
          organization,
          note("import.deleted", `Deleted the uploaded file ${fileName}`, { id, fileName }),
          by,
          nowMs,
        );
        return true;
      }),
  };
}

export type UploadStore = ReturnType<typeof uploadStore>;

const withoutFile = part`
  file_until_ms = NULL, state = CASE WHEN state = 'done' THEN 'done' ELSE 'deleted' END`;

/** Deletes all files of the organization, in the commit of an erasure: any of them may name who is erased. */
export function* deleteFilesOf(organization: number): Work<void> {
  yield* run`UPDATE import_uploads SET ${withoutFile} WHERE organization = ${organization} AND file_until_ms IS NOT NULL`;
}

/** Deletes what is older than the list goes back. A file whose machine has left the cluster is gone with
 * it. */
export async function tidyUploads(engine: Engine, nowMs: number): Promise<void> {
  await engine.alone(run`UPDATE import_uploads SET ${withoutFile} WHERE file_until_ms < ${nowMs - msPerDay}`);
  await engine.alone(
    run`DELETE FROM import_uploads WHERE created_at_ms < ${nowMs - uploadLimits.listedDays * msPerDay} AND NOT (${active})`,
  );
}

function note(action: AuditNote["action"], summary: string, detail: AuditNote["detail"]): AuditNote {
  return { action, summary, detail };
}

function find(organization: number, id: number) {
  return select(
    upload,
  )`${withRun} WHERE import_uploads.organization = ${organization} AND import_uploads.id = ${id}`;
}

function countFiles(organization: number) {
  return count`FROM import_uploads WHERE organization = ${organization} AND file_until_ms IS NOT NULL`;
}

/** The upload, once nothing of the organization is under way. */
function* lockIdle(organization: number, id: number): Work<Upload | undefined> {
  yield* lockOrganization(organization);
  const [before] = yield* find(organization, id);
  if (before === undefined) return undefined;
  if (before.fileUntilMs === null) throw new Refusal("The file is deleted: upload it again.");
  if (yield* exists`FROM import_uploads WHERE organization = ${organization} AND ${active}`) {
    throw new ApiError(
      "conflict",
      "A file of this organization is being read, checked or imported: wait until that ends, or delete it.",
    );
  }
  return before;
}

function refuseTooManyFiles(files: number): void {
  const { filesPerOrganization: most } = uploadLimits;
  if (files < most) return;
  throw new Refusal(`There are ${most} uploaded files already: delete one before you upload another.`);
}
