/** Read keys, for other programs. */
import { type ReactElement, useState } from "react";
import type { Reads } from "../../api/paths.ts";
import { useChange, useRead } from "../../api/query.ts";
import { useConfirm } from "../../parts/form/confirm.tsx";
import { FormError, Input, Select } from "../../parts/form/field.tsx";
import { fieldErrors } from "../../parts/form/form-errors.ts";
import { InlineForm } from "../../parts/form/inline-form.tsx";
import { ShownOnce } from "../../parts/form/shown-once.tsx";
import { PageHeader, Panel } from "../../parts/panel.tsx";
import { Empty, Figures } from "../../parts/states.tsx";
import { useTell } from "../../parts/toast.tsx";
import { CredentialTable } from "./credentials.tsx";
import { RequiresRole } from "./denied.tsx";

export default function KeySettings(): ReactElement {
  return (
    <>
      <PageHeader title="Read keys">
        Other programs read figures with a key, <a href="/reference">by the same API</a> as these pages.
      </PageHeader>
      <RequiresRole least="owner">
        <Keys />
      </RequiresRole>
    </>
  );
}

type Key = Reads["/api/read-keys"]["answer"]["readKeys"][number];

const choices = [
  { value: "read", label: "Reads" },
  { value: "manage", label: "Reads and manages" },
  { value: "erase", label: "Reads, manages, erases users and accounts" },
] as const;
type Choice = (typeof choices)[number]["value"];

const rightsOf: Readonly<Record<Choice, Key["rights"]>> = {
  read: ["read"],
  manage: ["read", "manage"],
  erase: ["read", "manage", "erase"],
};

function Keys(): ReactElement {
  const asked = useRead("/api/read-keys");
  const [name, setName] = useState("");
  const [may, setMay] = useState<Choice>("read");
  const [secret, setSecret] = useState<string>();
  const create = useChange("POST /api/read-keys");
  const revoke = useRevoke();
  const errors = fieldErrors(create.error, ["name", "rights"]);
  const send = () =>
    create.mutate(
      { body: { name, rights: [...rightsOf[may]] } },
      {
        onSuccess: ({ readKey }) => {
          setName("");
          setSecret(readKey);
        },
      },
    );
  return (
    <div className="grid gap-5">
      <Panel title="New key">
        <InlineForm action="Create key" isBusy={create.isPending} onSend={send}>
          <Input
            label="Name"
            help="The program that uses it, e.g. warehouse sync"
            value={name}
            onChange={({ target }) => setName(target.value)}
            required
            maxLength={200}
            error={errors.of("name")}
          />
          <Select
            label="Rights"
            value={may}
            choices={choices}
            onChoose={setMay}
            error={errors.of("rights")}
          />
        </InlineForm>
        <FormError error={errors.rest} />
      </Panel>
      <Panel title="Keys" isFlush>
        <Figures
          asked={asked}
          empty={{
            isEmpty: ({ readKeys }) => readKeys.length === 0,
            show: <Empty title="No read key yet">Keys are for other programs. These pages need none.</Empty>,
          }}
        >
          {({ readKeys }) => (
            <CredentialTable
              label="Read keys"
              name="read-keys"
              rows={readKeys}
              more={[
                {
                  id: "rights",
                  header: "Rights",
                  isFixed: true,
                  cell: ({ rights }) => rights.join(", "),
                },
                {
                  id: "made-by",
                  header: "Made by",
                  hint: "The key is revoked when this member is removed",
                  isFixed: true,
                  cell: ({ madeBy }) => madeBy?.name ?? "command line",
                },
              ]}
              onRevoke={revoke}
            />
          )}
        </Figures>
      </Panel>
      <ShownOnce
        title="Your new read key"
        description="It is shown only once. Copy it now."
        secret={secret}
        onDone={() => setSecret(undefined)}
      />
    </div>
  );
}

function useRevoke(): (key: Key) => Promise<void> {
  const confirm = useConfirm();
  const tell = useTell();
  const revoke = useChange("DELETE /api/read-keys/:id");
  return async ({ id, name, lastFour }) => {
    const isSure = await confirm({
      title: `Revoke the key ${name} …${lastFour}?`,
      text: "Programs that use it are rejected with 401 from now on. This cannot be undone. You can create a new key.",
      action: "Revoke key",
      isDangerous: true,
    });
    if (!isSure) return;
    revoke.mutate(
      { path: { id } },
      { onSuccess: () => tell(`The key ${name} is revoked.`), onError: tell.failed },
    );
  };
}
