/** The owner in lists: the filter and the column. */
import type { ReactElement } from "react";
import { Pick } from "../../parts/list/pick.tsx";
import type { Column } from "../../parts/list/table-model.ts";
import { nothing } from "../../text/format.ts";
import { useMemberChoices, withChoice } from "./members.ts";

/** Only rows of one owner, of the reader, or of nobody. @param value as the API takes it; empty for all */
export function OwnerPick({
  value,
  onChoose,
}: {
  value: string;
  onChoose: (owner: string) => void;
}): ReactElement {
  const choices = [
    { value: "", label: "Any owner" },
    { value: "me", label: "Owned by me" },
    { value: "nobody", label: "Without owner" },
    ...useMemberChoices(),
  ];
  return (
    <Pick
      label="Owner"
      hint="The team member who looks after it"
      value={value}
      choices={withChoice(choices, value, "Another owner")}
      onChoose={onChoose}
    />
  );
}

/** The column of the owner. */
export function ownerColumn<Row extends { readonly owner: string | null }>(): Column<Row> {
  return {
    id: "owner",
    header: "Owner",
    sort: "owner",
    csv: ["owner"],
    hint: "The team member who looks after it: the trait or attribute owner",
    cell: ({ owner }) => (
      <span title={owner ?? undefined} className={owner === null ? "text-soft" : undefined}>
        {owner ?? nothing}
      </span>
    ),
  };
}
