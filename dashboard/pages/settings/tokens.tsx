/** Project tokens, with which applications send. */
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
import { type Credential, CredentialTable } from "./credentials.tsx";
import { RequiresRole } from "./denied.tsx";

export default function TokenSettings(): ReactElement {
  return (
    <>
      <PageHeader title="Project tokens">
        Your application sends events with a token. A token can write, but not read.
      </PageHeader>
      <RequiresRole least="member">
        <Tokens />
      </RequiresRole>
    </>
  );
}

type Scope = Reads["/api/tokens"]["answer"]["tokens"][number]["scope"];

const scopes = [
  { value: "server", label: "Server" },
  { value: "browser", label: "Browser" },
] as const;

/** The use of a token of each scope, shown beside the choice. */
const scopeHelp: Readonly<Record<Scope, string>> = {
  server: "For your backend, which keeps it secret. It can use the whole write API.",
  browser:
    "For web pages, where anyone can read the token. It cannot change the e-mail or account of an existing user.",
};

function Tokens(): ReactElement {
  const asked = useRead("/api/tokens");
  const [name, setName] = useState("");
  const [scope, setScope] = useState<Scope>("server");
  const [secret, setSecret] = useState<string>();
  const create = useChange("POST /api/tokens");
  const revoke = useRevoke();
  const errors = fieldErrors(create.error, ["name", "scope"]);
  const send = () =>
    create.mutate(
      { body: { name, scope } },
      {
        onSuccess: ({ token }) => {
          setName("");
          setSecret(token);
        },
      },
    );
  return (
    <div className="grid gap-5">
      <Panel title="New token">
        <InlineForm action="Create token" isBusy={create.isPending} onSend={send}>
          <Input
            label="Name"
            help="Where it is used, e.g. backend"
            value={name}
            onChange={({ target }) => setName(target.value)}
            required
            maxLength={200}
            error={errors.of("name")}
          />
          <Select
            label="Scope"
            help={scopeHelp[scope]}
            value={scope}
            choices={scopes}
            onChoose={setScope}
            error={errors.of("scope")}
          />
        </InlineForm>
        <FormError error={errors.rest} />
      </Panel>
      <Panel title="Tokens" isFlush>
        <Figures
          asked={asked}
          empty={{
            isEmpty: ({ tokens }) => tokens.length === 0,
            show: <Empty title="No token yet">Create one to send the first event.</Empty>,
          }}
        >
          {({ tokens }) => (
            <CredentialTable
              label="Project tokens"
              name="tokens"
              rows={tokens}
              more={[{ id: "scope", header: "Scope", isFixed: true, cell: ({ scope: word }) => word }]}
              onRevoke={revoke}
            />
          )}
        </Figures>
      </Panel>
      <ShownOnce
        title="Your new project token"
        description="It is shown only once. Copy it now."
        secret={secret}
        onDone={() => setSecret(undefined)}
      />
    </div>
  );
}

function useRevoke(): (token: Credential) => Promise<void> {
  const confirm = useConfirm();
  const tell = useTell();
  const revoke = useChange("DELETE /api/tokens/:id");
  return async ({ id, name, lastFour }) => {
    const isSure = await confirm({
      title: `Revoke the token ${name} …${lastFour}?`,
      text: "Requests with it are rejected with 401 from now on. This cannot be undone. You can create a new token.",
      action: "Revoke token",
      isDangerous: true,
    });
    if (!isSure) return;
    revoke.mutate(
      { path: { id } },
      { onSuccess: () => tell(`The token ${name} is revoked.`), onError: tell.failed },
    );
  };
}
