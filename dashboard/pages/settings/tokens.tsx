/** Project tokens, with which applications send. */
import { type ReactElement, useState } from "react";
import { useChange, useRead } from "../../api/query.ts";
import { useMayAs } from "../../app/session.ts";
import { Select } from "../../parts/form/field.tsx";
import { PageHeader } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { Credentials } from "./credentials.tsx";
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

const scopes = [
  { value: "server", label: "Server" },
  { value: "browser", label: "Browser" },
  { value: "arm", label: "Control groups" },
] as const;
/** Only an owner may create it. */
const joining = { value: "joining", label: "Browser, may join accounts" } as const;
type Use = (typeof scopes)[number]["value"] | typeof joining.value;

/** The use of a token of each scope, shown beside the choice. */
const scopeHelp: Readonly<Record<Use, string>> = {
  server: "For your backend, which keeps it secret. It can use the whole write API.",
  browser:
    "For web pages, where anyone can read the token. It cannot change the e-mail or account of an existing user.",
  arm: "For your backend, which asks whether to show an offer to a user. It can do nothing else.",
  joining:
    "As Browser. A page may also put a user who signed up in the last 24 hours into an account that exists already.",
};

const bodyOf = (use: Use) =>
  use === joining.value ? { scope: "browser" as const, joinsAccounts: true } : { scope: use };

function Tokens(): ReactElement {
  const asked = useRead("/api/tokens");
  const [use, setUse] = useState<Use>("server");
  const isOwner = useMayAs("owner");
  const create = useChange("POST /api/tokens");
  return (
    <Credentials
      kind="token"
      label="Project tokens"
      nameHelp="Where it is used, e.g. backend"
      consequence="Requests with it are rejected with 401 from now on."
      asked={asked}
      rowsOf={({ tokens }) => tokens}
      none={<Empty title="No token yet">Create one to send the first event.</Empty>}
      columns={[
        {
          id: "scope",
          header: "Scope",
          cell: ({ scope, joinsAccounts }) =>
            joinsAccounts ? joining.label : scopes.find(({ value }) => value === scope)?.label,
        },
      ]}
      creation={create}
      onCreate={(name, onSecret) =>
        create.mutate({ body: { name, ...bodyOf(use) } }, { onSuccess: ({ token }) => onSecret(token) })
      }
      field="scope"
    >
      {(error) => (
        <Select
          label="Scope"
          help={scopeHelp[use]}
          value={use}
          choices={isOwner ? [...scopes, joining] : scopes}
          onChoose={setUse}
          error={error}
        />
      )}
    </Credentials>
  );
}
