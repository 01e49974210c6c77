/** The files that were uploaded, what became of them, and their rejected rows. */
import type { ReactElement } from "react";
import { below } from "../../../api/base.ts";
import { addressOf } from "../../../api/client.ts";
import { useOrganization } from "../../../app/session.ts";
import { Button, buttonClass } from "../../../parts/form/button.tsx";
import { useConfirmedChange } from "../../../parts/form/confirmed-change.ts";
import { type Column, PlainTable } from "../../../parts/list/data-table.tsx";
import { RelativeTime } from "../../../parts/time.tsx";
import { isActive, type Listed, outcomeWords, stateWords } from "./import-words.ts";

export function ImportHistory({
  imports,
  onOpen,
}: {
  imports: readonly Listed[];
  onOpen: (id: number) => void;
}): ReactElement {
  const { id: organization } = useOrganization();
  const deletion = useConfirmedChange("DELETE /api/imports/:id");
  const remove = (one: Listed) =>
    deletion.ask(
      {
        title: `Delete ${one.fileName}?`,
        text: isActive(one)
          ? "Its import stops. Rows that are stored stay, and the same file goes on with the others."
          : "The file and its rejected rows are deleted. Rows that are stored stay.",
        action: "Delete file",
      },
      { path: { id: one.id } },
      "File deleted.",
    );
  const columns: readonly Column<Listed>[] = [
    { id: "file", header: "File", cell: ({ fileName }) => <span className="break-all">{fileName}</span> },
    { id: "state", header: "State", cell: ({ state }) => stateWords[state] },
    { id: "outcome", header: "Rows", cell: outcomeWords },
    { id: "by", header: "By", cell: ({ createdBy }) => createdBy ?? "–" },
    { id: "at", header: "Uploaded", cell: ({ createdAt }) => <RelativeTime instant={createdAt} /> },
    {
      id: "do",
      header: "Actions",
      cell: (one) => (
        <div className="flex flex-wrap gap-2">
          {one.fileUntil !== null && (
            <Button isSmall aria-label={`Open ${one.fileName}`} onClick={() => onOpen(one.id)}>
              Open
            </Button>
          )}
          {one.fileUntil !== null && one.state === "done" && (one.progress?.rejected ?? 0) > 0 && (
            <a
              href={below(addressOf("/api/imports/:id/rejected", { id: one.id }, {}, organization))}
              download
              aria-label={`Rejected rows of ${one.fileName}`}
              className={buttonClass("plain", true)}
            >
              Rejected rows
            </a>
          )}
          <Button isSmall aria-label={`Delete ${one.fileName}`} onClick={() => void remove(one)}>
            Delete
          </Button>
        </div>
      ),
    },
  ];
  return <PlainTable label="Imports" rows={imports} columns={columns} />;
}
