/** The choice of figures about the users of one segment. */
import type { ReactElement } from "react";
import { Select } from "../form/field.tsx";
import { Pick } from "../list/pick.tsx";
import { withChoice } from "../work/members.ts";
import { segmentChoices, useSegments } from "./segments.ts";

interface PickProps {
  /** The segment's id. Undefined for all users. */
  readonly value: number | undefined;
  readonly onChoose: (segment: number | undefined) => void;
  /** With its label above, among other fields. */
  readonly isField?: boolean;
}

/** All users, or those of one segment. It is absent while the organization has no segment. */
export function SegmentPick({ value, onChoose, isField = false }: PickProps): ReactElement | null {
  const choices = segmentChoices(useSegments(), "users");
  const chosen = value === undefined ? "" : String(value);
  if (choices.length === 0 && chosen === "") return null;
  const props = {
    label: "Users of a segment",
    value: chosen,
    choices: [{ value: "", label: "All users" }, ...withChoice(choices, chosen, `Segment ${chosen}`)],
    onChoose: (id: string) => onChoose(id === "" ? undefined : Number(id)),
  };
  return isField ? <Select {...props} /> : <Pick {...props} />;
}
