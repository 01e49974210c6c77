/** AI assistants: the key, set-ups to copy, and what assistants wrote. */
import { type ReactElement, useState } from "react";
import { below } from "../../api/base.ts";
import { type Reads, useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Code } from "../../parts/copy.tsx";
import { Button } from "../../parts/form/button.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { type Column, PlainTable } from "../../parts/list/data-table.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, FigurePanel } from "../../parts/states.tsx";
import { RelativeTime } from "../../parts/time.tsx";
import { useTell } from "../../parts/toast.tsx";
import { assistantSetUps } from "./assistant-set-ups.ts";

export default function AssistantSettings(): ReactElement {
  const isOwner = useMayAs("owner");
  return (
    <>
      <PageHeader title="Assistants">
        AI assistants read these figures by the Model Context Protocol, and write only what you allow.
      </PageHeader>
      <div className="grid gap-5">
        {isOwner ? (
          <NewKey />
        ) : (
          <Panel title="New key">
            <Empty title="An owner makes the key">
              Ask an owner for a key, and put it into one of the set-ups below.
            </Empty>
          </Panel>
        )}
        <SetUps />
        <Writes />
      </div>
    </>
  );
}

const choices = [
  { value: "read", label: "Reads", rights: ["read"] },
  { value: "assist", label: "Reads, adds notes and tasks, handles alerts", rights: ["read", "assist"] },
] as const;

function NewKey(): ReactElement {
  const [name, setName] = useState("");
  const [may, setMay] = useState<(typeof choices)[number]["value"]>("read");
  const [secret, setSecret] = useState<string>();
  const create = useChange("POST /api/read-keys");
  const errors = fieldErrors(create.error, ["name", "rights"]);
  const { rights = [] } = choices.find(({ value }) => value === may) ?? {};
  const send = () =>
    create.mutate(
      { body: { name, rights: [...rights] } },
      {
        onSuccess: ({ readKey }) => {
          setName("");
          setSecret(readKey);
        },
      },
    );
  return (
    <Panel title="New key">
      <InlineForm action="Create key" isBusy={create.isPending} onSend={send}>
        <Input
          label="Name"
          help="The assistant that uses it. Read keys revokes it."
          value={name}
          onChange={({ target }) => setName(target.value)}
          required
          maxLength={200}
          error={errors.of("name")}
        />
        <Select label="Rights" value={may} choices={choices} onChoose={setMay} error={errors.of("rights")} />
      </InlineForm>
      <FormError error={errors.rest} />
      <ShownOnce
        title="Your new read key"
        description="It is shown only once. Copy it now, and put it in the place of YOUR_KEY below."
        secret={secret}
        onDone={() => setSecret(undefined)}
      />
    </Panel>
  );
}

function SetUps(): ReactElement {
  const setUps = assistantSetUps(window.location.origin + below("/").replace(/\/$/, ""), "YOUR_KEY");
  const [chosen, setChosen] = useState(setUps[0]?.name ?? "");
  const shown = setUps.find(({ name }) => name === chosen);
  return (
    <Panel title="Set-ups">
      <div className="grid gap-4">
        <div className="max-w-md">
          <Select
            label="Assistant"
            value={chosen}
            choices={setUps.map(({ name }) => ({ value: name, label: name }))}
            onChoose={setChosen}
            help={shown?.where}
          />
        </div>
        {shown !== undefined && <Code label={`Set-up of ${shown.name}`} text={shown.text} />}
        <p className="text-sm text-soft">
          ChatGPT connects to servers with OAuth only, which Rekindle does not have yet.
        </p>
      </div>
    </Panel>
  );
}

type Write = Reads["/api/assistant-writes"]["answer"]["writes"][number];

const words = { note: "Added a note", task: "Added a task", alert: "Handled an alert" } as const;

function Writes(): ReactElement {
  const asked = useRead("/api/assistant-writes");
  return (
    <FigurePanel
      title="What assistants wrote"
      note="In the last 30 days."
      isFlush
      asked={asked}
      empty={({ writes }) =>
        writes.length === 0 && (
          <Empty title="Nothing yet">Keys that may write add notes and tasks, and handle alerts.</Empty>
        )
      }
    >
      {({ writes }) => <WriteTable writes={writes} />}
    </FigurePanel>
  );
}

function WriteTable({ writes }: { writes: readonly Write[] }): ReactElement {
  const mayUndo = useMayAs("member");
  const tell = useTell();
  const undo = useChange("POST /api/assistant-writes/:id/undo");
  const columns: readonly Column<Write>[] = [
    { id: "what", header: "What", cell: ({ what }) => words[what] },
    { id: "author", header: "Author", cell: ({ author, keyName }) => `${author}, ${keyName}` },
    { id: "at", header: "When", cell: ({ at }) => <RelativeTime instant={at} /> },
    {
      id: "undo",
      header: "State",
      cell: ({ id, what, target, undoneAt }) =>
        undoneAt !== null ? (
          <span className="text-soft">
            undone <RelativeTime instant={undoneAt} />
          </span>
        ) : mayUndo ? (
          <Button
            isSmall
            isBusy={undo.isPending && undo.variables.path.id === id}
            aria-label={`Undo ${what} ${target}`}
            onClick={() =>
              undo.mutate(
                { path: { id } },
                { onSuccess: () => tell("It is undone."), onError: (error) => tell.failed(error) },
              )
            }
          >
            Undo
          </Button>
        ) : (
          "done"
        ),
    },
  ];
  return <PlainTable label="Changes by assistants" rows={writes} columns={columns} />;
}
