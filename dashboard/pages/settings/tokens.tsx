/** Project tokens, with which applications send. */
import { type ReactElement, useState } from "react";
import { type Reads, useChange, useRead } from "../../api/query.ts";
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
  const [scope, setScope] = useState<Scope>("server");
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
      columns={[{ id: "scope", header: "Scope", cell: ({ scope: word }) => word }]}
      creation={create}
      onCreate={(name, onSecret) =>
        create.mutate({ body: { name, scope } }, { onSuccess: ({ token }) => onSecret(token) })
      }
      field="scope"
    >
      {(error) => (
        <Select
          label="Scope"
          help={scopeHelp[scope]}
          value={scope}
          choices={scopes}
          onChoose={setScope}
          error={error}
        />
      )}
    </Credentials>
  );
}
