/** The notes on a user or an account, the newest first. */
import { type FormEvent, type ReactElement, useState } from "react";
import { workLimits } from "../../../contract/notes-and-tasks.ts";
import { type Reads, useChange, usePages } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Button } from "../../parts/form/button.tsx";
import { useConfirmedChange } from "../../parts/form/confirmed-change.ts";
import { FormError, TextArea } from "../../parts/form/field.tsx";
import { Prose } from "../../parts/prose.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import type { Entity } from "../tasks/task-form.tsx";

type Note = Reads["/api/users/:userId/notes"]["answer"]["notes"][number];

const pageSize = 20;
const paths = { user: "/api/users/:userId/notes", account: "/api/accounts/:accountId/notes" } as const;

export function Notes({ entity }: { entity: Entity }): ReactElement {
  const path = { userId: entity.id, accountId: entity.id };
  const asked = usePages(paths[entity.kind], { path, query: { limit: pageSize } }, ({ notes }) =>
    notes.length < pageSize ? undefined : notes.at(-1)?.id,
  );
  const mayChange = useMayAs("member");
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = asked;
  return (
    <>
      {mayChange && <NewNote entity={entity} />}
      <Figures
        asked={asked}
        empty={({ pages }) =>
          pages[0]?.notes.length === 0 && (
            <Empty title="No note yet">
              {mayChange ? "Write down what the team should know." : "Members and owners can write one."}
            </Empty>
          )
        }
      >
        {({ pages }) => (
          <ol aria-label="Notes, the newest first" className="mt-3">
            {pages
              .flatMap(({ notes }) => notes)
              .map((note) => (
                <NoteRow key={note.id} note={note} mayChange={mayChange} />
              ))}
          </ol>
        )}
      </Figures>
      {hasNextPage && (
        <Button isSmall isBusy={isFetchingNextPage} onClick={() => void fetchNextPage()}>
          Older notes
        </Button>
      )}
    </>
  );
}

function NewNote({ entity }: { entity: Entity }): ReactElement {
  const [text, setText] = useState("");
  const ofUser = useChange("POST /api/users/:userId/notes");
  const ofAccount = useChange("POST /api/accounts/:accountId/notes");
  const isBusy = ofUser.isPending || ofAccount.isPending;
  const done = { onSuccess: () => setText("") };
  const add = () => {
    if (entity.kind === "user") ofUser.mutate({ path: { userId: entity.id }, body: { text } }, done);
    else ofAccount.mutate({ path: { accountId: entity.id }, body: { text } }, done);
  };
  return (
    <NoteForm
      text={text}
      isBusy={isBusy}
      action="Add note"
      label="New note"
      error={ofUser.error ?? ofAccount.error}
      onText={setText}
      onSave={add}
    />
  );
}

interface NoteFormProps {
  readonly label: string;
  readonly action: string;
  readonly text: string;
  readonly isBusy: boolean;
  readonly error: Error | null;
  readonly onText: (text: string) => void;
  readonly onSave: () => void;
  /** Without it there is no button to cancel. */
  readonly onCancel?: () => void;
}

function NoteForm({ label, action, text, isBusy, error, ...on }: NoteFormProps): ReactElement {
  const send = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy && text.trim() !== "") on.onSave();
  };
  return (
    <form onSubmit={send} className="grid grow gap-2">
      <TextArea
        isProse
        label={label}
        rows={3}
        maxLength={workLimits.noteCharacters}
        value={text}
        onText={on.onText}
      />
      <FormError error={error} />
      <div className="flex gap-2">
        <Button type="submit" isSmall look="primary" isBusy={isBusy} disabled={text.trim() === ""}>
          {action}
        </Button>
        {on.onCancel !== undefined && (
          <Button isSmall onClick={on.onCancel}>
            Cancel
          </Button>
        )}
      </div>
    </form>
  );
}

function NoteRow({ note, mayChange }: { note: Note; mayChange: boolean }): ReactElement {
  const { id, text, createdBy, writtenAs, createdAt, updatedAt } = note;
  const [typed, setTyped] = useState<string>();
  const change = useChange("PATCH /api/notes/:id");
  const remove = useConfirmedChange("DELETE /api/notes/:id");
  const askToDelete = () =>
    remove.ask(
      {
        title: "Delete this note?",
        text: "It is deleted for all team members.",
        action: "Delete note",
        isDangerous: true,
      },
      { path: { id } },
      "The note is deleted.",
    );
  const save = () =>
    change.mutate({ path: { id }, body: { text: typed ?? "" } }, { onSuccess: () => setTyped(undefined) });
  return (
    <li className="border-b border-line py-2 last:border-0">
      {typed === undefined ? (
        <Prose text={text} />
      ) : (
        <NoteForm
          label="Note"
          action="Save"
          text={typed}
          isBusy={change.isPending}
          error={change.error}
          onText={setTyped}
          onSave={save}
          onCancel={() => setTyped(undefined)}
        />
      )}
      <div className="flex flex-wrap items-center gap-x-3 text-sm text-soft">
        <span className="min-w-0 [overflow-wrap:anywhere]">
          {createdBy?.name ?? writtenAs ?? "No team member"}
        </span>
        <RelativeTime instant={createdAt} />
        {updatedAt !== createdAt && (
          <span>
            changed <RelativeTime instant={updatedAt} />
          </span>
        )}
        {mayChange && typed === undefined && (
          <span className="flex gap-1">
            <Button isSmall look="quiet" onClick={() => setTyped(text)}>
              Change
            </Button>
            <Button isSmall look="quiet" onClick={() => void askToDelete()}>
              Delete
            </Button>
          </span>
        )}
      </div>
    </li>
  );
}
