/** The choice of figures about the users, accounts or payers of one segment. */
import type { ReactElement } from "react";
import { Select } from "../../parts/form/field.tsx";
import { Pick } from "../../parts/list/pick.tsx";
import { withChoice } from "../tasks/members.ts";
import { segmentChoices, useSegments } from "./segments.ts";

const labels = {
  users: { label: "Users of a segment", all: "All users" },
  accounts: { label: "Accounts of a segment", all: "All accounts" },
  payers: { label: "Payers of a segment", all: "All payers" },
  entities: { label: "Segment", all: "Any segment" },
} as const;

interface PickProps {
  /** Accounts are in segments of accounts only. Users, and payers, which are users or accounts, are in
   * segments of both kinds. */
  readonly of?: keyof typeof labels;
  /** The segment's id. Undefined for all of them. */
  readonly value: number | undefined;
  readonly onChoose: (segment: number | undefined) => void;
  /** With its label above, among other fields. */
  readonly isField?: boolean;
}

/** All of them, or those of one segment. It is absent while the organization has no segment. */
export function SegmentPick({
  of = "users",
  value,
  onChoose,
  isField = false,
}: PickProps): ReactElement | null {
  const choices = segmentChoices(useSegments(), of === "accounts" ? "accounts" : "users");
  const chosen = value === undefined ? "" : String(value);
  if (choices.length === 0 && chosen === "") return null;
  const { label, all } = labels[of];
  const props = {
    label,
    value: chosen,
    choices: [{ value: "", label: all }, ...withChoice(choices, chosen, `Segment ${chosen}`)],
    onChoose: (id: string) => onChoose(id === "" ? undefined : Number(id)),
  };
  return isField ? <Select {...props} /> : <Pick {...props} />;
}
