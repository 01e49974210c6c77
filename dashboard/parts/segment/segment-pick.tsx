/** The choice of figures about the users, or the payers, of one segment. */
import type { ReactElement } from "react";
import { Select } from "../form/field.tsx";
import { Pick } from "../list/pick.tsx";
import { withChoice } from "../work/members.ts";
import { segmentChoices, useSegments } from "./segments.ts";

interface PickProps {
  /** Payers are accounts, or users without one. Both are in segments of either kind. */
  readonly of?: "users" | "payers";
  /** The segment's id. Undefined for all of them. */
  readonly value: number | undefined;
  readonly onChoose: (segment: number | undefined) => void;
  /** With its label above, among other fields. */
  readonly isField?: boolean;
}

const labels = {
  users: { label: "Users of a segment", all: "All users" },
  payers: { label: "Payers of a segment", all: "All payers" },
} as const;

/** All users or payers, or those of one segment. It is absent while the organization has no segment. */
export function SegmentPick({
  of = "users",
  value,
  onChoose,
  isField = false,
}: PickProps): ReactElement | null {
  const choices = segmentChoices(useSegments(), "users");
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
