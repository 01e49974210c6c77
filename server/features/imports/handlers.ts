/** Imports in the browser: owners upload files, try them and import them. */
import { randomUUID } from "node:crypto";
import { existsSync } from "node:fs";
import { ApiError, noSuch, notSignedIn } from "../../../contract/refusal.ts";
import { instant } from "../../calendar/instant.ts";
import type { IntakeHandlers } from "../../http/api/intake-api.ts";
import { idIn } from "../../http/api/request.ts";
import type { Ledger } from "../../ledger/ledger.ts";
import { UploadFolder } from "./folder.ts";
import { receive } from "./receive.ts";
import { checkedMapping } from "./sent-mapping.ts";
import type { Upload } from "./store.ts";

export const importHandlers = {
  "GET /api/imports": async ({ ledger, place }) => ({
    answer: { imports: (await ledger.uploads.list(place.organization.id)).map(uploadAnswer) },
  }),

  "POST /api/imports": async ({ ledger, imports, place, placeNow, query, upload, nowMs }) => {
    const { id } = place.organization;
    await ledger.uploads.refuseFull(id);
    const folder = randomUUID();
    const received = imports.receiving(folder);
    try {
      const bytes = await receive(
        upload ?? new ReadableStream<Uint8Array>({ start: (none) => none.close() }),
        imports.folder,
        folder,
      );
      // A large file takes minutes: meanwhile the session may have ended, or the owner become a viewer.
      const placeAfter = await placeNow();
      if (placeAfter === undefined) throw notSignedIn(false);
      const { node } = imports;
      const fileName = query.name;
      const added = await ledger.uploads.add(id, { node, folder, fileName, bytes }, placeAfter.actor, nowMs);
      return { answer: uploadAnswer(added) };
    } finally {
      received();
      imports.wake();
    }
  },

  "GET /api/imports/:id": async ({ ledger, imports, place, path }) => {
    const found = await uploadOf(ledger, place.organization.id, path.id);
    return { answer: fileAnswer(found, imports) };
  },

  "POST /api/imports/:id/check": async ({ ledger, imports, place, path, body, nowMs }) => {
    const { id } = place.organization;
    const found = await uploadOf(ledger, id, path.id);
    const { prepared } = folderHere(found, imports);
    if (prepared === undefined)
      throw new ApiError("validation_error", "The file cannot be checked: its rows are not read.");
    const mapping = checkedMapping(body, prepared.preview.columns);
    const checking = await ledger.uploads.startCheck(id, found.id, mapping, nowMs);
    if (checking === undefined) throw noSuch("import");
    imports.wake();
    return { answer: fileAnswer(checking, imports) };
  },

  "POST /api/imports/:id/run": async ({ ledger, imports, place, path, nowMs }) => {
    const { organization, actor } = place;
    const found = await uploadOf(ledger, organization.id, path.id);
    folderHere(found, imports);
    const running = await ledger.uploads.startRun(organization.id, found.id, actor, nowMs);
    if (running === undefined) throw noSuch("import");
    imports.wake();
    return { answer: fileAnswer(running, imports) };
  },

  "GET /api/imports/:id/rejected": async ({ ledger, imports, place, path }) => {
    const found = await uploadOf(ledger, place.organization.id, path.id);
    const { rejectedRows } = folderHere(found, imports);
    if (!existsSync(rejectedRows)) throw noSuch("file of rejected rows");
    return { file: { name: `rejected-${found.id}.csv`, content: Bun.file(rejectedRows) } };
  },

  "DELETE /api/imports/:id": async ({ ledger, imports, place, path, nowMs }) => {
    const { organization, actor } = place;
    const isGone = await ledger.uploads.remove(organization.id, idIn(path.id, "import"), actor, nowMs);
    if (!isGone) throw noSuch("import");
    imports.wake();
    return {};
  },
} satisfies Partial<IntakeHandlers>;

/** What the handlers need of the runner. */
interface Here {
  readonly folder: string;
  readonly node: string | null;
  progressOf(id: number): { readonly share: number; readonly waitsFor: string | null } | undefined;
}

async function uploadOf(
  { uploads }: Pick<Ledger, "uploads">,
  organization: number,
  id: string,
): Promise<Upload> {
  const found = await uploads.find(organization, idIn(id, "import"));
  if (found === undefined) throw noSuch("import");
  return found;
}

/** The folder of the file. @throws ApiError when another machine has it, or none */
function folderHere({ node, folder, fileUntilMs }: Upload, here: Here): UploadFolder {
  if (fileUntilMs === null) throw new ApiError("validation_error", "The file is deleted: upload it again.");
  if (node !== here.node) {
    throw new ApiError(
      "conflict",
      `The machine ${node ?? "before the move"} has the file: open Rekindle there, or upload it again.`,
    );
  }
  return new UploadFolder(here.folder, folder);
}

function fileAnswer(upload: Upload, here: Here) {
  const folder = upload.fileUntilMs === null ? undefined : folderHere(upload, here);
  const progress = here.progressOf(upload.id);
  const { state, mapping } = upload;
  return Object.assign(uploadAnswer(upload), {
    failure: (state === "failed" && folder?.failure) || null,
    share: progress?.share ?? (state === "done" ? 1 : 0),
    waitsFor: progress?.waitsFor ?? null,
    preview: folder?.prepared?.preview ?? null,
    mapping,
    check: state === "reading" || state === "checking" ? null : (folder?.check ?? null),
  });
}

function uploadAnswer(upload: Upload) {
  const { id, fileName, bytes, state, createdBy, createdAtMs, updatedAtMs, fileUntilMs, node } = upload;
  const { rowsDone: rows, stored, duplicates, rejected } = upload;
  const isBegun = rows !== null && stored !== null && duplicates !== null && rejected !== null;
  return {
    id,
    fileName,
    bytes,
    state,
    createdBy,
    createdAt: instant(createdAtMs),
    updatedAt: instant(updatedAtMs),
    fileUntil: fileUntilMs === null ? null : instant(fileUntilMs),
    node,
    progress: isBegun ? { rows, stored, duplicates, rejected } : null,
  };
}
