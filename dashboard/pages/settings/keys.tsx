/** Read keys, for other programs. */
import { type ReactElement, useState } from "react";
import { below } from "../../api/base.ts";
import { useChange, useRead } from "../../api/query.ts";
import { Select } from "../../parts/form/field.tsx";
import { PageHeader } from "../../parts/panel.tsx";
import { Empty } from "../../parts/states.tsx";
import { Credentials } from "./credentials.tsx";
import { RequiresRole } from "./denied.tsx";

export default function KeySettings(): ReactElement {
  return (
    <>
      <PageHeader title="Read keys">
        Other programs read figures and work with customers by a key,{" "}
        <a href={below("/reference")}>by the same API</a> as these pages.
      </PageHeader>
      <RequiresRole least="owner">
        <Keys />
      </RequiresRole>
    </>
  );
}

const choices = [
  { value: "read", label: "Reads", rights: ["read"] },
  { value: "manage", label: "Reads and manages", rights: ["read", "manage"] },
  {
    value: "erase",
    label: "Reads, manages, erases users and accounts",
    rights: ["read", "manage", "erase"],
  },
] as const;

function Keys(): ReactElement {
  const asked = useRead("/api/read-keys");
  const [may, setMay] = useState<(typeof choices)[number]["value"]>("read");
  const { rights = [] } = choices.find(({ value }) => value === may) ?? {};
  const create = useChange("POST /api/read-keys");
  return (
    <Credentials
      kind="key"
      label="Read keys"
      nameHelp="The program that uses it, e.g. warehouse sync"
      consequence="Programs that use it are rejected with 401 from now on."
      asked={asked}
      rowsOf={({ readKeys }) => readKeys}
      none={<Empty title="No read key yet">Keys are for other programs. These pages need none.</Empty>}
      columns={[
        { id: "rights", header: "Rights", cell: ({ rights }) => rights.join(", ") },
        {
          id: "made-by",
          header: "Made by",
          hint: "The key is revoked when this member is removed",
          cell: ({ madeBy }) => madeBy?.name ?? "command line",
        },
      ]}
      creation={create}
      onCreate={(name, onSecret) =>
        create.mutate(
          { body: { name, rights: [...rights] } },
          { onSuccess: ({ readKey }) => onSecret(readKey) },
        )
      }
      field="rights"
    >
      {(error) => <Select label="Rights" value={may} choices={choices} onChoose={setMay} error={error} />}
    </Credentials>
  );
}
